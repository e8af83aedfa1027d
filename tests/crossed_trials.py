"""Simulated trials that share speakers on both sides: each model meets each segment.

The scores are sums of independent normal effects of speakers, models, segments and single trials:

    target of speaker i         tar_mean + goat_i                  + model + segment + noise
    model of i, segment of j    non_mean + lamb_i + wolf_j + pair  + model + segment + noise

goat is how well a speaker's own trials score; lamb and wolf how easily a speaker is imitated, and
imitates others; pair what two speakers have in common, the same in both directions.
"""

import math

import attrs
import numpy as np

from bosaris_py.trials import IdMap, Key, Scores, SegmentQuality


@attrs.frozen
class CrossedTrials:
    """One simulated data set."""

    scores: Scores
    key: Key
    model_speakers: IdMap
    segment_speakers: IdMap


@attrs.frozen
class CrossedExperiment:
    """The law that crossed trials are drawn from: means, and standard deviations of effects."""

    n_speakers: int = 80
    n_models: int = 2
    n_segments: int = 4
    tar_mean: float = 3.0
    non_mean: float = -3.0
    goat: float = 0.8
    lamb: float = 0.6
    wolf: float = 0.6
    pair: float = 0.4
    model: float = 0.4
    segment: float = 0.5
    noise: float = 1.2

    def draw_systems(self, rng, *, n_systems=1, shared=0.0):
        """Draw systems of the same law on the same trials, that have a share of every variance."""
        common = self._draw_scores(rng)
        a, b = math.sqrt(shared), math.sqrt(1.0 - shared)
        return [self._make(a * common + b * self._draw_scores(rng)) for _ in range(n_systems)]

    def _speakers(self) -> tuple[np.ndarray, np.ndarray]:
        speakers = np.arange(self.n_speakers)
        return np.repeat(speakers, self.n_models), np.repeat(speakers, self.n_segments)

    def _draw_scores(self, rng: np.random.Generator) -> np.ndarray:
        """Draw the deviations from the class means: (models, segments)."""
        k = self.n_speakers
        of_model, of_segment = self._speakers()
        pair = np.triu(rng.normal(size=(k, k)), 1)
        effects = self.pair * (pair + pair.T)
        effects += self.lamb * rng.normal(size=k)[:, np.newaxis]
        effects += self.wolf * rng.normal(size=k)
        np.fill_diagonal(effects, self.goat * rng.normal(size=k))
        scores = effects[np.ix_(of_model, of_segment)]
        scores = scores + self.model * rng.normal(size=of_model.size)[:, np.newaxis]
        scores += self.segment * rng.normal(size=of_segment.size)
        return scores + self.noise * rng.normal(size=scores.shape)

    def _make(self, deviations: np.ndarray) -> CrossedTrials:
        of_model, of_segment = self._speakers()
        same = of_model[:, np.newaxis] == of_segment
        names = np.array([f"speaker{i:03d}" for i in range(self.n_speakers)])
        models = np.array([f"model{i:04d}" for i in range(of_model.size)])
        segments = np.array([f"segment{i:04d}" for i in range(of_segment.size)])
        return CrossedTrials(
            Scores(deviations + np.where(same, self.tar_mean, self.non_mean), models, segments),
            Key(models, segments, same, ~same),
            IdMap(models, names[of_model]),
            IdMap(segments, names[of_segment]),
        )


def mismatched(seed, *, effect=True, n=40, low=0.0, high=1.0):
    """Scores whose scale and offset depend on the log duration of the segment, in [low, high]."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n), 4)
    models, segments = [f"m{i}" for i in range(n)], [f"s{i}" for i in range(person.size)]
    tar = np.arange(n)[:, None] == person
    duration = rng.uniform(low, high, person.size)
    used = duration if effect else np.full(person.size, 0.5)
    # Calibrated LLRs of a variance that grows with duration, scaled and shifted by it.
    sigma = 1.5 + 2.0 * used
    llr = np.where(tar, 0.5, -0.5) * sigma**2 + sigma * rng.normal(size=tar.shape)
    scores = Scores(llr / (0.5 + 2.0 * used) + 2.0 * used, models, segments)
    return scores, Key(models, segments, tar, ~tar), SegmentQuality(segments, duration[None])
