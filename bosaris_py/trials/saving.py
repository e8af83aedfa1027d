"""Reading and saving of objects in files; the extension of a name stands for a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Self, TypeVar

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, ArrayRecord
from bosaris_py._notes import warn
from bosaris_py._validation import FilePath
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.files import hdf5, hdf5_writing, mat, toolkit

Method = TypeVar("Method", bound=Callable[..., object])

_TABLES = "Tables: read_key or read_scores, and files.writing.write_table(path, to_table(x))."


def _by_extension(path: FilePath, methods: Mapping[str, Method]) -> tuple[str, Method]:
    """Return the extension of a file name and the method for its format."""
    extension = check.as_path(path).suffix.lower()
    if extension not in methods:
        *others, last = methods
        hint = "This class has no text format." if extension == ".txt" else _TABLES
        raise check.invalid("path", f"end in {', '.join(others)} or {last}", repr(str(path)), hint)
    return extension, methods[extension]


class FileMethods(ArrayRecord):
    """Reading and saving in HDF5 and MATLAB files."""

    __slots__ = ()

    # The kind of the class in the layer of files: a key of `layout.KINDS`.
    _kind: ClassVar[str]

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        """Return the kind and the arrays that a file of a format holds."""
        return self._kind, self._fields()

    @classmethod
    def _from_stored(cls, **arrays: AnyArray) -> Self:
        """Build an object of the arrays in a file."""
        return cls(**arrays)

    @classmethod
    def _from_file(cls, path: FilePath, arrays: dict[str, AnyArray]) -> Self:
        try:
            return cls._from_stored(**arrays)
        except InvalidInputError as error:
            raise FileFormatError(f"{path}: {error}") from error

    @classmethod
    def _readers(cls) -> dict[str, Callable[..., Self]]:
        return {".h5": cls.read_hdf5, ".hdf5": cls.read_hdf5, ".mat": cls.read_mat}

    def _writers(self) -> dict[str, Callable[..., None]]:
        return {".h5": self.save_hdf5, ".hdf5": self.save_hdf5, ".mat": self.save_mat}

    @classmethod
    def read(cls, path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Self:
        """Read an object from a file; the extension of its name names the format.

        Parameters
        ----------
        path : str or path-like
            Its name ends in ``.h5``, ``.hdf5``, ``.mat`` or, if the class has such a format,
            ``.txt``, in upper or lower case.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.
        progress : bool, optional
            Show a progress bar while a text file is read.

        Returns
        -------
        Self
        """
        extension, method = _by_extension(path, cls._readers())
        options = {"progress": progress} if extension == ".txt" else {}
        return method(path, max_bytes=max_bytes, **options)

    def save(self, path: FilePath, *, number_format: str | None = None) -> None:
        """Save the object in a file; the extension of its name names the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            As for `read`. Trials, keys and scores also as ``.csv``: a table with a header, which
            `read_trials`, `read_key` and `read_scores` read.
        number_format : str, optional
            For text files only: how a number is written, for instance ``"%.4f"``. By default with
            as many digits as are needed to read the same number back.
        """
        extension, method = _by_extension(path, self._writers())
        if extension in (".txt", ".csv"):
            method(path, number_format=number_format)
        elif number_format is None:
            method(path)
        else:
            got = f"the file {str(path)!r}"
            raise check.invalid("number_format", "be given for text files only", got)

    @classmethod
    def read_hdf5(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read an object from an HDF5 file, whatever its name.

        Parameters
        ----------
        path, max_bytes
            As for `read`.

        Returns
        -------
        Self
        """
        arrays, notes = hdf5.read(cls._kind, path, max_bytes=max_bytes)
        found = cls._from_file(path, arrays)
        if notes:
            warn(notes)
        return found

    def save_hdf5(self, path: FilePath) -> None:
        """Save the object as an HDF5 file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists.
        """
        kind, arrays = self._stored("hdf5")
        hdf5_writing.write(kind, path, **arrays)

    @classmethod
    def read_mat(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read an object from a MATLAB file, whatever its name.

        Parameters
        ----------
        path, max_bytes
            As for `read`.

        Returns
        -------
        Self
        """
        return cls._from_file(path, mat.read(cls._kind, path, max_bytes=max_bytes))

    def save_mat(self, path: FilePath) -> None:
        """Save the object as a MATLAB file like the toolkit's, whatever its name.

        Parameters
        ----------
        path
            As for `save_hdf5`.
        """
        kind, arrays = self._stored("mat")
        mat.write(kind, path, **arrays)


class TextFileMethods(FileMethods):
    """Reading and saving in text files too."""

    __slots__ = ()

    @classmethod
    def _readers(cls) -> dict[str, Callable[..., Self]]:
        return {**super()._readers(), ".txt": cls.read_txt}

    def _writers(self) -> dict[str, Callable[..., None]]:
        return {**super()._writers(), ".txt": self.save_txt}

    @classmethod
    def read_txt(
        cls, path: FilePath, *, max_bytes: int | None = None, progress: bool = False
    ) -> Self:
        """Read an object from a text file, whatever its name.

        Parameters
        ----------
        path, max_bytes, progress
            As for `read`.

        Returns
        -------
        Self
            The object in the file. Models and segments of trials are sorted, because the file
            lists only trials.
        """
        arrays, notes = toolkit.read(cls._kind, path, max_bytes=max_bytes, progress=progress)
        found = cls._from_file(path, arrays)
        if notes:
            warn(notes)
        return found

    def save_txt(self, path: FilePath, *, number_format: str | None = None) -> None:
        """Save the object as a text file, whatever its name.

        Parameters
        ----------
        path
            As for `save_hdf5`.
        number_format : str, optional
            As for `save`.

        Notes
        -----
        The toolkit writes ``"%f"``, six decimals, which loses most of a small number.
        """
        toolkit.write(path, self._stored("txt")[1], number_format=number_format)
