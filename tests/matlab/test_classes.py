"""The toolkit's classes, lists, maps and tables: what is not about the native classes alone."""

import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import bosaris_py.matlab as b
from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError

FILE = Path(__file__).parents[1] / "reference" / "oracle" / "classes.json"
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in json.loads(FILE.read_text())}


def made(cls: type, stored: dict[str, Any], *masks: str) -> Any:
    names = {name: stored[name] for name in ("modelset", "segset")}
    return cls(**names, **{name: np.array(stored[name], dtype=bool) for name in masks})


@pytest.fixture
def scr() -> b.Scores:
    stored = CASES["Results(scr,key)"]["in"]["obj"]
    return made(partial(b.Scores, stored["scoremat"]), stored, "scoremask")


@pytest.fixture
def key() -> b.Key:
    return made(b.Key, CASES["Results(scr,key)"]["in"]["key"], "tar", "non")


def test_Results_of_scores_and_key(scr: b.Scores, key: b.Key) -> None:
    expected = CASES["Results(scr,key)"]["out"]
    results = b.Results(scr, key)
    counts = results.num_tar(), results.num_non()
    assert counts == (expected["numtar"], expected["numnon"])
    for value, name in (
        (results.get_eer(), "eer"),
        (results.get_prbep(), "prbep"),
        # The record's names do not say so, but these are the normalized costs at prior 0.1.
        (results.get_norm_act_dcf(0.1), "act01"),
        (results.get_norm_min_dcf(0.1), "min01"),
    ):
        assert value == pytest.approx(expected[name], rel=0, abs=1e-12)


def test_Results_of_two_lists(scr: b.Scores, key: b.Key) -> None:
    again = b.Results(*scr.get_tar_non(key))
    assert again.get_eer() == b.Results(scr, key).get_eer()
    np.testing.assert_array_equal(again.tar, np.sort(again.tar))
    assert (again.numtar, again.numnon, again.pb) == (4, 7, b.prbep(again.tar, again.non))
    pmiss, pfa = b.rocch(again.tar, again.non)
    assert (again.Pmiss.tolist(), again.Pfa.tolist()) == (pmiss.tolist(), pfa.tolist())


def test_map_mod_names() -> None:
    case = CASES["map_mod_names"]
    ndx, expected = (made(b.Ndx, of, "trialmask") for of in (case["in"]["ndx"], case["out"]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = b.map_mod_names(ndx, case["in"]["src"], case["in"]["dst"])
    assert result == expected
    assert "".join(f"Warning: {w.message}\n" for w in caught) == case["log"]
    assert all(w.filename == __file__ for w in caught), "points at the caller"


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_map_mod_names_of_a_key(key: b.Key) -> None:
    renamed = b.map_mod_names(key, {"m_a": "x"}, b.KeyValueMap(["x"], ["new"]))
    assert renamed.modelset.tolist() == ["m_b", "new", "m_d", "m_c"]
    np.testing.assert_array_equal(renamed.tar, key.tar)
    # Each model needs a name of its own, also one that keeps its name.
    for src, dst in (({"m_a": "x", "m_b": "x"}, {"x": "new"}), ({"m_a": "x"}, {"x": "m_b"})):
        with pytest.raises(InvalidInputError):
            b.map_mod_names(key, src, dst)


def test_validate_has_nothing_to_do(scr: b.Scores, key: b.Key) -> None:
    quality = b.Seg_Quality(["s"], [[1.0]])
    everything = (scr, key, key.to_ndx(), quality, b.seg_qual_to_qual(quality, quality))
    assert all(b.validate(item) for item in everything)
    assert b.validate(b.Id_Map(["a"], ["b"]), False)  # noqa: FBT003 -- as in the toolkit
    with pytest.raises(InvalidInputError):
        b.validate([1.0])


def test_effective_prior() -> None:
    case = CASES["effective_prior"]
    for arguments, expected in zip(case["in"]["args"], case["out"], strict=True):
        assert b.effective_prior(*arguments) == pytest.approx(expected, rel=0, abs=1e-12)


def test_maths() -> None:
    case = CASES["maths"]
    x = np.array([-np.inf, *case["in"]["x"][1:-1], np.inf], dtype=float)
    # The record's rounding to 15 decimals has made this a zero.
    p = np.array([0.0, 1e-300, *case["in"]["p"][2:]])
    expected = {name: np.array(values, dtype=float) for name, values in case["out"].items()}
    for name, argument, atol in (
        ("sigmoid", x, 1e-12),
        ("neglogsigmoid", x, 1e-12),
        ("logit", p, 1e-12),
        # The toolkit forms 2p - 1: at 1e-10 that costs 1e-16 / (2 * density of 6.4), or 9e-8.
        ("probit", np.delete(p, 1), 1e-7),
    ):
        recorded = np.delete(expected[name], 1) if name == "probit" else expected[name]
        np.testing.assert_allclose(getattr(b, name)(argument), recorded, rtol=0, atol=atol)
    # Where the toolkit's probit has become infinite.
    assert expected["probit"][1] == -np.inf
    assert norm.logcdf(b.probit(1e-300)) == pytest.approx(np.log(1e-300), rel=1e-12)
    assert np.isscalar(b.neglogsigmoid(0.0))
    assert np.isnan([b.sigmoid(np.nan), b.neglogsigmoid(np.nan)]).all()
    # Where the toolkit rounds to zero.
    assert b.neglogsigmoid(40.0) == pytest.approx(np.exp(-40.0), rel=1e-12)


def test_lists_of_ids_are_neither_rows_nor_columns() -> None:
    """The toolkit's map of two 1 x 2 cells is not valid, one of two 2 x 1 cells is."""
    assert CASES["Id_Map row-vector cells are NOT valid"]["out"] == {"valid": False}
    with pytest.raises(InvalidInputError, match="one-dimensional list"):
        b.Id_Map([["a", "b"]], [["c", "d"]])


def test_lists(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    b.save_list(path, ["b", "a", "ü"])
    assert path.read_bytes() == "b\na\nü\n".encode()
    assert b.read_list(path) == ["b", "a", "ü"]
    path.write_bytes(b"  x\r\n\n\ty z")
    with pytest.warns(BosarisWarning, match="the last line has no end"):
        assert b.read_list(path) == ["x", "y", "z"]
    b.save_list(path, [])
    assert b.read_list(path) == []
    for broken in (["a b"], [""], ["a\n"]):
        with pytest.raises(InvalidInputError, match="names without white space"):
            b.save_list(path, broken)


def test_maps(tmp_path: Path) -> None:
    path = tmp_path / "map.txt"
    path.write_text("a 1\nb\t2\n")
    table = b.read_map(path)
    assert (table.keySet.tolist(), table.values.tolist()) == (["a", "b"], ["1", "2"])
    assert b.maplookup(table, ["b", "a", "b"]).tolist() == ["2", "1", "2"]
    path.write_text("a 1\nb\n")
    with pytest.raises(FileFormatError, match=r"map\.txt"):
        b.read_map(path)


def test_maplookup() -> None:
    table = b.KeyValueMap(["a", "b", "a"], [1.5, 2.5, 3.5])
    # The last of equal keys counts, as the toolkit means it.
    values, is_present = b.maplookup(table, ["a", "c", "b"], nargout=2)
    assert (values.tolist(), is_present.tolist()) == ([3.5, 2.5], [True, False, True])
    for unknown in (["a", "c"], [1, 2]):
        with pytest.raises(InvalidInputError):
            b.maplookup(table, unknown)
    assert b.maplookup(b.Id_Map(["x"], ["y"]), ["x"]).tolist() == ["y"]
    assert b.maplookup({"keySet": ["x"], "values": [7]}, ["x"]).tolist() == [7]


def test_sprintfmatrix() -> None:
    for matrix, text in (
        # Widths by the rule that gives the toolkit's only recorded table.
        ([[1, 10], [100, 5]], "  1   10\n100    5\n"),
        # As octave-cli 7.3 writes them.
        ([[-1, 2]], "-1  2\n"),
        *(([[0.5]], "0.5\n"), ([[0.0]], "0\n"), ([[-np.inf]], "-Inf\n")),
        ([0.25, 12.5], "0.25         12.5\n"),
        ([[np.nan, 1.0]], "NaN    1\n"),
        ([[np.inf, 1.5], [2.0, 3.0]], "Inf         1.5\n  2           3\n"),
    ):
        assert b.sprintfmatrix(matrix) == text
    assert b.sprintfmatrix([[1], [2]], ["a", "bc"]) == "a: 1\nbc: 2\n"
