"""Simulated trials that share speakers on both sides, with a known true cost.

A speaker verifier's trials are *crossed*: each speaker has models and test
segments, each model meets each segment, so one speaker's habits show in a whole
row and a whole column of the score matrix. The scores here are sums of independent
normal effects,

    target of speaker i         tar_mean + goat_i                  + noise
    model of i, segment of j    non_mean + lamb_i + wolf_j + pair  + noise

goat
    how well a speaker's own trials score,
lamb, wolf
    how easily a speaker is imitated, and imitates others,
pair
    what two speakers have in common, the same in both directions,

plus an effect of each model and each segment. Every single score is then normal
with a known mean and variance, so that the error-rates at a threshold, and with them
the coverage of an interval, are known exactly.

The defaults are those of the coverage study of the documentation: 80 speakers with 2
models and 4 test segments each, so 640 target and 50560 non-target trials.
"""

import math

import attrs
import numpy as np
from scipy import special

from bosaris_py.trials import IdMap, Key, Scores, SegmentQuality


@attrs.frozen
class CrossedTrials:
    """One simulated data set."""

    scores: Scores
    key: Key
    model_speakers: IdMap
    segment_speakers: IdMap

    def trials(self) -> tuple[np.ndarray, np.ndarray]:
        """Return target and non-target scores, column by column."""
        return self.scores.get_tar_non(self.key)

    def model_sets(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the speaker of the model of each target and non-target trial."""
        speakers = self.model_speakers.map_left_to_right(self.key.modelset)
        sets = []
        for mask in (self.key.tar, self.key.non):
            _, rows = np.nonzero(mask.T)
            sets.append(speakers[rows])
        return sets[0], sets[1]


@attrs.frozen
class CrossedExperiment:
    """The law that crossed trials are drawn from.

    Parameters
    ----------
    n_speakers, n_models, n_segments
        Number of speakers, of models per speaker, and of segments per speaker.
    tar_mean, non_mean
        Mean score of target and non-target trials.
    goat, lamb, wolf, pair
        Standard deviation of the speaker effects.
    model, segment, noise
        Standard deviation of the effect of a model, a segment and a single trial.
    """

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

    def error_rates(self, threshold: float) -> tuple[float, float]:
        """Return the true miss and false-alarm rate at a threshold."""
        common = self.model**2 + self.segment**2 + self.noise**2
        tar_sd = math.sqrt(common + self.goat**2)
        non_sd = math.sqrt(common + self.lamb**2 + self.wolf**2 + self.pair**2)
        pmiss = special.ndtr((threshold - self.tar_mean) / tar_sd)
        pfa = special.ndtr((self.non_mean - threshold) / non_sd)
        return float(pmiss), float(pfa)

    def draw(self, rng: np.random.Generator) -> CrossedTrials:
        """Draw one data set with new speakers."""
        return self.draw_systems(rng, n_systems=1)[0]

    def draw_systems(self, rng, *, n_systems, shared=0.0):
        """Draw several systems of the same law on the same trials.

        `shared` is the share of every variance that the systems have in common: the
        correlation of their scores. Their true error-rates are equal.
        """
        common = self._draw_scores(rng)
        a, b = math.sqrt(shared), math.sqrt(1.0 - shared)
        systems = []
        for _ in range(n_systems):
            deviations = a * common + b * self._draw_scores(rng)
            systems.append(self._make(deviations))
        return systems

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
        scores += self.noise * rng.normal(size=scores.shape)
        return scores

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
