"""Make the score files of this folder from the Japanese Vowels utterances.

Two small speaker-verification systems are built from nine speakers saying /ae/
and score every model against every test utterance, for a dev set and for an
eval set. README.md in this folder describes the data, the protocol and the
files. Run it with::

    python -m pip install "bosaris_py[examples]"
    python examples/japanese_vowels/make_scores.py --output some_folder

The committed files are reproduced to the last bit: nothing is random, and the
scores are rounded to a grid far coarser than what the linear algebra of two
machines can differ by.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from attrs import field, frozen
from scipy.linalg import solve_triangular
from tqdm import tqdm

from bosaris_py.trials import IdMap, Key, Scores, SegmentQuality

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
StrArray = npt.NDArray[np.str_]

UTTERANCES_PER_MODEL = 3
RELEVANCE = 16.0
SCORE_DECIMALS = 5


def _tuple_of_frames(frames: Sequence[npt.ArrayLike]) -> tuple[FloatArray, ...]:
    """Convert each utterance to a float64 matrix of frames by coefficients."""
    return tuple(np.asarray(utterance, dtype=np.float64) for utterance in frames)


def _int_array(values: npt.ArrayLike) -> IntArray:
    """Convert speaker numbers to int64."""
    return np.asarray(values, dtype=np.int64)


@frozen(eq=False)
class Utterances:
    """Utterances of known speakers, in the order of the corpus.

    Attributes
    ----------
    frames : tuple of (n_frames, n_coefficients) ndarray of float64
        One matrix of cepstra for each utterance.
    speakers : (n_utterances,) ndarray of int64
        Number of the speaker of each utterance, counted from 1.
    """

    frames: tuple[FloatArray, ...] = field(converter=_tuple_of_frames)
    speakers: IntArray = field(converter=_int_array)

    @property
    def numbers(self) -> IntArray:
        """Number of each utterance among those of its speaker, counted from 1."""
        numbers = np.empty(self.speakers.size, dtype=np.int64)
        for speaker in np.unique(self.speakers):
            own = self.speakers == speaker
            numbers[own] = 1 + np.arange(np.count_nonzero(own))
        return numbers

    @property
    def groups(self) -> IntArray:
        """Enrolment group of each utterance: 1 for its speaker's first three, and so on."""
        return 1 + (self.numbers - 1) // UTTERANCES_PER_MODEL

    @property
    def lengths(self) -> IntArray:
        """Number of frames of each utterance."""
        return np.array([len(utterance) for utterance in self.frames], dtype=np.int64)

    def select(self, chosen: npt.NDArray[np.bool_]) -> "Utterances":
        """Return the utterances at which the boolean array `chosen` is true."""
        frames = [self.frames[index] for index in np.flatnonzero(chosen)]
        return Utterances(frames, self.speakers[chosen])


@frozen(eq=False)
class Models:
    """Enrolled speaker models.

    Attributes
    ----------
    speakers : (n_models,) ndarray of int64
        Number of the speaker of each model.
    groups : (n_models,) ndarray of int64
        Enrolment group, within that speaker's utterances, of each model.
    enrolments : tuple of tuple of (n_frames, n_coefficients) ndarray
        The utterances of each model.
    """

    speakers: IntArray
    groups: IntArray
    enrolments: tuple[tuple[FloatArray, ...], ...]

    @classmethod
    def enrol(cls, utterances: Utterances) -> "Models":
        """Make one model of each enrolment group of each speaker."""
        groups = utterances.groups
        names = sorted(set(zip(utterances.speakers.tolist(), groups.tolist(), strict=True)))
        enrolments = tuple(
            utterances.select((utterances.speakers == speaker) & (groups == group)).frames
            for speaker, group in names
        )
        speakers, group_numbers = np.array(names, dtype=np.int64).T
        return cls(speakers, group_numbers, enrolments)

    def select(self, chosen: npt.NDArray[np.bool_]) -> "Models":
        """Return the models at which the boolean array `chosen` is true."""
        enrolments = tuple(self.enrolments[index] for index in np.flatnonzero(chosen))
        return Models(self.speakers[chosen], self.groups[chosen], enrolments)

    @property
    def lengths(self) -> IntArray:
        """Number of enrolment frames of each model."""
        return np.array([sum(map(len, own)) for own in self.enrolments], dtype=np.int64)


@frozen(eq=False)
class Gaussian:
    """A multivariate normal density with a full covariance matrix.

    Attributes
    ----------
    mean : (d,) ndarray of float64
        Mean vector.
    covariance : (d, d) ndarray of float64
        Covariance matrix, positive definite.
    """

    mean: FloatArray
    covariance: FloatArray

    @classmethod
    def fit(cls, frames: FloatArray) -> "Gaussian":
        """Return the maximum-likelihood Gaussian of `frames`, shape (n, d)."""
        mean = frames.mean(axis=0)
        centred = frames - mean
        return cls(mean, centred.T @ centred / len(frames))

    def adapt(self, frames: FloatArray, relevance: float = RELEVANCE) -> "Gaussian":
        """Return this density moved towards `frames` by MAP adaptation.

        The first two moments are interpolated between those of the frames,
        with weight n / (n + relevance), and those of this density: the
        adaptation of Reynolds, Quatieri and Dunn [1]_ for one component.

        Parameters
        ----------
        frames : (n, d) ndarray of float64
            Enrolment frames.
        relevance : float
            Number of frames at which data and prior have the same weight.

        Returns
        -------
        adapted : Gaussian
            The adapted density.

        References
        ----------
        .. [1] D. A. Reynolds, T. F. Quatieri, R. B. Dunn, "Speaker verification
           using adapted Gaussian mixture models", Digital Signal Processing 10
           (2000) 19-41, doi:10.1006/dspr.1999.0361.
        """
        weight = len(frames) / (len(frames) + relevance)
        mean = weight * frames.mean(axis=0) + (1.0 - weight) * self.mean
        # Moments about the new mean are equal to interpolating raw second moments
        # and subtracting the square of the mean, without its cancellation.
        centred = frames - mean
        shift = self.mean - mean
        prior_moment = self.covariance + np.outer(shift, shift)
        data_moment = centred.T @ centred / len(frames)
        return Gaussian(mean, weight * data_moment + (1.0 - weight) * prior_moment)

    def log_density(self, frames: FloatArray) -> FloatArray:
        """Return the natural log of the density at each frame, shape (n,)."""
        factor = np.linalg.cholesky(self.covariance)
        whitened = solve_triangular(factor, (frames - self.mean).T, lower=True)
        log_norm = np.log(np.diag(factor)).sum() + 0.5 * self.mean.size * np.log(2.0 * np.pi)
        return np.asarray(-0.5 * np.square(whitened).sum(axis=0) - log_norm)


def gaussian_scores(background: Utterances, models: Models, tests: Utterances) -> FloatArray:
    """Score by the log-likelihood-ratio of an adapted to a background Gaussian.

    Averaging over the frames allows for neighbouring frames saying much the same,
    but only roughly, and a covariance adapted to three utterances fits them too
    closely: the scores rank trials well and are over-confident.

    Parameters
    ----------
    background : Utterances
        Utterances whose frames train the background density.
    models : Models
        Speaker models; each is the background adapted to its utterances.
    tests : Utterances
        Test utterances.

    Returns
    -------
    scores : (n_models, n_tests) ndarray of float64
        Natural-log likelihood-ratio per frame.
    """
    world = Gaussian.fit(np.concatenate(background.frames))
    frames = np.concatenate(tests.frames)
    starts = np.concatenate([[0], np.cumsum(tests.lengths)[:-1]])
    world_density = world.log_density(frames)
    scores = np.empty((len(models.enrolments), len(tests.frames)))
    for row, enrolment in zip(scores, models.enrolments, strict=True):
        ratios = world.adapt(np.concatenate(enrolment)).log_density(frames) - world_density
        row[:] = np.add.reduceat(ratios, starts) / tests.lengths
    return scores


def cosine_scores(background: Utterances, models: Models, tests: Utterances) -> FloatArray:
    """Score by the cosine between whitened mean cepstra of model and test.

    An utterance is represented by the mean of its frames, a model by the mean
    over its utterances. Both are centred and whitened by the covariance of
    utterances of the same speaker (within-class covariance normalisation [1]_).

    Parameters
    ----------
    background : Utterances
        Utterances that train the centre and the within-speaker covariance.
    models : Models
        Speaker models.
    tests : Utterances
        Test utterances.

    Returns
    -------
    scores : (n_models, n_tests) ndarray of float64
        Cosines, from -1 to 1: not log-likelihood-ratios at all.

    References
    ----------
    .. [1] A. O. Hatch, S. Kajarekar, A. Stolcke, "Within-class covariance
       normalization for SVM-based speaker recognition", Interspeech 2006.
    """
    means = _mean_cepstra(background.frames)
    centre = means.mean(axis=0)
    residuals = np.concatenate(
        [
            means[background.speakers == speaker]
            - means[background.speakers == speaker].mean(axis=0)
            for speaker in np.unique(background.speakers)
        ]
    )
    factor = np.linalg.cholesky(residuals.T @ residuals / len(residuals))

    def directions(vectors: FloatArray) -> FloatArray:
        whitened = solve_triangular(factor, (vectors - centre).T, lower=True)
        return np.asarray(whitened / np.linalg.norm(whitened, axis=0))

    enrolled = np.array([_mean_cepstra(own).mean(axis=0) for own in models.enrolments])
    return directions(enrolled).T @ directions(_mean_cepstra(tests.frames))


def _mean_cepstra(frames: Sequence[FloatArray]) -> FloatArray:
    """Return the mean frame of each utterance, shape (n_utterances, d)."""
    return np.array([utterance.mean(axis=0) for utterance in frames])


System = Callable[[Utterances, Models, Utterances], FloatArray]
SYSTEMS: dict[str, System] = {"gaussian": gaussian_scores, "cosine": cosine_scores}


def dev_mask(models: Models, train: Utterances) -> npt.NDArray[np.bool_]:
    """Return which pairs of a model and a training utterance are dev trials.

    A trial needs model and utterance of different groups, so no utterance is
    tested against a model that was enrolled with it, and every trial can be
    scored with a background that never saw the test utterance.
    """
    return np.not_equal(models.groups[:, None], train.groups)


def dev_scores(
    system: System, models: Models, train: Utterances, *, progress: bool = False
) -> FloatArray:
    """Score the dev trials by leaving out one enrolment group at a time.

    In each round the utterances of one group of all speakers are the tests.
    Background and models come from the other groups only. So a dev test
    utterance is as new to the system as an eval utterance is.

    Parameters
    ----------
    system : callable
        A function of background, models and tests such as `gaussian_scores`.
    models : Models
        All models.
    train : Utterances
        All training utterances.
    progress : bool, keyword-only
        Whether to show a bar that counts the rounds.

    Returns
    -------
    scores : (n_models, n_utterances) ndarray of float64
        Scores where `dev_mask` is true, zero elsewhere.
    """
    scores = np.zeros((models.speakers.size, train.speakers.size))
    rounds = tqdm(np.unique(models.groups), desc="dev rounds", disable=not progress)
    for group in rounds:
        tested = train.groups == group
        kept = models.groups != group
        scores[np.ix_(kept, tested)] = system(
            train.select(~tested), models.select(kept), train.select(tested)
        )
    return scores


def on_grid(scores: FloatArray) -> npt.NDArray[np.float32]:
    """Round to five decimals and to single precision.

    Machines differ in the last bits of a matrix product, about 1e-13 here; the
    grid is coarser by eight orders of magnitude, so they agree on the result.
    """
    # Adding zero turns -0.0 into 0.0: the sign of a zero is such a last bit.
    return (np.round(scores, SCORE_DECIMALS) + 0.0).astype(np.float32)


def model_ids(models: Models) -> StrArray:
    """Return ids like ``spk3-m07``: speaker 3, enrolled with its 19th to 21st utterance."""
    pairs = zip(models.speakers.tolist(), models.groups.tolist(), strict=True)
    return np.array([f"spk{speaker}-m{group:02d}" for speaker, group in pairs])


def segment_ids(utterances: Utterances, part: str) -> StrArray:
    """Return ids like ``train-spk3-u12`` or ``test-spk5-u029``."""
    digits = {"train": 2, "test": 3}[part]
    pairs = zip(utterances.speakers.tolist(), utterances.numbers.tolist(), strict=True)
    return np.array([f"{part}-spk{speaker}-u{number:0{digits}d}" for speaker, number in pairs])


def speaker_ids(speakers: IntArray) -> StrArray:
    """Return ids like ``spk3``."""
    return np.array([f"spk{speaker}" for speaker in speakers.tolist()])


def make_files(train: Utterances, test: Utterances, *, progress: bool = False) -> dict[str, Any]:
    """Build all objects of this folder.

    Parameters
    ----------
    train, test : Utterances
        The two parts of the corpus.
    progress : bool, keyword-only
        Whether to show progress bars.

    Returns
    -------
    files : dict of str to Key, Ndx, Scores, SegmentQuality or IdMap
        What to save, by file name.
    """
    models = Models.enrol(train)
    names = model_ids(models)
    parts = {
        "dev": (train, segment_ids(train, "train"), dev_mask(models, train)),
        "eval": (
            test,
            segment_ids(test, "test"),
            np.ones((names.size, test.speakers.size), dtype=np.bool_),
        ),
    }
    files: dict[str, Any] = {}
    for part, (utterances, segments, mask) in parts.items():
        same = models.speakers[:, None] == utterances.speakers
        key = Key(names, segments, mask & same, mask & ~same)
        files[f"{part}_key.h5"] = key
        files[f"{part}_ndx.h5"] = key.to_ndx()
        files[f"{part}_frames.h5"] = SegmentQuality(segments, utterances.lengths[None, :])
        for name, system in SYSTEMS.items():
            if part == "dev":
                matrix = dev_scores(system, models, train, progress=progress)
            else:
                matrix = system(train, models, test)
            scores = Scores(on_grid(matrix), names, segments, mask)
            files[f"{part}_scores_{name}.h5"] = scores
    files["model_frames.h5"] = SegmentQuality(names, models.lengths[None, :])
    files["model_speakers.h5"] = IdMap(names, speaker_ids(models.speakers))
    files["segment_speakers.h5"] = IdMap(
        np.concatenate([parts["dev"][1], parts["eval"][1]]),
        speaker_ids(np.concatenate([train.speakers, test.speakers])),
    )
    return files


def load_utterances(part: str) -> Utterances:
    """Load one part of the corpus, ``train`` or ``test``.

    The utterances come with the package aeon; nothing is downloaded.
    """
    try:
        from aeon.datasets import load_japanese_vowels
    except ImportError:
        message = (
            "The utterances come with the package aeon, which is not installed. "
            'Install it with: python -m pip install "bosaris_py[examples]"'
        )
        raise SystemExit(message) from None
    series, labels = load_japanese_vowels(split=part)
    return Utterances([utterance.T for utterance in series], labels.astype(np.int64))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script with command-line `arguments` (default: those of the process)."""
    parser = argparse.ArgumentParser(
        description="Make the score files of examples/japanese_vowels from the utterances."
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(__file__).resolve().parent,
        help="folder for the files, made if need be (default: the folder of this script)",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    options = parser.parse_args(arguments)
    progress = not options.quiet
    files = make_files(load_utterances("train"), load_utterances("test"), progress=progress)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, content in tqdm(files.items(), desc="writing", disable=not progress):
        content.save(options.output / name)
    if progress:
        sys.stderr.write(f"{len(files)} files written to {options.output}\n")


if __name__ == "__main__":
    main()
