"""One call from scores to an evaluation: samples, metrics, intervals, rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy.typing as npt

from bosaris_py._notes import Note, said_of_all, warn
from bosaris_py._parallel import progress_bar
from bosaris_py._validation import (
    FilePath,
    Rng,
    as_flag,
    as_seed,
    check_choice,
    check_fraction,
    describe,
    invalid,
    list_some,
)
from bosaris_py.calibration.base import ScoreMap
from bosaris_py.calibration.cross_fitting import CrossFit, cross_fitted
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.errors import TrialMismatchError
from bosaris_py.evaluation.evaluation import Evaluation
from bosaris_py.evaluation.plan_costs import PrimaryCost, judge_by_plan
from bosaris_py.evaluation.plans import EvaluationPlan, find_plan, refuse_spoofs, strange_attacks
from bosaris_py.evaluation.results import Results
from bosaris_py.evaluation.rows import Judging, Row, named_points, rows_of
from bosaris_py.metrics.costs import ActDCF, MinDCF
from bosaris_py.metrics.tandem import tandem_sample
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.conditions import Conditions, ConditionsLike, as_conditions
from bosaris_py.trials.key import Key
from bosaris_py.trials.large import TrialFiles, as_pairs
from bosaris_py.trials.large_sample import LargeSample
from bosaris_py.trials.read import SystemsLike, as_systems, large_files, read_if_path
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers

# What can be judged without a key, by name.
ListsLike: TypeAlias = Mapping[str, Results | tuple[npt.ArrayLike, npt.ArrayLike]] | Results

# What makes log-likelihood-ratios first: True is `LinearCalibration`.
CrossFitLike: TypeAlias = bool | type | CrossFit[Any] | None


def evaluate(
    systems: SystemsLike | ListsLike,
    key: Key | FilePath | None = None,
    *,
    prior: PriorLike = (0.01, 0.05),
    plan: EvaluationPlan | str | None = None,
    conditions: ConditionsLike = None,
    speakers: SpeakersLike = None,
    replications: int = 0,
    confidence: float = 0.95,
    normalize: bool = True,
    eer: EERDefinition | None = None,
    cross_fit: CrossFitLike = None,
    allow_missing: bool = False,
    rng: Rng = None,
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
        Which trials are targets and which non-targets; what `read_key` returns, or its file. HDF5
        files that together are above a tenth of memory are read in blocks, and then `plan`,
        `conditions`, `speakers` and `cross_fit` are refused.
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
        The speaker of each model and segment: a map, a function of the id, or a column of the key.
        A pair is for (models, segments), a single value for both, where it fits. Every figure then
        has its interval by the jackknife over speakers.
    replications : int, default: 0
        Replicates of a bootstrap over speakers, which gives the intervals in place of the
        jackknife. Without `speakers` each model is a speaker of its own.
    confidence : float, default: 0.95
        Nominal coverage of the intervals.
    normalize : bool, default: True
        Divide costs by that of the better decision made without a detector.
    eer : {"rocch", "interpolated", "step"}, optional
        Which equal error-rate the table has; see `bosaris_py.eer`. By default that of the plan, if
        it names one, else ``"rocch"``.
    cross_fit : True, class or CrossFit, optional
        Calibrate the scores before: each trial by a map that was trained without its speakers, see
        `bosaris_py.cross_fit`, in 5 folds. True is `LinearCalibration`; the CrossFit is one of a
        single system.
    allow_missing : bool, default: False
        Allow that more than half of the trials of the key have no score.
    rng : Generator, int or None
        Source of randomness. All systems see the same replicates.
    workers : int, default: 1
        Number of processes for files that are read in blocks.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    Evaluation

    Raises
    ------
    InvalidInputError
        If an argument is wrong, or the plan does not fit the key.
    TrialMismatchError
        If ids of scores and key never meet, if more than half of the trials have no score, and as
        for `primary_cost` and `Conditions`.

    Warns
    -----
    MissingTrialsWarning, FewSpeakersWarning, SuspectScoresWarning
        Once of each kind, with the names of the systems; the table has the same as footnotes.

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
    chosen = None if plan is None else find_plan(plan)
    of_plan = None if chosen is None else chosen.eer
    definition: EERDefinition = eer or of_plan or "rocch"
    check_choice(definition, EERDefinition, "eer")
    how = Judging(
        points=named_points(prior),
        plan=chosen,
        normalize=as_flag(normalize, "normalize"),
        eer=definition,
        confidence=check_fraction(confidence, "confidence"),
        replications=replications,
        seed=as_seed(rng),
        by_speaker=bool(replications) or _is_told(speakers),
    )
    asked = {
        "plan": plan,
        "conditions": conditions,
        "speakers": speakers,
        "cross_fit": cross_fit,
        "replications": replications or None,
    }
    large = () if key is None else large_files(systems, key)
    if key is None or large:
        for name, value in asked.items():
            if value is not None:
                where = "files of that size" if large else "lists of scores without a key"
                raise invalid(name, f"be left out of {where}", describe(value))
        samples = (
            _samples_in_files(*large, how, workers, progress=progress)
            if large
            else _samples_of_lists(systems)
        )
        found = [rows_of(how, name, sample, None) for name, sample in samples.items()]
        return Evaluation(how=how, samples=samples, **_collected(found))
    named, key = as_systems(systems), read_if_path(key)
    how = _fitting(how, key, named, conditions, cross_fit)
    given = None if conditions is None else as_conditions(conditions, key)
    who = TrialSpeakers.from_key(key, speakers) if how.by_speaker else None
    fitted: dict[str, Scores] = {}
    samples, found, primary = {}, [], {}
    joined = {"asv and cm": None} if chosen is not None and chosen.detectors == 2 else named
    for name in progress_bar([*joined], shown=True, unit="system") if progress else joined:
        scores = joined[name]
        if scores is None:
            samples[name] = tandem_sample(named["asv"], named["cm"], key, who)
            found.append(rows_of(how, name, samples[name], None))
            continue
        trained: list[Note] = []
        if cross_fit is not None:
            scores, how, trained = _cross_fitted(how, cross_fit, scores, key, speakers)
        fitted[name] = scores
        sample = Sample.from_trials(scores, key, None, who)
        _refuse_missing(name, sample, key, allow=allow_missing)
        samples[name] = sample
        members, notes = (None, []) if given is None else given.noted_members(scores, key)
        if chosen is not None and chosen.sets:
            of_sets, _ = Conditions.crossed(key, chosen.sets).noted_members(scores, key)
            rows, more = rows_of(how, name, sample, of_sets)
            rows = _mean_of_sets(rows, chosen)
        else:
            rows, more = rows_of(how, name, sample, members)
        if chosen is not None and not chosen.figures:
            cost, doubts = judge_by_plan(scores, key, chosen)
            primary[name] = cost
            more += [attrs.evolve(note, about=name) for note in doubts]
            if not chosen.by_condition:
                rows = _with_primary(how, rows, cost, sample)
        more += [attrs.evolve(note, about=name) for note in trained]
        found.append((rows, [*notes, *more]))
    strange = [] if chosen is None else strange_attacks(chosen, key)
    return Evaluation(
        how=how,
        samples=samples,
        **_collected([*found, ([], strange)]),
        systems=fitted or named,
        primary=primary,
        key=key,
        conditions=given,
        speakers=speakers,
    )


def _collected(found: Sequence[tuple[Sequence[Row], Sequence[Note]]]) -> dict[str, Any]:
    """Return rows and notes as fields of an evaluation, and warn."""
    rows = tuple(row for part, _ in found for row in part)
    notes = said_of_all([note for _, part in found for note in part], {row.system for row in rows})
    warn(notes)
    return {"rows": rows, "notes": tuple(notes)}


def _is_told(speakers: SpeakersLike) -> bool:
    """Tell whether speakers of models or of segments are given."""
    told = speakers if isinstance(speakers, tuple) else (speakers,)
    return any(one is not None for one in told)


def _fitting(
    how: Judging,
    key: Key,
    systems: Mapping[str, Scores],
    conditions: ConditionsLike,
    cross_fit: CrossFitLike,
) -> Judging:
    """Return how systems are judged on a key; raise where plan, key and systems do not fit."""
    plan = how.plan
    how = attrs.evolve(how, spoofs=key.n_spoof > 0)
    if plan is None:
        return how
    refuse_spoofs(key, plan)
    if plan.figures:
        for what, ruled_out in (("conditions", conditions), ("cross_fit", cross_fit)):
            if ruled_out is not None:
                raise invalid(what, f"be left out with the plan {plan.name}", describe(ruled_out))
        if plan.detectors == 2 and set(systems) != {"asv", "cm"}:
            expected = f"be two detectors, named asv and cm, for the plan {plan.name}"
            hint = 'evaluate({"asv": verifier, "cm": countermeasure}, key, plan=...).'
            raise invalid("systems", expected, list_some(map(repr, systems)), hint)
        return attrs.evolve(how, points={}, normalize=plan.normalize)
    if plan.by_condition:
        # The cost of each condition is the plan's.
        own = [p.p_target if p.c_miss == p.c_fa == 1 else p for p in plan.operating_points]
        return attrs.evolve(how, points=named_points([*dict.fromkeys([*how.prior, *own])]))
    return how


def _samples_of_lists(systems: object) -> dict[str, Sample]:
    """Return samples by name, of results or of pairs of arrays."""
    given = systems if isinstance(systems, Mapping) else {"system": systems}
    if not given:
        raise invalid("systems", "hold at least one system", "none")
    found = {}
    for name, item in given.items():
        if isinstance(item, tuple) and len(item) == 2:
            found[str(name)] = Results(*item).sample
        elif isinstance(item, Results):
            found[str(name)] = item.sample
        else:
            hint = "Scores and files take a key: evaluate(systems, key)."
            expected = "be Results or a pair (tar, non) where there is no key"
            raise invalid(f"systems[{name!r}]", expected, describe(item), hint)
    return found


def _samples_in_files(
    systems: Mapping[str, FilePath],
    key_file: FilePath,
    how: Judging,
    workers: int,
    *,
    progress: bool,
) -> dict[str, Sample]:
    """Return the samples of files that are read in blocks."""
    found: dict[str, Sample] = {}
    for name, file in systems.items():
        files = TrialFiles.open(
            as_pairs(file, key_file), None, workers=workers, executor=None, progress=progress
        )
        found[name] = LargeSample.from_files(files, how.prior)
    return found


def _refuse_missing(name: str, sample: Sample, key: Key, *, allow: bool) -> None:
    """Raise if more than half of the trials of a key have no score."""
    n_scored = sample.tar.size + sample.non.size
    if 2 * n_scored < key.n_trials and not allow:
        raise TrialMismatchError(
            f"{name}: {key.n_trials - n_scored} of the {key.n_trials} trials of the key have no "
            "score, more than half. Are models and segments swapped, or is it another key?",
            use={"allow_missing": True},
        )


def _cross_fitted(
    how: Judging, model: object, scores: Scores, key: Key, speakers: SpeakersLike
) -> tuple[Scores, Judging, list[Note]]:
    """Return calibrated scores, how they were calibrated, and notes of the trainings."""
    notes: list[Note] = []
    if isinstance(model, CrossFit):
        fitted, name = model, type(model.final).__name__
    else:
        chosen = LinearCalibration if model is True else model
        if not (isinstance(chosen, type) and issubclass(chosen, ScoreMap)):
            hint = "Fuse systems first, and evaluate cross_fit(LinearFusion, systems, key).scores."
            expected = "be True, a calibration, or a CrossFit"
            raise invalid("cross_fit", expected, describe(model), hint)
        fitted, notes = cross_fitted(chosen, scores, key, 5, speakers, how.seed)
        name = chosen.__name__
    prior = getattr(getattr(fitted.final, "map", fitted.final), "prior", None)
    trained = "" if prior is None else f", trained at prior {prior:g}"
    how = attrs.evolve(how, calibrated=f"cross-fitted: {name}{trained}")
    return fitted.scores, how, notes


def _mean_of_sets(rows: list[Row], plan: EvaluationPlan) -> list[Row]:
    """Return the rows of data sets, and their mean in place of all trials."""
    *sets, pooled, _ = rows
    if lacking := [row.condition for row in sets if None in row.figures.values()]:
        expected = f"have trials of each class in each {plan.sets}"
        raise invalid("key", expected, f"none of some class in {list_some(lacking)}")
    means = {
        name: sum(row.figures[name] or 0.0 for row in sets) / len(sets) for name in pooled.figures
    }
    return [*sets, attrs.evolve(pooled, condition="mean over sets", figures=means, estimates={})]


def _with_primary(how: Judging, rows: list[Row], cost: PrimaryCost, sample: Sample) -> list[Row]:
    """Add the primary cost, which is of all trials, and its interval where it has one."""
    if cost.pooled:
        return rows
    points, normalize = cost.plan.operating_points, cost.plan.normalize
    figures = {"min_primary": cost.minimum, "act_primary": cost.actual}
    found = {}
    if how.by_speaker and not cost.parts:
        metrics = {
            "min_primary": MinDCF(points, normalize),
            "act_primary": ActDCF(points, normalize),
        }
        found = how.estimates(metrics, sample.weighted(cost.members))
    filled = []
    for row in rows:
        whole = row.condition in (None, "pooled")
        own = figures if whole else dict.fromkeys(figures)
        ends = found if whole else {}
        filled.append(
            attrs.evolve(row, figures={**row.figures, **own}, estimates={**row.estimates, **ends})
        )
    return filled
