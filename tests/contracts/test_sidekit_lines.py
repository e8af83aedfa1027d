"""Lines of scripts for SIDEKIT, as they are: each runs with its number, or names its replacement.

`sidekit` is `bosaris_py.matlab` here: the first thing that a user of such a script tries.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import matlab

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sidekit.md"


@attrs.frozen
class Runs:
    """The line runs as it is; this is true of its value `x`."""

    check: Callable[[Any], Any]


@attrs.frozen
class Says:
    """The line ends in an error with these words, which name what to write."""

    words: str


@attrs.frozen
class Row:
    """The line ends in an error, and the page has a row with this at the left."""

    left: str


MODELS, SEGMENTS = ["m1", "m2"], ["a", "b", "c"]
TAR = np.array([[True, False, False], [False, True, False]])
MATRIX = np.array([[4.0, 1.0, 2.0], [0.0, 1.5, -1.0]])
# Of x and y, one target lies below one non-target: the vertex is (1/2, 0), the EER 1/4.
# Of the matrix, the vertices of the hull are (0, 1/4) and (1/2, 0), so that the EER is 1/6.
PTAR = 1 / (1 + np.exp(2.29))

FILES = Says("Key.read(path)")
LISTS = Says("Key.from_trials(")
CHECKED = Says("nothing is needed: objects are sorted and checked")
INDEX = Says("set_system chooses the one that is drawn")


def equal(wanted: Any) -> Runs:
    return Runs(lambda x: np.testing.assert_allclose(x, wanted, rtol=1e-15) is None)


def counted(targets: int, nontargets: int) -> Runs:
    return Runs(lambda key: (key.tar.sum(), key.non.sum()) == (targets, nontargets))


LINES: dict[str, Runs | Says | Row] = {
    # Files.
    "sidekit.Key('k.h5')": FILES,
    "sidekit.Scores('s.h5')": Says("Scores.read(path)"),
    "sidekit.Ndx('n.h5')": Says("Ndx.read(path)"),
    "sidekit.IdMap('i.h5')": Says("Id_Map"),
    "sidekit.Key.read_txt('k.txt')": counted(2, 4),
    "sidekit.Scores.read_txt('s.txt').scoremat": equal(MATRIX),
    "sidekit.Ndx.read_txt('n.txt').trialmask.sum()": equal(6),
    "sidekit.Key.read_matlab('k.mat')": Says("read(path), of a path that ends in .mat"),
    "sidekit.Scores.read_matlab('s.mat')": Says("read(path), of a path that ends in .mat"),
    "key.write('new.h5')": Says("save(path)"),
    "scores.write('new.h5')": Says("save(path)"),
    "key.write_txt('new.txt')": Says("save_txt(path)"),
    "scores.write_txt('new.txt')": Says("save_txt(path)"),
    "key.save_txt('new.txt') or sidekit.Key.read_txt('new.txt')": counted(2, 4),
    "key.write_matlab('new.mat')": Says("save(path), of a path that ends in .mat"),
    "scores.write_matlab('new.mat')": Says("save(path), of a path that ends in .mat"),
    # Objects.
    "sidekit.Key(models=m, testsegs=s, trials=t)": LISTS,
    "sidekit.Ndx(models=m, testsegs=s)": Says("Ndx.from_trials("),
    "sidekit.Key.create(models, segments, tar, ~tar)": Says("Key(models, segments, tar, non)"),
    "sidekit.Key()": FILES,
    "sidekit.Scores()": Says("Scores.from_trials("),
    "setattr(key, 'modelset', np.array(models))": Says("attrs.evolve(x, modelset=...)"),
    "setattr(scores, 'scoremat', np.zeros((2, 3)))": Says("attrs.evolve(x, scoremat=...)"),
    "key.merge([key])": Says("merge(*objects)"),
    "scores.merge([scores])": Says("merge(*objects)"),
    "key.validate()": CHECKED,
    "scores.validate()": CHECKED,
    "scores.sort()": CHECKED,
    "scores.get_score('m1', 'a')": Says("get_scores(Ndx([model], [segment]))[0]"),
    "key.to_ndx().trialmask.all()": equal(1),
    "key.filter(['m1'], ['a', 'b'], True)": counted(1, 1),
    "scores.filter(['m1'], ['a', 'b'], True).scoremat": equal([[4.0, 1.0]]),
    "scores.align_with_ndx(key).scoremat": equal(MATRIX),
    "scores.set_missing_to_value(key.to_ndx(), -10.0).scoremat": equal(MATRIX),
    "[np.sort(x) for x in scores.get_tar_non(key)][1]": equal([-1.0, 0.0, 1.0, 2.0]),
    "scores.scoremat[key.tar & scores.scoremask]": equal([4.0, 1.5]),
    "idmap.split(2)": Says("numpy.array_split"),
    "idmap.start": Says("left out when a file is read"),
    "idmap.set('a', 'b')": Says("IdMap(left, right)"),
    "list(idmap.map_left_to_right(['m1']))": Runs(lambda x: x == ["a"]),
    # Costs.
    "sidekit.logit_effective_prior(0.01, 10, 1)": Says("OperatingPoint(p_target, c_miss, c_fa)"),
    "sidekit.effective_prior(0.01, 10, 1)": equal(0.1 / (0.1 + 0.99)),
    "sidekit.bosaris.detplot.fast_minDCF": Says("bosaris_py.matlab"),
    "sidekit.fast_minDCF(x, y, -2.29)": equal([PTAR / 2, 0.5, 0.0, 0.5, 0.25]),
    "sidekit.fast_minDCF(x, y, -2.29, normalize=True)[0]": equal(0.5),
    "sidekit.rocch2eer(*sidekit.rocch(x, y))": equal(0.25),
    "sidekit.rocchdet(x, y, [0.1, 0.9], normalize=True)": Row("rocchdet(tar, non, w, normalize"),
    "sidekit.pavx(np.array([0.0, 1.0, 0.0, 1.0]))[0]": equal([0.0, 0.5, 0.5, 1.0]),
    # Plots.
    "sidekit.PlotWindow('sre10')": Says("DETWindow"),
    "sidekit.DetPlot(window_style='sre10', plot_title='t')": Says("Det_Plot"),
    "dp.create_figure()": Says("a plot has its figure from the beginning"),
    "dp.set_system(x, y, 'A') or dp.plot._results.eer": equal(0.25),
    "dp.set_system_from_scores(scores, key, 'A') or dp.plot._results.eer": equal(1 / 6),
    "dp.plot_rocch_det(0)": INDEX,
    "dp.plot_steppy_det(idx=0, plot_args=('b', '-', 2))": Row("dp.plot_steppy_det(0)"),
    "dp.plot_DR30_both(idx=0)": Row("dp.plot_DR30_both(idx=0)"),
    "dp.plot_mindcf_point(-2.29, idx=0)": Row("dp.plot_mindcf_point(logit, idx=0)"),
    "dp.__tar__[0]": Says("the arrays that set_system was given"),
    "dp.__figure__.savefig('new.png')": Says("save(path)"),
}


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    key, scores = bp.Key(MODELS, SEGMENTS, TAR, ~TAR), bp.Scores(MATRIX, MODELS, SEGMENTS)
    for stem, item in {"k": key, "s": scores, "n": key.to_ndx()}.items():
        for ending in ("h5", "txt", "mat"):
            item.save(f"{stem}.{ending}")
    return {
        **{"sidekit": matlab, "np": np, "key": key, "scores": scores, "tar": TAR},
        **{"idmap": bp.IdMap(["m1", "m2"], ["a", "b"]), "dp": matlab.Det_Plot("sre10", "t")},
        **{"models": MODELS, "segments": SEGMENTS, "x": [1.0, 2.0], "y": [0.0, 1.5]},
        **{"m": np.array(["m1", "m1"]), "s": np.array(["a", "b"])},
        "t": np.array(["target", "nontarget"]),
    }


@pytest.mark.parametrize(("line", "wanted"), LINES.items(), ids=LINES)
def test_a_line_of_sidekit(line: str, wanted: Runs | Says | Row, space: dict[str, Any]) -> None:
    if isinstance(wanted, Runs):
        assert wanted.check(eval(line, space))
        return
    with pytest.raises((AttributeError, TypeError, bp.errors.BosarisError)) as caught:
        eval(line, space)
    if isinstance(wanted, Says):
        assert wanted.words in str(caught.value)
    else:
        rows = re.findall(r"^\| (`.*) \| .*`.* \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
        assert any(wanted.left in row for row in rows)


def test_there_are_as_many_as_in_the_list_of_the_review() -> None:
    assert len(LINES) == 59


class Broken(bp.Key):
    """A class whose property has a fault of its own."""

    @property
    def sort(self) -> int:
        return self.no_such_field  # type: ignore[attr-defined, no-any-return]


def test_faults_inside_keep_their_own_message() -> None:
    """A remark on a name is not in the way of what went wrong in it."""
    broken = Broken(MODELS, SEGMENTS, TAR, ~TAR)
    with pytest.raises(AttributeError, match="no_such_field"):
        _ = broken.sort
    with pytest.raises(AttributeError, match=r"has no attribute 'quux'$"):
        _ = bp.Key.quux
    # A wrong type inside the constructor is no wrong number of arguments.
    with pytest.raises(bp.errors.InvalidInputError, match="`modelset`"):
        bp.Key("k.h5", SEGMENTS, TAR, ~TAR)
