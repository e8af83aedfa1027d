"""The version that a file says it is written in."""

from bosaris_py.errors import FileFormatError

__all__ = ["refuse_newer"]


def refuse_newer(where: str, version: object, readable: str) -> None:
    """Refuse a file in a format that this version of the package cannot know.

    `where` names the file and the entry that holds the version; `readable` is the
    newest version that can be read. A higher minor version is readable.
    """
    text = version if isinstance(version, str) else ""
    try:
        major = int(text.split(".")[0])
    except ValueError:
        message = f"{where} is {version!r}, not a version"
        raise FileFormatError(message) from None
    if major > int(readable.split(".")[0]):
        message = f"{where} is {text}, this installation reads {readable}; update bosaris_py"
        raise FileFormatError(message)
