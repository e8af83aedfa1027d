"""Trials, keys and scores saved as tables with commas: what is read again is what was saved."""

from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from tests.forms import as_list

MODELS, SEGMENTS = ["anna", "bert"], ["s1", "s2", "s3"]
MASK = np.array([[True, False, True], [True, True, False]])
VALUES = np.array([[0.1, 0.0, 1 / 3], [-np.inf, 1e-300, 0.0]])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("flat", [False, True])
def test_scores_come_back(tmp_path: Path, dtype: str, *, flat: bool) -> None:
    scores = bp.Scores(VALUES.astype(dtype), MODELS, SEGMENTS, MASK)
    (as_list(scores) if flat else scores).save(tmp_path / "x.csv")
    read = bp.read_scores(tmp_path / "x.csv")
    assert read.modelset.tolist() == MODELS
    assert read.segset.tolist() == SEGMENTS
    # Column by column.
    assert read.get_scores(bp.Ndx(MODELS, SEGMENTS, MASK)).tolist() == (
        VALUES.astype(dtype).T[MASK.T].tolist()
    )


@pytest.mark.parametrize("flat", [False, True])
def test_a_key_and_its_trials_come_back(tmp_path: Path, *, flat: bool) -> None:
    key = bp.Key(MODELS, SEGMENTS, MASK & (VALUES > 0), MASK & ~(VALUES > 0))
    given = as_list(key) if flat else key
    given.save(tmp_path / "key.csv")
    assert (tmp_path / "key.csv").read_text().splitlines()[:3] == [
        *("model,segment,label", "anna,s1,target", "bert,s1,nontarget")
    ]
    assert bp.read_key(tmp_path / "key.csv") == key
    given.to_ndx().save(tmp_path / "trials.csv")
    assert bp.read_trials(tmp_path / "trials.csv") == key.to_ndx()


def test_digits_as_asked_for(tmp_path: Path) -> None:
    scores = bp.Scores([[1 / 3]], ["m"], ["s"])
    scores.save(tmp_path / "x.csv", number_format="%.2f")
    assert (tmp_path / "x.csv").read_text() == "model,segment,score\nm,s,0.33\n"
    with pytest.raises(InvalidInputError, match="number_format"):
        scores.save(tmp_path / "x.h5", number_format="%.2f")


def test_what_a_table_would_lose_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    unused = bp.Ndx(MODELS, SEGMENTS, [[True, True, True], [False, False, False]])
    with pytest.raises(InvalidInputError, match=r"each model .* 1 without any \(bert\)"):
        unused.save(path)
    with pytest.raises(InvalidInputError, match=r"each segment .* 2 without any \(s2, s3\)"):
        bp.Scores(VALUES, MODELS, SEGMENTS, [[True, False, False]] * 2).save(path)
    with pytest.raises(InvalidInputError, match="without separators"):
        bp.Ndx(["a,b"], ["s"]).save(path)
    with pytest.raises(InvalidInputError, match="must end in"):
        bp.IdMap(["a"], ["b"]).save(path)
    assert not path.exists()
