"""Training objectives computed by passes over files, block by block.

Targets are few and are held in memory. Non-targets are read again for each evaluation,
block by block, and only the sums of loss, slopes and curvatures are kept. An evenly
spaced part of them is held as well: training starts from its optimum, so that two or three
passes over the files are enough. Where that part is all there is, files are read once.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from typing import Any, Self, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, FloatArray, IndexArray
from bosaris_py._execution import check_client, map_tasks, whole_number, worker_processes
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.numerics.linear_objective import (
    LARGEST_SCORE,
    ClassMoments,
    ClassSums,
    LinearObjective,
    TrainingObjective,
    class_moments,
    class_sums,
    lowest,
    merge_moments,
    merge_sums,
)
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring_rules import ScoringRule, resolve_prior, scoring_rule
from bosaris_py.trials.blocks import TrialBlocks, TrialCounts

Result = TypeVar("Result")

Task: TypeAlias = list[slice]

# Blocks in a task, and limits for the number of tasks. Neither depends on who does them,
# and so the sums do not either.
_TASK_BLOCKS = 16

_FEWEST_TASKS = 16

_MOST_TASKS = 256


def one_file(path: Any, name: str) -> FilePath:
    """Return the name of a file; refuse what is none, such as a list of names."""
    if not isinstance(path, str | os.PathLike):
        raise invalid(name, "be the name of a file", describe(path))
    return path


def files_of_systems(paths: Any) -> list[FilePath]:
    """Return the names of score files; refuse what is no list of at least one."""
    if isinstance(paths, str | os.PathLike) or not isinstance(paths, Iterable):
        hint = "Put the files of all systems into a list."
        raise invalid("score_files", "be a list of files", describe(paths), hint)
    return [one_file(path, "score_files") for path in paths]


@attrs.frozen(eq=False)
class FilePasses:
    """How passes over a key and the score files beside it run.

    Parameters
    ----------
    source : TrialBlocks
        The files.
    block_rows : int or None
        Rows in a block.
    workers : int
        Number of processes.
    client : dask.distributed.Client or None
        A cluster instead.
    progress : bool
        Show progress bars.
    pool : ProcessPoolExecutor or None
        The processes, where they are kept from pass to pass.
    """

    source: TrialBlocks
    block_rows: int | None = None
    workers: int = 1
    client: Any = None
    progress: bool = False
    pool: ProcessPoolExecutor | None = None

    def tasks(self) -> list[Task]:
        """Cut the files into tasks, the same each time and for everybody."""
        blocks = self.source.cut(self.block_rows)
        wanted = min(max(len(blocks) // _TASK_BLOCKS, _FEWEST_TASKS), _MOST_TASKS)
        step = max(1, -(-len(blocks) // wanted))
        return [blocks[start : start + step] for start in range(0, len(blocks), step)]

    def run(
        self, function: Callable[[Any, Task], Result], settings: Any, label: str
    ) -> list[Result]:
        """Return ``function((source, settings), task)`` for all tasks, in their order."""
        return map_tasks(
            function,
            (self.source, settings),
            self.tasks(),
            workers=self.workers,
            client=self.client,
            pool=self.pool,
            progress=self.progress,
            label=label,
        )


def lacking(passes: FilePasses, *, is_key: bool) -> TrialMismatchError:
    """Return the error for systems that lack scores of trials, with the counts of each.

    Parameters
    ----------
    passes : FilePasses
        How to pass over the files, in which something is missing.
    is_key : bool
        Count targets and non-targets, and not just trials.
    """
    source = passes.source
    complaints = []
    for number, (file, frame) in enumerate(zip(source.scores, source.frames, strict=True), start=1):
        alone = attrs.evolve(passes, source=attrs.evolve(source, scores=(file,), frames=(frame,)))
        counts = sum(alone.run(_count, None, "missing scores"), TrialCounts())
        kinds = [
            (counts.n_tar, counts.scored_tar, "targets"),
            (counts.n_non, counts.scored_non, "non-targets"),
        ]
        if not is_key:
            kinds = [(counts.n_tar + counts.n_non, counts.scored_tar + counts.scored_non, "trials")]
        numbers = [
            f"{total - found} of {total} {noun}" for total, found, noun in kinds if found < total
        ]
        if numbers:
            complaints.append(f"system {number} lacks {' and '.join(numbers)}")
    message = (
        f"Every system must have a score for each trial; {'; '.join(complaints)}. "
        "Fill them with set_missing_to_value, best after calibration, or take these "
        "trials out of the key."
    )
    return TrialMismatchError(message)


def _count(shared: tuple[TrialBlocks, None], task: Task) -> TrialCounts:
    """Count trials."""
    return sum((block.count() for block in shared[0].read(task)), TrialCounts())


# Non-targets that are kept.
_KEPT = 2**22

# One in so many stays when there are too many. Not two: in a matrix of 2**k columns all
# that stay would lie in a few of them.
_THINNING = 3

# Scatters the numbers of blocks over all remainders (2**64 divided by the golden ratio).
_SCATTER = 0x9E3779B97F4A7C15


@attrs.frozen(eq=False)
class _Sample:
    """Trials at equal distances, some or all.

    Parameters
    ----------
    step : int
        Distance between them, a power of `_THINNING`; 1 if these are all trials.
    places : (k,) array of int64
        The place of each; multiples of the step.
    scores : (n_systems, k) array of float32 or float64
        Their scores.
    """

    step: int
    places: npt.NDArray[np.int64]
    scores: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, first_place: int, step: int) -> Self:
        """Take every step-th trial of a block."""
        start = -first_place % step
        places = np.arange(first_place + start, first_place + scores.shape[1], step)
        return cls(step, places, scores[:, start::step].copy())

    @classmethod
    def merge(cls, samples: Sequence[Self], most: int) -> Self:
        """Unite samples, with so large a step that no more than `most` trials are left."""
        step = max(sample.step for sample in samples)
        places = [sample.places for sample in samples]
        while True:
            kept = [of_sample % step == 0 for of_sample in places]
            if sum(int(np.count_nonzero(chosen)) for chosen in kept) <= most:
                break
            step *= _THINNING
        chosen = list(zip(samples, kept, strict=True))
        return cls(
            step,
            np.concatenate([sample.places[k] for sample, k in chosen]),
            np.concatenate([sample.scores[:, k] for sample, k in chosen], axis=1),
        )


@attrs.frozen(eq=False)
class _Looked:
    """What the first pass finds in the blocks of a task; None stands for no non-targets."""

    counts: TrialCounts
    tar: FloatArray
    moments: ClassMoments | None
    sample: _Sample | None


def _look(shared: tuple[TrialBlocks, int], task: Task) -> _Looked:
    """Collect targets, and moments and a sample of the non-targets."""
    source, most = shared
    counts = TrialCounts()
    tar, moments, sizes = [], [], []
    samples: list[_Sample] = []
    n_sampled = 0
    for rows, block in zip(task, source.read(task), strict=True):
        found = block.count()
        counts += found
        tar.append(block.scores_of(1))
        non = block.scores_of(-1)
        if not found.scored_non:
            continue
        moments.append(class_moments(non))
        sizes.append(found.scored_non)
        # Each block begins to count elsewhere, so that small blocks take turns.
        place = (rows.start * _SCATTER) % 2**64 >> 40
        samples.append(_Sample.of(non, place, samples[0].step if samples else 1))
        n_sampled += samples[-1].places.size
        if n_sampled > 2 * most:
            samples = [_Sample.merge(samples, most)]
            n_sampled = samples[0].places.size
    return _Looked(
        counts,
        np.concatenate(tar, axis=1),
        merge_moments(moments, sizes) if moments else None,
        _Sample.merge(samples, most) if samples else None,
    )


@attrs.frozen(eq=False)
class _Point:
    """Where a loss is to be summed."""

    coefficients: Float64Array
    rule: ScoringRule
    centre: Float64Array
    spread: Float64Array

    def sum(self, scores: FloatArray) -> ClassSums:
        return class_sums(
            scores, None, self.coefficients, rule=self.rule, centre=self.centre, spread=self.spread
        )


def _sum(shared: tuple[TrialBlocks, _Point], task: Task) -> ClassSums | None:
    """Sum a loss over the non-targets; None if there are none."""
    source, point = shared
    parts = [point.sum(non) for non in _non_targets(source, task)]
    return merge_sums(parts) if parts else None


def _hardest(shared: tuple[TrialBlocks, tuple[Float64Array, int]], task: Task) -> Float64Array:
    """Return the non-targets with the lowest weighted sums."""
    source, (weights, n_trials) = shared
    found = np.empty((weights.size, 0))
    for non in _non_targets(source, task):
        best = lowest(non, weights, n_trials)
        found = lowest(np.concatenate((found, best), axis=1), weights, n_trials)
    return found


def _non_targets(source: TrialBlocks, task: Task) -> Iterator[FloatArray]:
    """Yield the scores of the non-targets of each block that has some."""
    for block in source.read(task):
        non = block.scores_of(-1)
        if non.shape[1]:
            yield non


def _count_faults(shared: tuple[TrialBlocks, None], task: Task) -> IndexArray:
    """Count scores that cannot be trained on: by class, system, and kind."""
    counts = np.zeros((2, len(shared[0].scores), 2), dtype=np.int64)
    for block in shared[0].read(task):
        for of_class, label in zip(counts, (1, -1), strict=True):
            magnitudes = np.abs(block.scores_of(label))
            infinite = np.isinf(magnitudes)
            of_class[:, 0] += np.count_nonzero(infinite, axis=1)
            of_class[:, 1] += np.count_nonzero(~infinite & (magnitudes > LARGEST_SCORE), axis=1)
    return counts


@attrs.frozen(eq=False, kw_only=True)
class FileObjective(LinearObjective):
    r"""The objective of a linear calibration or fusion of scores in files.

    Make one with `open`.

    Parameters
    ----------
    rule : ScoringRule
        The loss.
    prior, plo : float
        Prior probability of a target and its log-odds.
    centre, spread : (n_systems,) ndarray of float64
        Standardisation, done on the fly.
    passes : FilePasses
        How to pass over the files.
    tar : (n_systems, n_tar) ndarray of float32 or float64
        The target scores.
    some_non : (n_systems, k) ndarray of float32 or float64
        Non-target scores: evenly spaced ones, or all.
    n_non_trials : int
        Number of non-targets in the files.
    class_moments : tuple of ClassMoments
        Moments of targets and of non-targets.
    """

    passes: FilePasses
    tar: FloatArray
    some_non: FloatArray
    n_non_trials: int
    class_moments: tuple[ClassMoments, ClassMoments]

    @classmethod
    def open(
        cls,
        score_files: Sequence[FilePath],
        key_file: FilePath,
        *,
        prior: float | OperatingPoint,
        objective: str,
        needs_all: bool,
        block_rows: int | None,
        workers: int,
        client: Any,
        progress: bool,
        stack: ExitStack | None = None,
    ) -> "FileObjective":
        """Check the arguments, and look at all scores once.

        Parameters
        ----------
        score_files : sequence of str or path-like
            HDF5 files with the scores of each system.
        key_file : str or path-like
            HDF5 file with the key.
        prior, objective
            As for `TrainingObjective.from_scores`.
        needs_all : bool
            Refuse to train if a system lacks scores of trials, instead of leaving these out.
        block_rows, workers, client, progress
            As for `FilePasses`.
        stack : contextlib.ExitStack, optional
            Worker processes are kept from pass to pass until it is left.

        Returns
        -------
        FileObjective

        Raises
        ------
        InvalidInputError
            If an argument is bad, ids are repeated, no target or no non-target has a
            score, or one is NaN.
        TrialMismatchError
            If scores are missing and all are needed.
        FileFormatError
            If a file is damaged, foreign, or changes while it is read.
        RuntimeError
            If workers are lost.

        Warns
        -----
        MissingTrialsWarning
            If trials have no score, with counts.
        """
        rule = scoring_rule(objective)
        probability, plo = resolve_prior(prior)
        if block_rows is not None:
            block_rows = whole_number(block_rows, 1, "block_rows")
        n_workers = whole_number(workers, 1, "workers")
        check_client(client, n_workers)
        source, ids = TrialBlocks.open(score_files, key_file, any_order=True)
        pool = None if stack is None else stack.enter_context(worker_processes(n_workers))
        passes = FilePasses(source, block_rows, n_workers, client, progress, pool)
        most = max(1, _KEPT // max(1, len(passes.tasks())))
        looked = passes.run(_look, most, "training scores")
        counts = sum((part.counts for part in looked), TrialCounts())
        ids.refuse_nan(counts)
        is_incomplete = (counts.scored_tar, counts.scored_non) != (counts.n_tar, counts.n_non)
        if needs_all and is_incomplete:
            raise lacking(passes, is_key=True)
        for number, what in ((counts.scored_tar, "targets"), (counts.scored_non, "non-targets")):
            if number == 0:
                raise invalid("key_file", f"hold {what} that have scores", "none")
        ids.warn_missing(counts, is_key=True)
        tar = np.concatenate([part.tar for part in looked], axis=1)
        sizes = [part.counts.scored_non for part in looked if part.moments is not None]
        moments = [part.moments for part in looked if part.moments is not None]
        samples = [part.sample for part in looked if part.sample is not None]
        sample = _Sample.merge(samples, max(_KEPT, len(samples)))
        return cls(
            rule=rule,
            prior=probability,
            plo=plo,
            centre=np.zeros(len(tar)),
            spread=np.ones(len(tar)),
            passes=passes,
            tar=tar,
            some_non=sample.scores,
            n_non_trials=counts.scored_non,
            class_moments=(class_moments(tar), merge_moments(moments, sizes)),
        )

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(self.tar.shape[1])

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return self.n_non_trials

    @property
    def _is_in_memory(self) -> bool:
        return bool(self.some_non.shape[1] == self.n_non_trials)

    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""
        return self.class_moments

    def refuse_non_finite(self) -> None:
        """Raise with counts, for each file, of what cannot be trained on; one more pass."""
        found = self.passes.run(_count_faults, None, "scores that are not finite")
        counts = np.sum(found, axis=0)
        totals = {"targets": self.n_tar, "non-targets": self.n_non}
        complaints = [
            f"{count} of {total} scores of {noun} in {file.path} are {what}"
            for (noun, total), of_class in zip(totals.items(), counts, strict=True)
            for file, of_file in zip(self.passes.source.scores, of_class, strict=True)
            for what, count in zip(("infinite", f"beyond {LARGEST_SCORE:g}"), of_file, strict=True)
            if count
        ]
        if complaints:
            message = (
                f"A linear map must be trained on finite scores; {'; '.join(complaints)}. "
                "It has no use for others: leave those trials out or repair the system."
            )
            raise InvalidInputError(message)

    def thinned(self, n_trials: int) -> TrainingObjective:
        """Return the objective on about `n_trials` evenly spaced trials of each class."""
        return TrainingObjective(
            rule=self.rule,
            prior=self.prior,
            plo=self.plo,
            centre=self.centre,
            spread=self.spread,
            tar=self.tar,
            non=self.some_non,
            tar_weights=None,
            non_weights=None,
        ).thinned(n_trials)

    def hardest(self, weights: Float64Array, n_trials: int) -> tuple[Float64Array, Float64Array]:
        """Return the trials that fused scores with given weights get most wrong."""
        raw = weights / self.spread
        if self._is_in_memory:
            non = self.some_non
        else:
            found = self.passes.run(_hardest, (-raw, n_trials), "trials that are hardest")
            non = np.concatenate(found, axis=1)
        return lowest(self.tar, raw, n_trials), lowest(non, -raw, n_trials)

    def a_trial(self) -> Float64Array:
        """Return the scores of the first target as they are."""
        return np.asarray(self.tar[:, :1], dtype=np.float64)

    def _sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        tar_point = _Point(-coefficients, self.rule, self.centre, self.spread)
        point = _Point(coefficients, self.rule, self.centre, self.spread)
        tar = tar_point.sum(self.tar)
        if self._is_in_memory:
            return tar, point.sum(self.some_non)
        parts = self.passes.run(_sum, point, f"objective ({self.rule.name})")
        non = merge_sums([part for part in parts if part is not None])
        if non.total != self.n_non:
            message = (
                f"a pass over the files found {non.total:.0f} non-targets, the first "
                f"{self.n_non}: a file has changed meanwhile"
            )
            raise FileFormatError(message)
        return tar, non
