"""Decisions that a system submitted, with weights of conditions: van Leeuwen 2008."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError

RNG = np.random.default_rng(1)
MODELS, SEGMENTS = [f"m{i}" for i in range(8)], [f"s{i}" for i in range(12)]
TAR = RNG.random((8, 12)) < 0.4
KEY = bp.Key(MODELS, SEGMENTS, TAR, ~TAR)
ACCEPTED = RNG.random((8, 12)) < np.where(TAR, 0.8, 0.3)
FIRST = np.repeat(np.arange(8) < 3, 12).reshape(8, 12)
CONDITIONS = bp.Conditions({"a": FIRST, "b": ~FIRST}, {"a": 0.7, "b": 0.3})
PLACES = np.repeat(MODELS, 12), np.tile(SEGMENTS, 8)
POINT = bp.OperatingPoint(0.01, 10, 1)


def equation_19(accepted: np.ndarray) -> tuple[float, float]:
    """Sum the weights of trials, equation (12), over those in error."""
    pmiss = pfa = 0.0
    for mask, weight in ((FIRST, 0.7), (~FIRST, 0.3)):
        beta_tar = weight / ((mask & TAR).sum() / TAR.sum())
        beta_non = weight / ((mask & ~TAR).sum() / (~TAR).sum())
        pmiss += beta_tar * (mask & TAR & ~accepted).sum() / TAR.sum()
        pfa += beta_non * (mask & ~TAR & accepted).sum() / (~TAR).sum()
    return pmiss, pfa


def test_equations_5_6_19_and_20() -> None:
    found = unc.Decisions.from_trials(*PLACES, ACCEPTED.ravel(), KEY, conditions=CONDITIONS)
    pmiss, pfa = equation_19(ACCEPTED)
    assert found.pmiss == pytest.approx(pmiss, rel=1e-12)
    assert found.pfa == pytest.approx(pfa, rel=1e-12)
    assert found.cost(POINT) == pytest.approx(0.1 * pmiss + 0.99 * pfa, rel=1e-12)
    assert found.cost(POINT, normalize=True) == pytest.approx(found.cost(POINT) / 0.1, rel=1e-12)
    assert found.is_weighted
    # By equations (5), (6), (3) and (4): of each condition, then averaged.
    parts = [
        unc.Decisions.from_trials(
            *PLACES, ACCEPTED.ravel(), bp.Key(MODELS, SEGMENTS, TAR & m, ~TAR & m)
        )
        for m in (FIRST, ~FIRST)
    ]
    assert found.pmiss == pytest.approx(0.7 * parts[0].pmiss + 0.3 * parts[1].pmiss, rel=1e-12)
    # The bootstrap of the same decisions has the same cost, and its interval.
    scores = bp.Scores(ACCEPTED.astype(float), MODELS, SEGMENTS)
    with pytest.warns(bp.errors.FewErrorsWarning):
        result = unc.bootstrap_scores(
            scores, KEY, unc.DCF(0.5, 0.01, 10, 1), method="iid", conditions=CONDITIONS, rng=1
        )
    assert result.estimate == pytest.approx(found.cost(POINT), rel=1e-12)


def test_labels_of_lists_give_the_same() -> None:
    column = FIRST.T
    found = unc.Decisions(
        ACCEPTED.T[TAR.T],
        ACCEPTED.T[~TAR.T],
        tar_conditions=column[TAR.T],
        non_conditions=column[~TAR.T],
        condition_weights={True: 0.7, False: 0.3},
    )
    assert (found.pmiss, found.pfa) == pytest.approx(equation_19(ACCEPTED), rel=1e-12)
    for again in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert again.pmiss == found.pmiss


def test_without_conditions_and_in_any_order() -> None:
    order = RNG.permutation(96)
    shuffled = [np.asarray(ids)[order] for ids in PLACES]
    found = unc.Decisions.from_trials(*shuffled, ACCEPTED.ravel()[order], KEY)
    assert found.counts.misses == (TAR & ~ACCEPTED).sum()
    assert found.counts.false_alarms == (~TAR & ACCEPTED).sum()
    assert (found.pmiss, found.pfa) == (found.counts.pmiss, found.counts.pfa)
    assert not found.is_weighted


def test_a_column_of_a_file(tmp_path: Path) -> None:
    lines = [
        f"{m}\t{s}\t{word}\t{score:.3f}"
        for (m, s, word, score) in zip(
            *PLACES, np.where(ACCEPTED.ravel(), "T", "f"), RNG.normal(size=96), strict=True
        )
    ]
    file = tmp_path / "submission.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = {"columns": ["model", "segment", "decision", "score"]}
    decided = bp.read_scores(file, decision="decision", **options)
    found = unc.Decisions.from_scores(decided, KEY, 0.5, conditions=CONDITIONS)
    assert (found.pmiss, found.pfa) == pytest.approx(equation_19(ACCEPTED), rel=1e-12)
    # The scores beside them are read as ever.
    assert bp.read_scores(file, **options).scoremat.std() > 0.5
    with pytest.raises(
        FileFormatError, match="has no column 'verdict' of decisions; it has decision"
    ):
        bp.read_scores(file, decision="verdict", **options)
    file.write_text("m0 s0 maybe 1.0\nm0 s1 t 2.0\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"holds maybe\. A trial was accepted"):
        bp.read_scores(file, decision="decision", **options)
    file.write_text("m0 s0 1 1.0\nm0 s1 0 2.0\n", encoding="utf-8")
    found = bp.read_scores(file, decision="decision", **options)
    assert found.scoremat.tolist() == [[1.0, 0.0]]
    with pytest.raises(InvalidInputError, match="decision"):
        bp.read_scores(file, decision="decision", base=10, **options)
    binary = tmp_path / "scores.h5"
    bp.Scores(ACCEPTED.astype(float), MODELS, SEGMENTS).save(binary)
    with pytest.raises(InvalidInputError, match="decision"):
        bp.read_scores(binary, decision="decision")


def test_bad_input() -> None:
    fewer = [ids[:90] for ids in PLACES]
    with (
        pytest.warns(bp.errors.MissingTrialsWarning),
        pytest.raises(TrialMismatchError, match="a score for every trial"),
    ):
        unc.Decisions.from_trials(*fewer, ACCEPTED.ravel()[:90], KEY)
    with pytest.raises(InvalidInputError, match="accepted"):
        unc.Decisions.from_trials(*PLACES, RNG.normal(size=96), KEY)
    both = bp.Conditions({"a": FIRST, "all": np.ones_like(FIRST)}, overlap="allow")
    with pytest.raises(InvalidInputError, match="not overlap"):
        unc.Decisions.from_trials(*PLACES, ACCEPTED.ravel(), KEY, conditions=both)
    weighted = unc.Decisions.from_trials(*PLACES, ACCEPTED.ravel(), KEY, conditions=CONDITIONS)
    with pytest.raises(InvalidInputError, match="trials that all count the same"):
        unc.hter_interval(weighted)
