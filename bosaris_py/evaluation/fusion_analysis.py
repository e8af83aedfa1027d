"""Compare a fusion with its subsystems, on trials with a key and on trials without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, Readable, mark_read_only
from bosaris_py._cautions import hushed
from bosaris_py._tables import text_table
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.errors import SuspectScoresWarning
from bosaris_py.evaluation.results import Results
from bosaris_py.evaluation.streaming import target_proportions_of_files
from bosaris_py.numerics.llr_cost import estimate_target_proportions, kl_divergence
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring_rules import resolve_prior
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.key import AnyNdx
from bosaris_py.trials.scores import AnyScores, stack_scores, stack_tar_non

Systems = Mapping[str, AnyScores] | Sequence[AnyScores]

_SAME = attrs.cmp_using(eq=np.array_equal)


@attrs.frozen(kw_only=True, repr=False)
class SystemComparison(metaclass=Readable):
    """How well subsystems and fusions do on the same trials, whose labels are known.

    Make one with `from_scores`; ``print`` shows it as a table.

    Parameters
    ----------
    names : tuple of str
        Names of the systems.
    n_tar, n_non : int
        Number of targets and of non-targets.
    prior : OperatingPoint
        Where the costs are taken.
    estimated_proportions : (n_systems,) ndarray of float64
        Which share of the trials each system takes for targets; for calibrated
        scores near `target_proportion`.
    act_dcf, min_dcf : (n_systems,) ndarray of float64
        Actual and minimum detection cost, divided by that of the better decision made
        without a detector.
    prbep : (n_systems,) ndarray of float64
        Precision-recall break-even point, a number of errors.

    See Also
    --------
    SystemDivergence : What can be said about new trials without their labels.

    Notes
    -----
    BOSARIS: ``analyse_dev_lin_fusion.m``, ``analyse_dev_lin_and_qual_fusion.m``, which print and
    return nothing, and ``evalAll.m``, which gives the costs in per cent.

    Examples
    --------
    >>> from bosaris_py import Key, Scores
    >>> models, segments = ["anna"], ["s1", "s2", "s3", "s4"]
    >>> key = Key(models, segments, [[True, True, False, False]], [[False, False, True, True]])
    >>> good = Scores([[3.0, 2.0, -4.0, -1.0]], models, segments)
    >>> poor = Scores([[0.5, -1.0, 1.0, -2.0]], models, segments)
    >>> print(SystemComparison.from_scores({"good": good, "poor": poor}, key, prior=0.5))
    2 targets, 2 non-targets: 50 % targets. Normalized costs at prior 0.5, unit costs.
    system  targets (%)  act. DCF  min. DCF  PRBEP
    good          53.01    0.0000    0.0000   0.00
    poor          43.54    1.0000    0.5000   0.67
    """

    names: tuple[str, ...]
    n_tar: int
    n_non: int
    prior: OperatingPoint
    estimated_proportions: Float64Array = attrs.field(eq=_SAME)
    act_dcf: Float64Array = attrs.field(eq=_SAME)
    min_dcf: Float64Array = attrs.field(eq=_SAME)
    prbep: Float64Array = attrs.field(eq=_SAME)

    @classmethod
    def from_scores(
        cls, systems: Systems, key: KeyLike, *, prior: float | OperatingPoint
    ) -> "SystemComparison":
        """Evaluate systems on the trials of a key.

        Parameters
        ----------
        systems : mapping of str to Scores or FlatScores, or sequence of these
            Log-likelihood-ratios of each system, for every trial of the key; by custom the
            fusions last. A sequence is named 1, 2, and so on.
        key : Key or FlatKey, or pair (key, metadata)
            Which trials are targets and which non-targets.
        prior : float or OperatingPoint
            Where the costs are taken.

        Returns
        -------
        SystemComparison

        Raises
        ------
        TrialMismatchError
            If a system lacks scores; says how many for each.
        """
        names, scores = _named(systems)
        key, _ = split_key(key)
        tar, non = stack_tar_non(scores, key)
        results = [Results(*classes) for classes in zip(tar, non, strict=True)]
        stack = np.concatenate((tar, non), axis=1)
        # Proportions are estimated with the true one for prior: a calibrated system finds it.
        shares = estimate_target_proportions(stack, key.n_tar / key.n_trials)
        return cls._judged(names, results, shares, prior)

    @classmethod
    def from_files(
        cls,
        systems: Mapping[str, FilePath],
        key_file: FilePath,
        *,
        prior: float | OperatingPoint,
        **options: Any,
    ) -> "SystemComparison":
        """Evaluate systems in HDF5 files of any size, in four passes over them.

        Parameters
        ----------
        systems : mapping of str to path
            File of the scores of each system, for every trial of the key.
        key_file : str or path-like
            File of the key.
        prior : float or OperatingPoint
            Where the costs are taken.
        **options
            ``block_rows``, ``workers``, ``progress``, as for `Results.from_files
            <bosaris_py.Results.from_files>`.

        Returns
        -------
        SystemComparison

        Raises
        ------
        TrialMismatchError, FileFormatError, RuntimeError
            As for `from_scores`, and for `Results.from_files <bosaris_py.Results.from_files>`.
        """
        given: object = systems
        if not isinstance(given, Mapping) or not given:
            raise invalid("systems", "map names to score files", describe(given))
        shares = target_proportions_of_files(list(systems.values()), key_file, **options)
        results = [
            Results.from_files(file, key_file, priors=prior, **options) for file in systems.values()
        ]
        return cls._judged(tuple(systems), results, shares, prior)

    @classmethod
    def _judged(
        cls,
        names: tuple[str, ...],
        results: Sequence[Results],
        shares: Float64Array,
        prior: float | OperatingPoint,
    ) -> "SystemComparison":
        """Collect the figures of systems."""
        point = prior if isinstance(prior, OperatingPoint) else OperatingPoint(prior)
        # Raw scores stand beside the fusion on purpose.
        with hushed(SuspectScoresWarning):
            actual = [result.act_dcf(point, normalize=True) for result in results]
        figures = {
            "estimated_proportions": shares,
            "act_dcf": np.array(actual),
            "min_dcf": np.array([result.min_dcf(point, normalize=True) for result in results]),
            "prbep": np.array([result.prbep for result in results]),
        }
        arrays = _read_only(figures)
        n_tar, n_non = results[0].n_tar, results[0].n_non
        return cls(names=names, n_tar=n_tar, n_non=n_non, prior=point, **arrays)

    @property
    def target_proportion(self) -> float:
        """The true share of targets among the trials."""
        return self.n_tar / (self.n_tar + self.n_non)

    def __repr__(self) -> str:
        """Show the counts in one line."""
        return (
            f"{type(self).__name__}: {len(self.names)} systems, {self.n_tar} targets, "
            f"{self.n_non} non-targets"
        )

    def __str__(self) -> str:
        """Return the table as text."""
        point = self.prior
        costs = "unit costs"
        if (point.c_miss, point.c_fa) != (1.0, 1.0):
            costs = f"miss costs {point.c_miss:.4g}, false alarm {point.c_fa:.4g}"
        head = (
            f"{self.n_tar} targets, {self.n_non} non-targets: "
            f"{100 * self.target_proportion:.4g} % targets. "
            f"Normalized costs at prior {point.p_target:.4g}, {costs}."
        )
        columns = {
            "targets (%)": [f"{100 * share:.2f}" for share in self.estimated_proportions],
            "act. DCF": [f"{cost:.4f}" for cost in self.act_dcf],
            "min. DCF": [f"{cost:.4f}" for cost in self.min_dcf],
            "PRBEP": [f"{count:.2f}" for count in self.prbep],
        }
        return "\n".join((head, *_table(self.names, columns)))


@attrs.frozen(kw_only=True, repr=False)
class SystemDivergence(metaclass=Readable):
    """How far systems are apart, on development data and on trials without a key.

    Make one with `from_scores`; ``print`` shows it as tables. Where the systems agree on the
    development data but not on the new trials, at least one of them does not carry over.

    Parameters
    ----------
    names : tuple of str
        Names of the systems.
    assumed_prior : float
        Prior with which the proportions were estimated.
    estimated_proportions : (n_systems,) ndarray of float64
        Which share of the new trials each system takes for targets.
    prior : float
        Prior with which the divergences were computed.
    dev : (n_systems, n_systems) ndarray of float64
        On the development data: mean divergence, in nats, of the posteriors of the
        system in the column from those of the system in the row.
    evaluation : (n_systems, n_systems) ndarray of float64
        The same on the new trials.

    See Also
    --------
    SystemComparison : What can be said where the labels are known.

    Notes
    -----
    BOSARIS: ``analyse_eval_lin_fusion.m``, ``analyse_eval_lin_and_qual_fusion.m``, which print
    and return nothing, and ``kldivergence_of_systems.m``.

    Examples
    --------
    >>> from bosaris_py import Key, Scores
    >>> trials = ["anna"], ["s1", "s2", "s3", "s4"]
    >>> key = Key(*trials, [[True, True, False, False]], [[False, False, True, True]])
    >>> systems = {"good": Scores([[3.0, 2.0, -4.0, -1.0]], *trials),
    ...            "poor": Scores([[0.5, -1.0, 1.0, -2.0]], *trials)}
    >>> print(SystemDivergence.from_scores(systems, key, systems, key.to_ndx(), prior=0.5))
    Targets on the new trials, estimated with prior 0.08:
    system  targets (%)
    good          26.49
    poor           8.98
    Divergence on the development data at prior 0.5, nats / 100, row: reference
    system   good   poor
    good     0.00  60.59
    poor    98.81   0.00
    Divergence on the new trials at prior 0.5, nats / 100, row: reference
    system   good   poor
    good     0.00  60.59
    poor    98.81   0.00
    """

    names: tuple[str, ...]
    assumed_prior: float
    estimated_proportions: Float64Array = attrs.field(eq=_SAME)
    prior: float
    dev: Float64Array = attrs.field(eq=_SAME)
    evaluation: Float64Array = attrs.field(eq=_SAME)

    @classmethod
    def from_scores(
        cls,
        dev: Systems,
        key: KeyLike,
        evaluation: Systems,
        ndx: AnyNdx,
        *,
        prior: float | OperatingPoint | None = None,
        assumed_prior: float | OperatingPoint = 0.08,
    ) -> "SystemDivergence":
        """Compare systems on development data and on new trials.

        Parameters
        ----------
        dev : mapping of str to Scores or FlatScores, or sequence of these
            Scores for every trial of `key`, as for `SystemComparison.from_scores`.
        key : Key or FlatKey, or pair (key, metadata)
            The development trials. Both classes are averaged on their own.
        evaluation
            Scores of the same systems for every trial of `ndx`.
        ndx : Ndx, Key, FlatNdx or FlatKey
            The new trials; labels are not used.
        prior : float or OperatingPoint, optional
            Prior with which posteriors are formed for the divergence. By default the
            proportion of targets on the new trials as the last system estimates it.
        assumed_prior : float or OperatingPoint, default: 0.08
            Prior with which the proportions are estimated; the toolkit's.

        Returns
        -------
        SystemDivergence

        Raises
        ------
        TrialMismatchError
            As for `SystemComparison.from_scores`.
        """
        names, dev_scores = _named(dev)
        found, new_scores = _named(evaluation)
        if found != names:
            expected = f"hold the same systems as `dev`, {describe(list(names))}"
            raise invalid("evaluation", expected, describe(list(found)))
        key, _ = split_key(key)
        tar, non = stack_tar_non(dev_scores, key)
        assumed, _ = resolve_prior(assumed_prior)
        new = stack_scores(new_scores, ndx)
        estimates = estimate_target_proportions(new, assumed)
        # By custom the last system is the fusion.
        used, _ = resolve_prior(float(estimates[-1]) if prior is None else prior)
        # Targets stand first in the joined scores.
        labels = np.arange(key.n_trials) < key.n_tar
        known = kl_divergence(np.concatenate((tar, non), axis=1), used, is_target=labels)
        unknown = kl_divergence(new, used)
        arrays = {"estimated_proportions": estimates, "dev": known, "evaluation": unknown}
        return cls(names=names, assumed_prior=assumed, prior=used, **_read_only(arrays))

    def __repr__(self) -> str:
        """Show the systems and the prior in one line."""
        return f"{type(self).__name__}: {len(self.names)} systems at prior {self.prior:.4g}"

    def __str__(self) -> str:
        """Return the tables as text."""
        shares = [f"{100 * share:.2f}" for share in self.estimated_proportions]
        lines = [
            f"Targets on the new trials, estimated with prior {self.assumed_prior:.4g}:",
            *_table(self.names, {"targets (%)": shares}),
        ]
        for where, matrix in (("development data", self.dev), ("new trials", self.evaluation)):
            columns = {
                name: [f"{100 * value:.2f}" for value in column]
                for name, column in zip(self.names, matrix.T, strict=True)
            }
            lines.append(
                f"Divergence on the {where} at prior {self.prior:.4g}, nats / 100, row: reference"
            )
            lines.extend(_table(self.names, columns))
        return "\n".join(lines)


def _named(systems: Systems | AnyScores) -> tuple[tuple[str, ...], list[AnyScores]]:
    """Return the names of systems and their scores."""
    if isinstance(systems, AnyScores):
        hint = "Put the Scores of all systems into a list or a dict."
        raise invalid("systems", "be several Scores", f"one {type(systems).__name__}", hint)
    if isinstance(systems, Mapping):
        return tuple(str(name) for name in systems), list(systems.values())
    scores = list(systems)
    return tuple(str(number + 1) for number in range(len(scores))), scores


def _read_only(arrays: Mapping[str, Float64Array]) -> dict[str, Float64Array]:
    return {name: mark_read_only(array) for name, array in arrays.items()}


def _table(names: Sequence[str], columns: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the lines of a table with a row for each system."""
    return text_table([("system", *columns), *zip(names, *columns.values(), strict=True)])
