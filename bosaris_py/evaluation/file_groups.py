"""Groups of the trials of key files, by conditions or columns of metadata: a number for each.

A group is a combination of levels of some factors. Its number has a digit for each factor, the
last one running fastest. A digit is a position in the factor's levels. A factor may need the
trials: a column of models or segments does not. It then has two digits more: `none` for trials
without a level, `several` for trials with several.

Invariant: the number of a trial is a sum of three parts. The parts of its model and of its segment
are known beforehand. The part of the trial itself is found when a block is read. Each factor enters
one part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, IndexArray, StrArray
from bosaris_py._validation import invalid
from bosaris_py.errors import TrialMismatchError
from bosaris_py.storage.factors import Factor
from bosaris_py.trials import Conditions, FlatNdx, Ndx, TrialMetadata
from bosaris_py.trials.blocks import TrialBlock, TrialIds
from bosaris_py.trials.key import AnyNdx

# More combinations of values are a mistake, such as a column of ids.
_MOST_GROUPS = 10_000


@attrs.frozen(eq=False)
class GroupFactor:
    """One factor that divides trials, and its place in the numbers of groups."""

    name: str
    levels: StrArray
    # What finds the level of each trial; None where model or segment has it.
    by_trial: Conditions | None
    # What one of its digits counts in the number of a group.
    step: int = 1

    @property
    def none(self) -> int:
        """The digit of trials without a level."""
        return self.levels.size

    @property
    def several(self) -> int:
        """The digit of trials with several levels."""
        return self.levels.size + 1

    @property
    def n_digits(self) -> int:
        """Number of its digits."""
        return self.levels.size if self.by_trial is None else self.several + 1

    def digits(self, groups: npt.ArrayLike) -> IndexArray:
        """Return its digit in the numbers of some groups."""
        return np.asarray(groups, dtype=np.intp) // self.step % self.n_digits


@attrs.frozen(eq=False)
class GroupNumbers:
    """What gives each trial of key files the number of its group."""

    factors: tuple[GroupFactor, ...]
    # For each key file, the parts of its models and of its segments in the numbers.
    of_ids: tuple[tuple[AnyArray, AnyArray], ...]
    ids: tuple[TrialIds, ...]

    @classmethod
    def of(
        cls, division: Conditions | TrialMetadata, columns: Sequence[str], ids: Sequence[TrialIds]
    ) -> Self:
        """Divide by conditions, or by columns of metadata."""
        if isinstance(division, Conditions):
            for each in ids:
                division.rows((each.modelset.size, each.segset.size))
            factors = [GroupFactor("condition", np.array(division.names), division)]
        else:
            factors = [_factor_of_column(division, name) for name in columns]
        size = math.prod(factor.n_digits for factor in factors)
        if size > _MOST_GROUPS:
            expected = f"have at most {_MOST_GROUPS} combinations of values"
            raise invalid("conditions", expected, str(size), "Is a column one of ids?")
        step, placed = size, []
        for factor in factors:
            step //= max(1, factor.n_digits)
            placed.append(attrs.evolve(factor, step=step))
        of_ids = tuple(_numbers_of_ids(division, placed, each, size) for each in ids)
        return cls(tuple(placed), of_ids, tuple(ids))

    def refuse_undescribed(self, n_trials: Mapping[int, int]) -> None:
        """Raise if trials have no value in a column of trials."""
        numbers = np.array(list(n_trials))
        lacking = [factor.digits(numbers) >= factor.none for factor in self.factors]
        count = sum(n_trials[number] for number in numbers[np.any(lacking, axis=0)].tolist())
        if count:
            raise TrialMismatchError(f"The metadata do not describe {count} trials of the key.")

    def of_cells(self, i: int, block: TrialBlock) -> AnyArray:
        """Return the group of each cell of a block of the i-th key, in a vector."""
        (of_models, of_segments), ids = self.of_ids[i], self.ids[i]
        # 1. The parts of model and segment.
        if block.cells is not None:
            models, segments = block.cells
            numbers: AnyArray = of_models[models] + of_segments[segments]
        else:
            numbers = np.add.outer(of_models[block.rows], of_segments).ravel()
        by_trial = [factor for factor in self.factors if factor.by_trial is not None]
        if not by_trial:
            return numbers
        # 2. The trials of the block, and their cells.
        if block.cells is not None:
            trials: AnyNdx = FlatNdx(ids.modelset, ids.segset, *block.cells)
            cells = np.arange(numbers.size)
        else:
            trials = Ndx(ids.modelset[block.rows], ids.segset, block.labels != 0)
            cells = np.ravel_multi_index(trials.trial_positions(), trials.shape)
        # 3. The part of the trial.
        for factor in by_trial:
            assert factor.by_trial is not None
            conditions = factor.by_trial
            if block.cells is None:
                conditions = conditions.rows((of_models.size, of_segments.size), block.rows)
            numbers[cells] += (conditions.numbers(trials) * factor.step).astype(numbers.dtype)
        return numbers


def _factor_of_column(metadata: TrialMetadata, name: str) -> GroupFactor:
    """Return what divides trials by a column; its place in the numbers is not known yet."""
    kind, column = metadata.stored(name)
    if kind != "trial":
        return GroupFactor(name, column.levels, None)
    conditions = Conditions.from_factors(metadata.trials, {name: column})
    return GroupFactor(name, np.array(conditions.names), conditions)


def _numbers_of_ids(
    division: Conditions | TrialMetadata, factors: Sequence[GroupFactor], ids: TrialIds, size: int
) -> tuple[AnyArray, AnyArray]:
    """Return the parts of the models and of the segments of a key in the numbers of groups."""
    dtype = np.min_scalar_type(size)
    models, segments = (np.zeros(side.size, dtype=dtype) for side in (ids.modelset, ids.segset))
    if isinstance(division, TrialMetadata):
        nothing = np.zeros(0, dtype=np.intp)
        # No trial of the key is needed to find its models and segments.
        described = division.for_trials(FlatNdx(ids.modelset, ids.segset, nothing, nothing))
        for factor in factors:
            if factor.by_trial is None:
                kind, column = described.stored(factor.name)
                side = models if kind == "model" else segments
                side += (column.codes.astype(np.intp) * factor.step).astype(dtype)
    return models, segments


def describe_groups(factors: Sequence[GroupFactor], groups: npt.ArrayLike) -> TrialMetadata:
    """Describe groups, one trial for each, by the factors that divide them."""
    names = [str(number) for number in range(np.size(groups))]
    positions = np.arange(len(names))
    return TrialMetadata(
        FlatNdx(names, ["files"], positions, np.zeros_like(positions)),
        {factor.name: Factor(factor.digits(groups), factor.levels) for factor in factors},
    )
