"""The objective of linear training on score files of any size.

The first pass keeps the target scores, which are few, and an evenly spaced sample of the
non-targets. These are read again for each evaluation, which keeps sums of loss, slopes and
curvatures only. Training starts from the optimum of the sample, so that two or three passes are
enough. Where the sample is all there is, files are read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, FloatArray, IndexArray
from bosaris_py.numerics.moments import ClassMoments, class_moments, merge_moments
from bosaris_py.numerics.objective import (
    LARGEST_SCORE,
    ClassSums,
    LinearLoss,
    TrainingObjective,
    merge_sums,
    raise_complaints,
)
from bosaris_py.numerics.scoring import ScoringRule
from bosaris_py.trials.blocks import TrialIds
from bosaris_py.trials.passes import (
    FilePasses,
    Pairs,
    ReadBlocks,
    Task,
    check_unchanged,
    reads_ahead,
)

# A scoring rule, the prior, and its log-odds.
RuleAtPrior: TypeAlias = tuple[ScoringRule, float, float]

# Non-targets in the sample, 32 MB for each system in double precision. Its optimum differs from
# that of all trials by less than a thousandth (1 / sqrt(_KEPT)), so that Newton's method, which
# doubles the number of right digits with each pass, needs two or three from there.
_KEPT = 2**22

# One in so many stays when there are too many. Not two: in a matrix of 2**k columns all
# that stay would lie in a few of them.
_THINNING = 3

# Scatters the numbers of blocks over all remainders (2**64 divided by the golden ratio).
_SCATTER = 0x9E3779B97F4A7C15


@attrs.frozen(eq=False)
class _Sample:
    """Trials at equal distances `step`, a power of `_THINNING`; all of them if that is 1."""

    step: int
    positions: npt.NDArray[np.int64]
    scores: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, first: int, step: int, most: int) -> Self:
        """Take every step-th trial of a block whose first trial has the position `first`."""
        # Where these are more than `most`, the step is as large as `merge` would make it.
        while len(range(-first % step, scores.shape[1], step)) > most:
            step *= _THINNING
        start = -first % step
        positions = np.arange(first + start, first + scores.shape[1], step)
        return cls(step, positions, scores[:, start::step].copy())

    @classmethod
    def merge(cls, samples: Sequence[Self], most: int) -> Self:
        """Unite samples, with so large a step that no more than `most` trials are left."""
        # Steps are powers of one number: multiples of a larger step are in every sample.
        step = max(sample.step for sample in samples)
        while True:
            kept = [sample.positions % step == 0 for sample in samples]
            if sum(int(np.count_nonzero(chosen)) for chosen in kept) <= most:
                break
            step *= _THINNING
        chosen = list(zip(samples, kept, strict=True))
        return cls(
            step,
            np.concatenate([sample.positions[k] for sample, k in chosen]),
            np.concatenate([sample.scores[:, k] for sample, k in chosen], axis=1),
        )


@attrs.frozen(eq=False)
class _ClassSummary:
    """Moments, number, and a sample of the non-targets of a task that has some."""

    moments: ClassMoments
    size: int
    sample: _Sample


def _summarise(_: int, blocks: ReadBlocks, *, most: int) -> _ClassSummary | None:
    """Collect moments and a sample of about `most` non-targets; None if there are none."""
    moments, sizes = [], []
    samples: list[_Sample] = []
    for rows, block in blocks:
        non = block.take_non()
        if not non.shape[1]:
            continue
        moments.append(class_moments(non))
        sizes.append(non.shape[1])
        # Each block begins to count elsewhere, so that small blocks take turns. 24 bits are kept,
        # so that positions in a block do not overflow.
        first = (rows.start * _SCATTER) % 2**64 >> 40
        samples.append(_Sample.of(non, first, samples[0].step if samples else 1, most))
        # Not with each block, because all that is kept is copied.
        if sum(sample.positions.size for sample in samples) > 2 * most:
            samples = [_Sample.merge(samples, most)]
    if not samples:
        return None
    sample = _Sample.merge(samples, most)
    return _ClassSummary(merge_moments(moments, sizes), sum(sizes), sample)


def _sum(shared: tuple[Pairs, LinearLoss], task: Task) -> ClassSums | None:
    """Sum a loss over the non-targets; None if there are none."""
    pairs, loss = shared
    parts = [loss.sum(non) for non in _non_targets(pairs, task)]
    return merge_sums(parts) if parts else None


def _non_targets(pairs: Pairs, task: Task) -> Iterator[FloatArray]:
    """Yield the scores of the non-targets of each block that has some."""
    i, blocks = task
    for block in pairs[i].read(blocks, ahead=reads_ahead()):
        non = block.take_non()
        if non.shape[1]:
            yield non


def _count_faults(shared: tuple[Pairs, None], task: Task) -> IndexArray:
    """Count scores that cannot be trained on: by class, system, and kind."""
    (pairs, _), (i, blocks) = shared, task
    counts = np.zeros((2, len(pairs[i].scores), 2), dtype=np.int64)
    for block in pairs[i].read(blocks):
        for of_class, label in zip(counts, (1, -1), strict=True):
            magnitudes = np.abs(block.scores_of(label))
            infinite = np.isinf(magnitudes)
            of_class[:, 0] += np.count_nonzero(infinite, axis=1)
            of_class[:, 1] += np.count_nonzero(~infinite & (magnitudes > LARGEST_SCORE), axis=1)
    return counts


@attrs.frozen(eq=False, kw_only=True)
class FileObjective(TrainingObjective):
    """The objective of a linear calibration or fusion of scores in files; see `from_passes`.

    `non` are all non-targets, or evenly spaced ones of `n_in_files`; `known_moments` are those of
    all targets and non-targets.
    """

    passes: FilePasses
    n_in_files: int
    known_moments: tuple[ClassMoments, ClassMoments]

    @classmethod
    def from_passes(
        cls, passes: FilePasses, ids: Sequence[TrialIds], rule: RuleAtPrior, *, needs_all: bool
    ) -> Self:
        """Look at all scores of one pair of files once; refuse missing ones if all are needed."""
        tasks = passes.tasks()
        summarise = partial(_summarise, most=max(1, _KEPT // max(1, len(tasks))))
        found = passes.first(summarise, ids, "training scores", tasks, needs_all=needs_all)
        tar = np.concatenate([part.tar for part in found], axis=1)
        non = [part.kept for part in found if part.kept is not None]
        sizes = [part.size for part in non]
        moments = merge_moments([part.moments for part in non], sizes)
        return cls(
            rule=rule[0],
            prior=rule[1],
            plo=rule[2],
            tar=tar,
            non=_Sample.merge([part.sample for part in non], max(_KEPT, len(non))).scores,
            passes=passes,
            n_in_files=sum(sizes),
            known_moments=(class_moments(tar), moments),
        )

    @property
    def n_non(self) -> int:
        """Number of non-target trials, those that are not in memory included."""
        return self.n_in_files

    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""
        return self.known_moments

    def refuse_non_finite(self) -> None:
        """Raise with counts, for each file, of what cannot be trained on; one more pass."""
        counts = np.sum(self.passes.run(_count_faults, None, "scores that are not finite"), axis=0)
        (source,) = self.passes.pairs
        totals = {"targets": self.n_tar, "non-targets": self.n_non}
        complaints = [
            f"{count} of {total} scores of {noun} in {file.path} are {what}"
            for (noun, total), of_class in zip(totals.items(), counts, strict=True)
            for file, of_file in zip(source.scores, of_class, strict=True)
            for what, count in zip(("infinite", f"beyond {LARGEST_SCORE:g}"), of_file, strict=True)
            if count
        ]
        raise_complaints(complaints)

    def parts(self) -> list[TrainingObjective]:
        """Return objectives on ever more trials; the last is on those in memory."""
        common = attrs.fields_dict(TrainingObjective)
        here = TrainingObjective(**{name: getattr(self, name) for name in common})
        return [*here.parts(), *([] if self._is_in_memory else [here])]

    @property
    def _is_in_memory(self) -> bool:
        return bool(self.non.shape[1] == self.n_in_files)

    def sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        """Return the sums of targets, then of non-targets, for posterior log-odds of a target."""
        if self._is_in_memory:
            return super().sums(coefficients)
        tar = self.loss(-coefficients).sum(self.tar)
        loss = self.loss(coefficients)
        parts = self.passes.run(_sum, loss, f"objective ({self.rule.name})")
        non = merge_sums([part for part in parts if part is not None])
        check_unchanged(non.total, self.n_in_files)
        return tar, non
