"""Read and save any trial object, by the extension of the file.

The layer below reads and writes plain arrays; here an object is built from
them, or taken apart, and the format is chosen by the extension of the file name.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from attrs import frozen

from bosaris_py._arrays import ArrayRecord
from bosaris_py._validation import FilePath, invalid
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage import hdf5, mat
from bosaris_py.storage.schema import KINDS

_HDF5 = (".h5", ".hdf5")

_MAT = (".mat",)

_TEXT = (".txt",)


@frozen
class Storage:
    """The kind of a class in the storage layer, and its text functions; None if it lacks them."""

    kind: str
    read_txt: Callable[..., dict[str, Any]] | None = None
    write_txt: Callable[..., None] | None = None

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions of the names of files of this kind."""
        mat = () if KINDS[self.kind].variable is None else _MAT
        return _HDF5 + mat + (() if self.read_txt is None else _TEXT)


class FileMethods(ArrayRecord):
    """Reading and saving in HDF5 files, and by the extension of the name of the file."""

    __slots__ = ()

    _storage: ClassVar[Storage]

    @classmethod
    def _extension_of(cls, path: FilePath, method: str) -> str:
        """Return the extension of a file name, which must be one of those known."""
        extension = Path(path).suffix.lower()
        extensions = cls._storage.extensions
        if extension not in extensions:
            expected = f"end in {', '.join(extensions[:-1])} or {extensions[-1]}"
            hint = ""
            if extension in _TEXT:
                hint = "This class has no text format."
            elif extension in _MAT:
                hint = "This class has no MATLAB format; its dense form has one."
            raise invalid("path", expected, repr(str(path)), hint)
        return extension

    @classmethod
    def _from_file(cls, path: FilePath, arrays: dict[str, Any]) -> Self:
        """Build the object from the content of a file, which an error then names."""
        try:
            return cls(**arrays)
        except InvalidInputError as error:
            message = f"{path}: {error}"
            raise FileFormatError(message) from error

    @classmethod
    def read(cls, path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Self:
        """Read an object from a file; the extension of its name tells the format.

        Parameters
        ----------
        path : str or path-like
            Its name ends in ``.h5`` or ``.hdf5`` or, if the class has such a format, in ``.mat``
            or ``.txt``, in upper or lower case.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.
        progress : bool, optional
            Show a progress bar while a text file is read.

        Returns
        -------
        Self
            The object in the file.

        Raises
        ------
        InvalidInputError
            If the extension is not known.
        FileFormatError
            If the file does not hold what its kind must hold.
        """
        extension = cls._extension_of(path, "read")
        if extension in _HDF5:
            return cls.read_hdf5(path, max_bytes=max_bytes)
        if extension in _MAT:
            return cls._read_mat(path, max_bytes=max_bytes)
        return cls._read_text(path, max_bytes=max_bytes, progress=progress)

    def save(self, path: FilePath) -> None:
        """Save the object in a file; the extension of its name tells the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            As for `read`.

        Raises
        ------
        InvalidInputError
            If the extension is not known; nothing is written.
        """
        extension = self._extension_of(path, "save")
        if extension in _HDF5:
            self.save_hdf5(path)
        elif extension in _MAT:
            self._save_mat(path)
        else:
            self._save_text(path)

    @classmethod
    def read_hdf5(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read an object from an HDF5 file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.

        Returns
        -------
        Self
            The object in the file.

        Raises
        ------
        FileFormatError
            If the file does not hold what its kind must hold.
        """
        return cls._from_file(path, hdf5.read(cls._storage.kind, path, max_bytes=max_bytes))

    def save_hdf5(self, path: FilePath) -> None:
        """Save the object as an HDF5 file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists.
        """
        hdf5.write(self._storage.kind, path, **self._arrays())

    @classmethod
    def _read_mat(cls, path: FilePath, *, max_bytes: int | None) -> Self:
        return cls._from_file(path, mat.read(cls._storage.kind, path, max_bytes=max_bytes))

    def _save_mat(self, path: FilePath) -> None:
        mat.write(self._storage.kind, path, **self._arrays())

    @classmethod
    def _read_text(cls, path: FilePath, *, max_bytes: int | None, progress: bool) -> Self:
        assert cls._storage.read_txt is not None, "the extension would have been refused"
        arrays = cls._storage.read_txt(path, max_bytes=max_bytes, progress=progress)
        return cls._from_file(path, arrays)

    def _save_text(self, path: FilePath, **options: Any) -> None:
        assert self._storage.write_txt is not None, "the extension would have been refused"
        self._storage.write_txt(path, **self._arrays(), **options)


class MatFileMethods(FileMethods):
    """Reading and saving in MATLAB files too."""

    __slots__ = ()

    @classmethod
    def read_mat(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read an object from a MATLAB file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.

        Returns
        -------
        Self
            The object in the file.

        Raises
        ------
        FileFormatError
            If the file does not hold what its kind must hold.
        """
        return cls._read_mat(path, max_bytes=max_bytes)

    def save_mat(self, path: FilePath) -> None:
        """Save the object as a MATLAB file like the toolkit's, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists.
        """
        self._save_mat(path)


class TextFileMethods(FileMethods):
    """Reading and saving in text files too."""

    __slots__ = ()

    @classmethod
    def read_txt(
        cls, path: FilePath, *, max_bytes: int | None = None, progress: bool = False
    ) -> Self:
        """Read an object from a text file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.
        progress : bool, optional
            Show a progress bar.

        Returns
        -------
        Self
            The object in the file. Matrices of trials have their models and
            segments sorted, because the file lists only trials.

        Raises
        ------
        FileFormatError
            If a line is not what it must be, with the number of the line.
        """
        return cls._read_text(path, max_bytes=max_bytes, progress=progress)

    def save_txt(self, path: FilePath) -> None:
        """Save the object as a text file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists.
        """
        self._save_text(path)


class NumberFileMethods(TextFileMethods):
    """Reading and saving of what holds numbers, which text can round."""

    __slots__ = ()

    def save(self, path: FilePath, *, number_format: str | None = None) -> None:
        """Save the object in a file; the extension of its name tells the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            Its name ends in ``.h5``, ``.hdf5``, ``.mat`` or ``.txt``.
        number_format : str, optional
            For text files only: see `save_txt`.

        Raises
        ------
        InvalidInputError
            If the extension is not known, or `number_format` is given for a
            format that is not text; nothing is written.
        """
        if self._extension_of(path, "save") in _TEXT:
            self.save_txt(path, number_format=number_format)
        elif number_format is None:
            super().save(path)
        else:
            expected = "be given for text files only"
            raise invalid("number_format", expected, f"the file {str(path)!r}")

    def save_txt(self, path: FilePath, *, number_format: str | None = None) -> None:
        """Save the object as a text file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists.
        number_format : str, optional
            How a number is written, for instance ``"%.4f"``. By default with as
            many digits as are needed to read the same number back.

        Notes
        -----
        The toolkit writes ``"%f"``, six decimals, which loses most of a small
        number.
        """
        self._save_text(path, number_format=number_format)
