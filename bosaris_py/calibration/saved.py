"""Files of trained maps: plain JSON, no pickle anywhere."""

from pathlib import Path
from typing import Any, Self

import attrs

from bosaris_py._validation import FilePath, by_constructor, invalid
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage.parameters import read_parameters, write_parameters

__all__ = ["SavedMap"]


@attrs.frozen(repr=False)
class SavedMap:
    """A trained map whose fields are all that a file has to keep."""

    def save(self, path: FilePath) -> None:
        """Write the map and how it was trained to a JSON file.

        Parameters
        ----------
        path : str or path-like
            File to write, ending in ``.json`` in upper or lower case; replaced as a
            whole if it exists.

        Raises
        ------
        InvalidInputError
            If the name ends otherwise; nothing is written. A file of scores cannot
            be overwritten by mistake.
        """
        if Path(path).suffix.lower() != ".json":
            owner = f"{type(self).__name__}.save"
            raise invalid("path", owner, "end in .json", repr(str(path)))
        write_parameters(path, {"kind": type(self).__name__, **attrs.asdict(self)})

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Read a map that `save` has written.

        Parameters
        ----------
        path : str or path-like
            File to read, whatever its name.

        Returns
        -------
        object of this class
            Equal to the one that was saved, to the last bit.

        Raises
        ------
        FileFormatError
            If the file holds something else.
        """
        parameters = read_parameters(path, cls.__name__)
        try:
            return cls(**parameters)
        except (TypeError, InvalidInputError) as error:
            message = f"{path}: damaged parameters of a {cls.__name__}: {error}"
            raise FileFormatError(message) from error

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that read-only arrays stay read-only."""
        return by_constructor(self)
