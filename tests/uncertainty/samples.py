"""Samples with speakers for tests: ties, groups, weights, one side or two, and spoofs."""

from collections.abc import Iterator

import numpy as np

from bosaris_py.trials import Key, Scores
from bosaris_py.trials.sample import Sample, ScoredClass

SHARES = np.array([0.2, 0.5, 0.3])


def make_sample(
    rng: np.random.Generator,
    n_speakers: int = 9,
    n_tar: int = 120,
    n_non: int = 400,
    *,
    groups: bool = False,
    weights: bool = False,
    one_side: bool = False,
    ties: bool = False,
    spoofs: bool = False,
) -> Sample:
    """Draw a sample in which speakers have habits."""
    habits = rng.normal(size=n_speakers)
    own = rng.integers(0, n_speakers, n_tar)
    first = rng.integers(0, n_speakers, n_non)
    second = (first + rng.integers(1, n_speakers, n_non)) % n_speakers
    kinds = rng.integers(0, 2, n_non) if spoofs else None
    if kinds is not None:
        second = np.where(kinds == 1, -1, second)
    tar = 2.0 + rng.normal(size=n_tar) + habits[own]
    non = rng.normal(size=n_non) + habits[first]
    if ties:
        tar, non = np.round(2 * tar) / 2, np.round(2 * non) / 2
    sides = (own, None if one_side else own), (first, None if one_side else second)
    classes = [
        ScoredClass(
            scores,
            groups=rng.integers(0, 3, scores.size) if groups else None,
            shares=SHARES if groups else np.ones(1),
            weights=rng.uniform(0.1, 2.0, scores.size) if weights else None,
            speakers=speakers,
        )
        for scores, speakers in zip((tar, non), sides, strict=True)
    ]
    return Sample(*classes, kinds)


def square(seed: int, n: int, gain: float = 2.0) -> tuple[Scores, Key]:
    """Draw scores of n speakers with habits, each against each; a speaker is an id."""
    rng, same, ids = np.random.default_rng(seed), np.eye(n, dtype=bool), [f"s{i}" for i in range(n)]
    habits = rng.normal(size=(n, 1))
    scores = gain * same + habits + habits.T + rng.normal(size=(n, n))
    return Scores(scores, ids, ids), Key(ids, ids, same, ~same)


def without_each(sample: Sample, n_speakers: int) -> Iterator[Sample]:
    """Yield copies of a sample without the trials of each speaker: the naive way."""
    for k in range(n_speakers):
        kept = []
        for one in (sample.tar, sample.non):
            first, second = one.speakers
            kept.append((first != k) & (True if second is None else second != k))
        yield sample.take(*kept)
