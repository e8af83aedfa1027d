"""What real scripts met when they were ported: shapes, tuples, braces, numbers that are floats."""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bosaris_py.matlab as b
from bosaris_py.errors import InvalidInputError

RNG = np.random.default_rng(2011)
TAR, NON = RNG.normal(1.0, 1.0, 12), RNG.normal(0.0, 1.0, 30)
PLO = np.array([-2.0, 0.0, 1.0])
LABELS = np.where(np.arange(42) < 12, 1, -1)
SCORES = np.concatenate((TAR, NON))

# Functions of vectors; what comes out is what two lists in one dimension give.
OF_VECTORS: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
    *((name, getattr(b, name), (TAR, NON)) for name in ("eer", "prbep", "cllr", "min_cllr")),
    *((name, getattr(b, name), (TAR, NON)) for name in ("rocch", "compute_roc", "opt_loglr")),
    ("rocchdet", lambda tar, non: b.rocchdet(tar, non)[2:], (TAR, NON)),
    ("fast_actDCF", b.fast_actDCF, (TAR, NON, PLO)),
    ("fast_minDCF", b.fast_minDCF, (TAR, NON, PLO)),
    ("fastEval", b.fastEval, (TAR, NON, np.array([0.1, 0.5]))),
    ("dcf_at_threshold", lambda t, n, at: b.dcf_at_threshold(t, n, 0.1, at), (TAR, NON, PLO)),
    ("pavx", b.pavx, (np.array([1.0, 0.0, 1.0]),)),
    ("filter_roc", b.filter_roc, (np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))),
    ("rocch2eer", b.rocch2eer, b.rocch(TAR, NON)),
    ("area_under_rocch", b.area_under_rocch, b.rocch(TAR, NON)),
    ("Results", lambda tar, non: (b.Results(tar, non).Pmiss, b.Results(tar, non).pb), (TAR, NON)),
    (
        "train_linear_calibration",
        lambda tar, non: b.train_linear_calibration(tar, non, 0.5, [], 100, True)[1:],
        (TAR, NON),
    ),
    ("pav_calibration", lambda tar, non: b.pav_calibration(tar, non, 1e-6)[1:], (TAR, NON)),
    ("evaluate", lambda x, c: b.evaluate_objective("cllr", x, c, 0.5), (SCORES, LABELS)),
    (
        "train_linear_fuser",
        lambda c: b.train_linear_fuser(SCORES[np.newaxis], c, 0.5, False, True, 100, [])[1:],
        (LABELS,),
    ),
    ("linear_fuser", lambda w: b.linear_fuser(w, [[1.0, 2.0]]), (np.array([2.0, 1.0]),)),
]


@pytest.mark.parametrize("shape", [(-1, 1), (1, -1)])
@pytest.mark.parametrize(("name", "function", "vectors"), OF_VECTORS)
def test_rows_and_columns_are_vectors(
    name: str, function: Callable[..., Any], vectors: tuple[Any, ...], shape: tuple[int, int]
) -> None:
    expected = function(*vectors)
    found = function(*(vector.reshape(shape) for vector in vectors))
    assert type(found) is type(expected)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)


def test_rows_and_columns_in_plots() -> None:
    plot = b.Det_Plot("old")
    plot.set_system(TAR[:, np.newaxis], NON[np.newaxis], "a")
    plot.plot_steppy_det("b", "steps")
    assert len(plot.ax.lines) == 1


def test_matrices_are_no_vectors() -> None:
    with pytest.raises(InvalidInputError, match="one-dimensional"):
        b.eer(np.ones((2, 3)), NON)


def test_properties_of_results() -> None:
    results = b.Results(TAR, NON)
    np.testing.assert_array_equal(results.tar, np.sort(TAR))
    np.testing.assert_array_equal(results.non, NON)
    assert (results.numtar, results.numnon) == (12, 30)
    pmiss, pfa = b.rocch(TAR, NON)
    np.testing.assert_array_equal(results.Pmiss, pmiss)
    np.testing.assert_array_equal(results.Pfa, pfa)
    assert results.pb == b.prbep(TAR, NON)


@pytest.mark.slow
def test_a_log_file_gets_the_warnings(tmp_path: Any) -> None:
    """The lines of a record of an evaluation that matter most; Python shows them all the same."""
    path = tmp_path / "log.txt"
    code = f"""
import warnings
import bosaris_py.matlab as b
shown = warnings.showwarning
logger = b.Logger()
logger.add_filename({str(path)!r}, b.Logger.Warning)
b.Scores([[1.0]], ["m"], ["s"]).align_with_ndx(b.Ndx(["m"], ["s", "t"]))
warnings.warn("of another package")
logger.clear()
assert warnings.showwarning is shown
warnings.warn("later")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert path.read_text().splitlines() == [
        "Warning: test segments reduced from 2 to 1",
        "Warning: 1 of 2 trials missing",
    ]
    for text in ("1 of 2 trials missing", "of another package", "later"):
        assert text in done.stderr


def draw(*arguments: Any) -> Any:
    plot = b.Det_Plot("old", ax=plt.figure().add_subplot())
    plot.set_system(TAR, NON, "a")
    plot.plot_steppy_det(*arguments)
    plt.close("all")
    return plot.ax.lines[0]


def test_properties_of_lines_that_have_other_names() -> None:
    assert draw(["b", "DisplayName", "shown"]).get_label() == "a shown"
    assert draw(["b", "DisplayName", "not"], "shown").get_label() == "a shown"
    assert draw(["b", "HandleVisibility", "off"], "hidden").get_label().startswith("_")
    assert draw(["b-o", "MarkerIndices", [1, 3]]).get_markevery() == [0, 2]


def test_markers_in_capitals() -> None:
    """As demo_plot_nber writes them; other letters in capitals mean nothing in MATLAB either."""
    assert draw(["rV", "MarkerSize", 8]).get_marker() == "v"


def test_plots_draw_on_given_axes() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    det, dcf = b.Det_Plot("old", ax=left), b.Norm_DCF_Plot([], "title", ax=right)
    assert (det.ax, dcf.ax) == (left, right)
    assert det.figure is dcf.figure is figure
    assert right.get_title() == "title"
    assert right.get_xlim() == (-10.0, 0.0), "[] stands for the default"
    plt.close(figure)


def test_lines_of_30_errors_have_one_width() -> None:
    plot = b.Det_Plot("old")
    rng = np.random.default_rng(1)
    plot.set_system(rng.normal(3.0, 1.0, 2000), rng.normal(0.0, 1.0, 2000), "a")
    plot.plot_DR30_both("k--", "k--")
    plot.plot_DR30_fa(["k--", "LineWidth", 3])
    first, second, third = (line.get_linewidth() for line in plot.ax.lines)
    assert first == second < third == 3


def test_numbers_that_are_floats() -> None:
    f, *_ = b.train_linear_calibration(TAR, NON, 0.5, [], 100.0, True)
    assert f(0.0) == b.train_linear_calibration(TAR, NON, 0.5, [], 100, True)[0](0.0)
    assert b.make_initial_fusion_weights(2.0).tolist() == [0.5, 0.5, 0.0]
    assert b.rocchdet(TAR, NON, [], dps=np.float64(10.0))[0].size


PLOT = b.Det_Plot("old")
PLOT.set_system(TAR, NON, "a")
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: PLOT.plot_steppy_det({"b", "LineWidth", 2}), r"Braces make a set.*write \["),
    (lambda: PLOT.plot_steppy_det({"b"}), "Braces make a set"),
    (lambda: b.stackScores(b.Ndx(["m"], ["s"]), {1}), "`scores_obj_array` must be a list"),
    (
        lambda: b.train_linear_fuser([[1.0, 0.0]], [1, 0], 0.5, False, True, 100, []),
        "`classf` must hold -1 for non-targets; 0 is ignored.*2 . classf - 1",
    ),
    (lambda: b.train_linear_calibration(TAR, NON, 0.5, [], 1.5, True), "whole number"),
    (lambda: b.train_linear_calibration(TAR, NON, 0.5, [], True, True), "whole number"),
    (lambda: b.train_linear_calibration(TAR, NON, 0.5, [], float("nan"), True), "whole number"),
    (lambda: b.rocchdet(TAR, NON, dps=0), "`dps` must be a whole number, 1 or more"),
    (lambda: b.Ndx.merge([b.Ndx(["m"], ["s"])]), "`objects` must all be Ndx"),
    (lambda: b.Scores(["m"], ["s"], [[1.0]]), "matrix of scores comes first"),
    (lambda: b.Norm_DCF_Plot([1.0]), "`axes` must be four numbers"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_refused_with_a_hint(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


@pytest.mark.parametrize(
    "use",
    [
        lambda several: several(0.0),
        lambda several: 100 * several,
        lambda several: np.float64(100.0) * several,
        lambda several: several * 100,
        lambda several: several / 2,
        lambda several: 1 / several,
        lambda several: -several,
        lambda several: 1 - several,
        lambda several: several + 1.0,
        lambda several: several < 0.5,
        lambda several: round(several, 3),
        float,
    ],
)
def test_several_results_are_not_one(use: Callable[[Any], Any]) -> None:
    """MATLAB takes the first; a tuple would be 500 long, or fail later."""
    several = b.fast_minDCF(TAR, NON, 0.0)
    assert isinstance(several, tuple)
    with pytest.raises(TypeError, match=r"These are 5 results.*write `first, \*_ = ...`"):
        use(several)
    first, *_ = several
    assert first == several[0] == b.fastEval(TAR, NON, 0.5)[1] / 2
