"""One call from scores to evaluated systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy.typing as npt

from bosaris_py._evaluation import Evaluation
from bosaris_py._notes import cautions
from bosaris_py._parallel import progress_bar
from bosaris_py._system_rows import Judging
from bosaris_py._tables import or_none
from bosaris_py._validation import (
    FilePath,
    Rng,
    as_seed,
    check_choice,
    check_fraction,
    describe,
    invalid,
    list_some,
)
from bosaris_py.evaluation import ConditionRow, EvaluationPlan, Results, SystemTable
from bosaris_py.evaluation.plans import presets
from bosaris_py.evaluation.results import named_points
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.conditions import ConditionsLike, as_conditions
from bosaris_py.trials.key import Key
from bosaris_py.trials.read import SystemsLike, as_systems, large_files, named_systems, read_if_path
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.speakers import SpeakersLike

if TYPE_CHECKING:
    from bosaris_py.evaluation import PrimaryCost


def evaluate(
    systems: SystemsLike | ResultsLike,
    key: Key | FilePath | None = None,
    *,
    prior: PriorLike = (0.01, 0.05),
    plan: EvaluationPlan | str | None = None,
    conditions: ConditionsLike = None,
    speakers: SpeakersLike = None,
    replications: int = 0,
    rng: Rng = None,
    normalize: bool = True,
    confidence: float = 0.95,
    cross_fit: Any = None,
    eer: EERDefinition | None = None,
    workers: int = 1,
    progress: bool = False,
) -> Evaluation:
    """Evaluate systems: a table of metrics, plots and paired tests.

    Parameters
    ----------
    systems : mapping of str to Scores or path
        Scores, or their file, by name of the system; for actual costs and Cllr
        log-likelihood-ratios. Single scores, or a list, have the names of the files, or numbers. A
        folder, or a pattern such as ``"scores/*.txt"``, stands for its files. Without a key also
        pairs (tar, non) of arrays, or `Results`.
    key : Key or path
        Which trials are targets and which non-targets; what `read_key` returns, or its file.
        HDF5 files that are large are evaluated in blocks, as by `evaluate_files`, if no other
        argument needs all trials.
    prior : float, OperatingPoint or sequence of them, default: (0.01, 0.05)
        Operating points of the actual and minimum costs.
    plan : EvaluationPlan or str, optional
        Adds the published cost of an evaluation, see `primary_cost`; most need columns of the key.
        Plans without an overall cost, as SRE10, add their points. Plans of three classes, as
        ASVspoof5-2, have figures of their own in place of all others. Those of two detectors, as
        ASVspoof2019-LA, take ``{"asv": ..., "cm": ...}``.
    conditions : Conditions, mapping, or name or names of columns, optional
        Adds a row for each condition, and one for all equalised; a mapping is as for
        `Conditions`, columns are of the key.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        The speaker of each model and segment, for confidence intervals: a map, a function of the
        id, or a column of the key. A pair is for (models, segments), a single value for
        both, where it fits. By default each model is a speaker of its own.
    replications : int, default: 0
        Replicates of a bootstrap over speakers, which gives the intervals. Without, and with
        `speakers`, all figures have intervals by the jackknife over speakers.
    rng : Generator, int or None
        Source of randomness. All systems see the same replicates.
    normalize : bool, default: True
        Divide costs by that of the better decision made without a detector.
    confidence : float, default: 0.95
        Nominal coverage of the intervals.
    cross_fit : class or True, optional
        Calibrate the scores before: each trial by a map that was trained without its speakers, see
        `bosaris_py.cross_fit`, in 5 folds. A class such as `LinearCalibration`, which True is.
        Maps are trained at their default prior, which is printed.
    eer : {"rocch", "interpolated", "step"}, optional
        Which equal error-rate the table has; see `bosaris_py.eer`. By default that of the plan, if
        it names one, else ``"rocch"``.
    workers : int, default: 1
        Number of threads for files that are read in blocks.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    Evaluation

    Raises
    ------
    InvalidInputError
        If trials are spoofs, and the plan is not one of three classes.
    TrialMismatchError
        As for `Results.from_scores`, `primary_cost` and
        `uncertainty.bootstrap_scores`.

    Warns
    -----
    MissingTrialsWarning, ConditionWarning, FewErrorsWarning, FewSpeakersWarning
        As for these; each names the system.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key(["anna", "bert"], ["s1", "s2", "s3"],
    ...              tar=[[True, False, True], [False, True, False]],
    ...              non=[[False, True, False], [True, False, True]])
    >>> systems = {"A": bp.Scores([[2.0, -1.0, 0.5], [-2.0, 1.0, 1.5]], key.modelset, key.segset),
    ...            "B": bp.Scores([[3.0, -1.0, 2.5], [-2.0, 1.0, 0.0]], key.modelset, key.segset)}
    >>> evaluate(systems, key, prior=0.5)
    system  EER (%)  minDCF(0.5)  actDCF(0.5)  minCllr    Cllr
    ----------------------------------------------------------
    A         22.22       0.3333       0.3333   0.4591  0.7348
    B          0.00       0.0000       0.3333   0.0000  0.3785
    (3 targets, 3 non-targets; costs are normalized; EER of the ROC's convex hull)
    """
    from bosaris_py.calibration.cross_fitting import cross_fit as fit_across
    from bosaris_py.calibration.linear import LinearCalibration
    from bosaris_py.evaluation.plans.primary_cost import primary_cost
    from bosaris_py.fusion import LinearFusion, QualityFusion

    chosen = None if plan is None else presets.find_plan(plan)
    definition = _definition(eer, chosen)
    only_whole = plan, conditions, speakers, cross_fit, replications or None
    whole = any(part is not None for part in only_whole)
    if key is None:
        results = _results_by_name(systems)
        if whole:
            expected = "be Scores of trials, with a key, for all options but prior and eer"
            raise invalid("systems", expected, describe(systems), "See Scores.from_trials.")
        how = _without_key(prior, normalize=normalize, eer=definition)
        return _of_results(results, how)
    large = () if whole else large_files(systems, key)
    if large:
        return evaluate_files(
            *large,
            prior=prior,
            normalize=normalize,
            eer=definition,
            workers=workers,
            progress=progress,
        )
    named = as_systems(systems)
    key = read_if_path(key)
    presets.refuse_spoofs(key, chosen)
    points = named_points(prior)
    if chosen is not None and chosen.by_condition:
        # The cost of each condition is the plan's.
        own = [p.p_target if p.c_miss == p.c_fa == 1 else p for p in chosen.operating_points]
        points = named_points(list(dict.fromkeys([*points.values(), *own])))
    model = LinearCalibration if cross_fit is True else cross_fit
    if model is not None and (model is LinearFusion or model is QualityFusion):
        hint = "Fuse systems first, and evaluate cross_fit(LinearFusion, [...], key).scores."
        raise invalid("cross_fit", "be a calibration, which has one system", describe(model), hint)
    how = Judging(
        key=key,
        points=points,
        normalize=normalize,
        conditions=as_conditions(conditions, key),
        speakers=speakers,
        replications=replications,
        seed=as_seed(rng),
        confidence=check_fraction(confidence, "confidence"),
        eer=definition,
    )
    if replications:
        how.resampling()
    if chosen is not None and chosen.figures:
        for what, ruled_out in (("conditions", conditions), ("cross_fit", cross_fit)):
            if ruled_out is not None:
                raise invalid(what, f"be left out with the plan {chosen.name}", describe(ruled_out))
        return _by_plan(named, how, chosen)
    results = {}
    samples: dict[str, Sample] = {}
    primary: dict[str, PrimaryCost] = {}
    rows: list[tuple[str, ConditionRow]] = []
    with cautions() as heard:
        for name in progress_bar([*named], shown=progress, unit="system"):
            with cautions(system=name):
                if model is not None:
                    fitted = fit_across(
                        model, named[name], key, speakers=how.speakers, rng=how.seed
                    )
                    named[name] = fitted.scores
                    how = attrs.evolve(how, calibrated=_calibrated(model, fitted.final))
                scores = named[name]
                samples[name] = how.sample(scores)
                results[name] = Results.from_sample(samples[name])
                cost: PrimaryCost | None = None
                if chosen is not None:
                    judged = primary_cost(scores, key, chosen)
                    if not chosen.by_condition:
                        cost = how.with_intervals(judged, scores, samples[name])
                    primary[name] = cost or judged
                of_system = how.rows(scores, samples[name], results[name])
            rows += [(name, _with_primary(row, cost)) for row in of_system]
    return Evaluation(
        table=SystemTable(rows, cautions=heard),
        results=results,
        primary=primary,
        plan=chosen,
        systems=named,
        samples=samples,
        judging=how,
        heard=heard,
    )


def _by_plan(named: dict[str, Scores], how: Judging, plan: EvaluationPlan) -> Evaluation:
    """Evaluate systems by a plan of three classes, which has all of the figures."""
    how = attrs.evolve(how, points={}, normalize=plan.normalize)
    if plan.detectors == 2 and set(named) != {"asv", "cm"}:
        expected = f"be two detectors, named asv and cm, for the plan {plan.name}"
        hint = 'evaluate({"asv": verifier, "cm": countermeasure}, key, plan=...).'
        raise invalid("systems", expected, list_some(map(repr, named)), hint)
    rows = []
    with cautions() as heard:
        presets.warn_of_attacks(plan, how.key)
        if plan.detectors == 2:
            rows.append(("asv and cm", how.row_of_plan(plan, how.tandem(named))))
        for name, scores in named.items() if plan.detectors == 1 else ():
            with cautions(system=name):
                if plan.sets:
                    rows += [(name, row) for row in how.rows_of_sets(plan, scores)]
                else:
                    rows.append((name, how.row_of_plan(plan, how.sample(scores))))
    return _evaluation(how, SystemTable(rows, cautions=heard), {}, plan, named)


def _evaluation(
    how: Judging,
    table: SystemTable,
    results: Mapping[str, Results],
    plan: EvaluationPlan | None = None,
    systems: Mapping[str, Scores] | None = None,
) -> Evaluation:
    """Return an evaluation without the samples that pairs of systems and bands take."""
    return Evaluation(
        table=table,
        results=results,
        primary={},
        plan=plan,
        systems=systems or {},
        samples={},
        judging=how,
        heard=table.cautions,
    )


def evaluate_files(
    systems: Mapping[str, FilePath],
    key_file: FilePath,
    *,
    prior: PriorLike = (0.01, 0.05),
    normalize: bool = True,
    eer: EERDefinition | None = None,
    base: float | None = None,
    workers: int = 1,
    progress: bool = False,
) -> Evaluation:
    """Evaluate systems in HDF5 files in blocks, however large or small they are.

    Parameters
    ----------
    systems : mapping of str to path
        HDF5 file of the scores of each system, by its name; or one file, or a list.
    key_file : str or path-like
        HDF5 file of the key.
    prior, normalize, eer
        As for `evaluate`.
    base, workers, progress
        As for `Results.from_files <bosaris_py.Results.from_files>`.

    Returns
    -------
    Evaluation
        Its figures are those of `evaluate`, Cllr to 1e-12; it does not compare pairs.

    Raises
    ------
    FileFormatError, RuntimeError
        As for `Results.from_files <bosaris_py.Results.from_files>`.

    Warns
    -----
    MissingTrialsWarning
        If the key holds trials without score; it names the system.
    """
    definition = _definition(eer, None)
    how = _without_key(prior, normalize=normalize, eer=definition)
    results: dict[str, Results] = {}
    rows: list[tuple[str, ConditionRow]] = []
    with cautions() as heard:
        for name, file in named_systems(systems).items():
            if isinstance(file, Scores):
                raise invalid(f"systems[{name!r}]", "be a file", describe(file), "See `evaluate`.")
            with cautions(system=name):
                results[name] = Results.from_files(
                    file, key_file, prior=how.prior, base=base, workers=workers, progress=progress
                )
                rows.append((name, how.pooled(results[name])))
    return _evaluation(how, SystemTable(rows, cautions=heard), results)


def _definition(eer: EERDefinition | None, plan: EvaluationPlan | None) -> EERDefinition:
    """Return which equal error-rate is asked for; by default that of a plan."""
    of_plan = None if plan is None else plan.eer
    definition: EERDefinition = of_plan or "rocch" if eer is None else eer
    check_choice(definition, EERDefinition, "eer")
    return definition


# What can be judged without a key, by name.
ResultsLike: TypeAlias = (
    Mapping[str, Results | tuple[npt.ArrayLike, npt.ArrayLike]] | Results | Sequence[Results]
)


def _results_by_name(systems: object) -> dict[str, Results]:
    """Return results by name, of which pairs of arrays are made."""
    given = systems if isinstance(systems, Mapping | list) else [systems]
    if not isinstance(given, Mapping):
        numbered = {f"system {number}": item for number, item in enumerate(given, start=1)}
        given = {"system": given[0]} if len(given) == 1 else numbered
    if not given:
        raise invalid("systems", "hold at least one system", "none")
    found = {}
    for name, item in given.items():
        if isinstance(item, tuple) and len(item) == 2:
            found[str(name)] = Results(*item)
        elif isinstance(item, Results):
            found[str(name)] = item
        else:
            hint = "Scores and files take a key: evaluate(systems, key)."
            expected = "be Results or a pair (tar, non) where there is no key"
            raise invalid(f"systems[{name!r}]", expected, describe(item), hint)
    return found


def _without_key(prior: PriorLike, *, normalize: bool, eer: EERDefinition) -> Judging:
    """Return how systems are evaluated of which there are no trials in memory."""
    return Judging(
        key=None,
        points=named_points(prior),
        normalize=normalize,
        conditions=None,
        speakers=None,
        replications=0,
        seed=0,
        confidence=0.95,
        eer=eer,
    )


def _of_results(results: Mapping[str, Results], how: Judging) -> Evaluation:
    """Evaluate systems by their results alone."""
    rows = []
    with cautions() as heard:
        for name, found in results.items():
            with cautions(system=name):
                rows.append((name, how.pooled(found)))
    return _evaluation(how, SystemTable(rows, cautions=heard), results)


def _calibrated(model: object, final: object) -> str:
    """Say how scores were calibrated; not every map has a prior, and a bounded one has a map."""
    prior = getattr(getattr(final, "map", final), "prior", None)
    trained = "" if prior is None else f", trained at prior {prior:g}"
    return f"cross-fitted: {getattr(model, '__name__', model)}{trained}"


def _with_primary(row: ConditionRow, primary: PrimaryCost | None) -> ConditionRow:
    """Add the primary cost, which is of all trials, and its intervals."""
    if primary is None or primary.pooled:
        return row
    of_all = row.kind == "pooled"
    figures = {
        "min_primary": or_none(primary.minimum) if of_all else None,
        "act_primary": or_none(primary.actual) if of_all else None,
    }
    kinds = {"min_primary": "minimum", "act_primary": "actual"}
    own = {n: primary.intervals[k] for n, k in kinds.items() if of_all and k in primary.intervals}
    found = {**row.intervals, **own}
    return attrs.evolve(row, figures={**row.figures, **figures}, intervals=found)
