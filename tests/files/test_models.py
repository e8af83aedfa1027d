import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.files import models

WORDS = ("NaN", "Infinity", "-Infinity")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
    lambda text: text not in WORDS
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=10,
)


@given(values=st.dictionaries(st.text("abcdxyz_", min_size=1).filter("kind".__ne__), VALUES))
def test_what_is_written_is_read(values, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "p.json"
    models.write(path, {"kind": "Any", **values})
    # Equal to the bit: types, the sign of zero, and NaN.
    assert repr(models.read(path)) == repr(("Any", values))


def test_numpy_values(tmp_path: Path) -> None:
    bounds, pair = np.array([[-np.inf, 0.1]]), (np.True_, np.int64(3))
    # The double of the same value as the float32 nearest to 0.1.
    single, double = np.float32(0.1), 0.10000000149011612
    models.write(tmp_path / "p.json", {"kind": "K", "a": bounds, "b": pair, "c": single})
    expected = {"a": [[-math.inf, 0.1]], "b": [True, 3], "c": double}
    assert repr(models.read(tmp_path / "p.json")) == repr(("K", expected))


HEAD = '{"format": "bosaris_py.parameters", "format_version": "1.0", "kind": "K", '


@pytest.mark.parametrize(
    "text",
    [
        *("", "\udcff", '{\n"a": 1,\n}', "[1, 2]", '{"scale": 1}', "[" * 100_000),
        *("null", "{}", "3", HEAD + '"a": 1}'),
        HEAD + '"parameters": [1]}',
        HEAD + '"parameters": {}, "training_scores": 1}',
        HEAD.replace("1.0", "2.0") + '"parameters": {}}',
        HEAD.replace("1.0", "one") + '"parameters": {}}',
        HEAD + '"parameters": {"a": ' + "[" * 900 + "]" * 900 + "}}",
    ],
)
def test_bad_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text, errors="surrogateescape")
    # None is said in Python's words.
    with pytest.raises(FileFormatError, match=r"p\.json: ((?!Error|indices|subscript|operand).)*$"):
        models.read(path)


@pytest.mark.parametrize("value", [{1, 2}, {"b": [object()]}, 1j, b"bytes", "NaN"])
def test_bad_parameters_leave_no_file(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InvalidInputError, match="`a"):
        models.write(tmp_path / "p.json", {"kind": "K", "a": value})
    assert not list(tmp_path.iterdir())
