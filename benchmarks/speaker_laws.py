"""Laws of scores with speakers: skewed, with rare wolves, unequal, with few errors, and others.

A score is the mean of its class plus effects of speakers, of their pairs, of models and segments,
and noise, as in ``tests/crossed_trials.py``; but effects need not be normal, nor speakers alike.
The laws are those of the coverage study. Eight of them, "accents", "restless", "long calls" and
the last five, were fixed before anything was computed with them.
"""

from typing import NamedTuple

import attrs
import numpy as np

from bosaris_py.trials.sample import Sample, ScoredClass

# Means of targets and of non-targets.
TAR_MEAN, NON_MEAN = 2.7, -3.3


class Effects(NamedTuple):
    """Effects of speakers, of mean 0: on own trials, as model, as segment; scale of the noise."""

    goat: np.ndarray
    lamb: np.ndarray
    wolf: np.ndarray
    noise: np.ndarray


class Design(NamedTuple):
    """The speaker of each model and segment, who meets whom, and the group of each speaker."""

    models: np.ndarray
    segments: np.ndarray
    met: np.ndarray
    group: np.ndarray


@attrs.frozen
class SpeakerLaw:
    """A law of scores; standard deviations are of goat, lamb, wolf, pair, model, segment, noise."""

    name: str
    deviations: tuple[float, ...] = (1.35, 0.75, 1.2, 0.6, 0.45, 0.75, 1.5)
    means: tuple[float, float] = (TAR_MEAN, NON_MEAN)
    n_models: int = 2
    n_segments: int = 4
    step: float = 0.0
    session: float = 0.0

    def effects(self, rng: np.random.Generator, k: int) -> Effects:
        """Draw the effects of the speakers."""
        draw = rng.normal
        if self.name == "heavy tails":
            # Student's t of 3 degrees has the variance 3.
            def draw(size: int) -> np.ndarray:
                return rng.standard_t(3, size) / 3**0.5
        elif self.name == "skewed":
            # Log-normal with a logarithm of deviation 1: mean e^(1/2), variance e (e - 1).
            def draw(size: int) -> np.ndarray:
                return (rng.lognormal(size=size) - np.e**0.5) / (np.e * (np.e - 1)) ** 0.5
        elif self.name == "uniform":
            # From -a to a the variance is a^2 / 3.
            def draw(size: int) -> np.ndarray:
                return rng.uniform(-(3**0.5), 3**0.5, size)

        goat, lamb, wolf = (draw(size=k) for _ in range(3))
        if self.name == "skewed":
            goat = -goat
        if self.name == "correlated":
            wolf = 0.81 * lamb + (1 - 0.81**2) ** 0.5 * wolf
            goat = -0.9 * lamb + (1 - 0.9**2) ** 0.5 * goat
        goat, lamb, wolf = (
            s * e for s, e in zip(self.deviations, (goat, lamb, wolf), strict=False)
        )
        if self.name == "bimodal":
            goat, wolf = goat - 4.0 * (rng.random(k) < 0.1), wolf + 4.0 * (rng.random(k) < 0.06)
        noise = np.exp(0.3 * rng.normal(size=k)) if self.name == "restless" else np.ones(k)
        return Effects(goat, lamb, wolf, noise)

    def design(self, rng: np.random.Generator, k: int) -> Design:
        """Draw who has how many models and segments."""
        models, segments = np.full(k, self.n_models), np.full(k, self.n_segments)
        met, group = np.ones((k, k), dtype=bool), np.zeros(k, dtype=np.int64)
        if self.name == "Zipf":
            segments = np.maximum(16 // np.arange(1, k + 1), 1)
            models = np.where(np.arange(k) < k / 5, 3, 1)
        elif self.name == "dominant":
            models, segments = np.where(np.arange(k) == 0, 4, 1), np.where(np.arange(k) == 0, 4, 2)
        elif self.name == "one side":
            # Impostors without a model come behind the enrolled speakers.
            models = np.append(models, np.zeros(3 * k, dtype=np.int64))
            segments = np.full(4 * k, self.n_segments)
            met, group = np.ones((4 * k, 4 * k), dtype=bool), np.zeros(4 * k, dtype=np.int64)
        elif self.name == "missing":
            met = np.triu(rng.random((k, k)) < 0.15, 1)
            met |= met.T
            np.fill_diagonal(met, np.arange(k) >= round(0.4 * k))
            # Nobody is without trials.
            met |= np.roll(np.eye(k, dtype=bool), 1, axis=1) | np.roll(np.eye(k, dtype=bool), -1, 1)
        elif self.name in ("blocks", "accents"):
            group = (np.arange(k) < round(0.3 * k)).astype(np.int64)
            if self.name == "blocks":
                met = group[:, None] == group
        elif self.name == "long calls":
            models, segments = np.ones(k, dtype=np.int64), 1 + rng.poisson(3, k)
        everyone = np.arange(models.size)
        return Design(np.repeat(everyone, models), np.repeat(everyone, segments), met, group)

    def matrix(self, rng: np.random.Generator, design: Design) -> np.ndarray:
        """Draw deviations of the scores of all models against all segments."""
        _, _, _, pair, model, segment, noise = self.deviations
        rows, cols, k = design.models, design.segments, design.group.size
        effects = self.effects(rng, k)
        met = np.triu(rng.normal(size=(k, k)), 1)
        table = pair * (met + met.T) + effects.lamb[:, None] + effects.wolf
        np.fill_diagonal(table, effects.goat)
        scores = table[np.ix_(rows, cols)] + model * rng.normal(size=(rows.size, 1))
        scores += segment * rng.normal(size=cols.size)
        if self.session:
            # Three sessions of each speaker, in turn over the segments.
            number = np.arange(cols.size) - np.searchsorted(cols, cols)
            scores += self.session * rng.normal(size=(k, 3))[cols, number % 3]
        raw = rng.normal(size=scores.shape)
        if self.name == "long calls":
            raw = rng.laplace(scale=0.5**0.5, size=scores.shape)
        if self.name == "loud segments":
            raw *= np.exp(0.5 * rng.normal(size=cols.size))
        return scores + noise * raw * effects.noise[rows][:, None]

    def offsets(self, design: Design) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of targets and of non-targets, of each model against each segment."""
        rows, cols = design.group[design.models], design.group[design.segments]
        tar, non = (np.full((rows.size, cols.size), mean) for mean in self.means)
        if self.name == "blocks":
            tar -= 0.6 * rows[:, None]
            non += 0.6 * rows[:, None]
        elif self.name == "accents":
            non += 1.0 * ((rows[:, None] == 1) & (cols == 1))
        return tar, non

    def shown(self, values: np.ndarray) -> np.ndarray:
        """Return scores as the detector of the law shows them."""
        if self.step:
            return self.step * np.round(values / self.step)
        return 5.0 * np.tanh(values / 5.0) if self.name == "saturated" else values

    def draw(
        self, rng: np.random.Generator, k: int, n_systems: int = 1, shared: float = 0.0
    ) -> list[Sample]:
        """Draw systems of equal truth on the same trials, which share a part of every variance."""
        design = self.design(rng, k)
        same = design.models[:, None] == design.segments
        met = design.met[np.ix_(design.models, design.segments)]
        means = self.offsets(design)
        common = self.matrix(rng, design) if shared else 0.0
        samples = []
        for _ in range(n_systems):
            scores = shared**0.5 * common + (1.0 - shared) ** 0.5 * self.matrix(rng, design)
            classes = []
            for mask, mean in zip((same & met, ~same & met), means, strict=True):
                rows, cols = np.nonzero(mask)
                speakers = design.models[rows], design.segments[cols]
                values = self.shown((scores + mean)[mask])
                classes.append(ScoredClass(values, speakers=speakers))
            samples.append(Sample(*classes))
        return samples

    def large(self, rng: np.random.Generator, k: int, n_scores: int) -> Sample:
        """Draw many scores of the law, of speakers new in each trial: the truth for k speakers."""
        _, _, _, pair, model, segment, noise = self.deviations
        rest = np.hypot(np.hypot(model, segment), self.session)
        scores = []
        for is_tar in (True, False):
            one, other = (self.effects(rng, n_scores) for _ in range(2))
            raw = rng.normal(size=n_scores)
            if self.name == "long calls":
                raw = rng.laplace(scale=0.5**0.5, size=n_scores)
            if self.name == "loud segments":
                raw *= np.exp(0.5 * rng.normal(size=n_scores))
            values = rest * rng.normal(size=n_scores) + noise * raw * one.noise
            if is_tar:
                values += self.means[0] + one.goat
            else:
                values += self.means[1] + one.lamb + other.wolf + pair * rng.normal(size=n_scores)
            scores.append(values)
        if self.name in ("blocks", "accents"):
            scores = self._grouped(rng, k, *scores)
        return Sample.from_scores(*map(self.shown, scores))

    def _grouped(
        self, rng: np.random.Generator, k: int, tar: np.ndarray, non: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Shift the scores of the smaller group, whose share of the speakers is three tenths."""
        first = round(0.3 * k)
        if self.name == "blocks":
            pairs = first * (first - 1), (k - first) * (k - first - 1)
            tar = tar - 0.6 * (rng.random(tar.size) < first / k)
            return tar, non + 0.6 * (rng.random(non.size) < pairs[0] / sum(pairs))
        return tar, non + 1.0 * (rng.random(non.size) < first * (first - 1) / (k * (k - 1)))


LAWS = {
    law.name: law
    for law in (
        SpeakerLaw("independent", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.1), n_models=1, n_segments=1),
        SpeakerLaw("sessions", session=0.75),
        SpeakerLaw("discrete", step=1.5),
        SpeakerLaw("one side"),
        SpeakerLaw("missing"),
        SpeakerLaw("dominant"),
        SpeakerLaw("Zipf"),
        SpeakerLaw("blocks"),
        SpeakerLaw("correlated"),
        SpeakerLaw("heavy tails"),
        SpeakerLaw("bimodal"),
        SpeakerLaw("skewed"),
        SpeakerLaw("rare errors", means=(5.0, -5.5), n_models=1, n_segments=2),
        SpeakerLaw("accents"),
        SpeakerLaw("restless"),
        SpeakerLaw("long calls"),
        SpeakerLaw("uniform"),
        SpeakerLaw("saturated"),
        SpeakerLaw("loud segments"),
        SpeakerLaw("lambs", (0.9, 1.6, 0.4, 0.6, 0.45, 0.75, 1.5), n_models=3, n_segments=2),
        SpeakerLaw("much noise", (0.6, 0.3, 0.4, 0.2, 0.45, 0.75, 2.4), n_models=1, n_segments=3),
    )
}

# Laws whose rare speakers a sample lacks: printed as they come.
RARE_WOLVES = "heavy tails", "bimodal", "skewed"
