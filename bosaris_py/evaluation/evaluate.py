"""One call from scores to an evaluation: samples, metrics, intervals, rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FilePath, Given, Rng
from bosaris_py._parallel import progress_bar, whole_number
from bosaris_py.calibration import CrossFit, LinearCalibration
from bosaris_py.calibration.base import ScoreMap
from bosaris_py.calibration.cross_fitting import cross_fitted
from bosaris_py.evaluation import PrimaryCost, Results, plans
from bosaris_py.evaluation.evaluation import Evaluation
from bosaris_py.evaluation.plan_costs import judge_by_plan
from bosaris_py.evaluation.rows import Judging, Row, rows_of
from bosaris_py.metrics.costs import ActDCF, MinDCF
from bosaris_py.metrics.tandem import tandem_sample
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials import Conditions, Key, Sample, Scores, read
from bosaris_py.trials.alignment import remedy_of
from bosaris_py.trials.conditions import ConditionsLike, as_conditions
from bosaris_py.trials.large import TrialFiles, as_pairs
from bosaris_py.trials.large_sample import LargeSample
from bosaris_py.trials.scores import assemble
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers

# What can be judged without a key, by name.
ListsLike = Mapping[str, Results | tuple[ArrayLike | FilePath, ArrayLike | FilePath]] | Results

# What makes log-likelihood-ratios first: True is `LinearCalibration`.
CrossFitLike = bool | type | CrossFit[ScoreMap] | None

# A share of labels that are wrong, as lists of every year have some.
_FEW_CONTRADICTIONS = 0.01


def evaluate(
    systems: read.SystemsLike | ListsLike,
    key: Key | FilePath | None = None,
    *,
    prior: PriorLike = (0.01, 0.05),
    plan: plans.EvaluationPlan | str | None = None,
    conditions: ConditionsLike = None,
    speakers: SpeakersLike = None,
    replications: int = 0,
    confidence: float = 0.95,
    normalize: bool = True,
    eer: EERDefinition | None = None,
    cross_fit: CrossFitLike = None,
    allow_missing: bool = False,
    rng: Rng = 0,
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
        pairs (tar, non) of arrays or of files of numbers, or `Results`.
    key : Key or path
        Which trials are targets and which non-targets; what `read_key` returns, or its file. HDF5
        files that together are above a tenth of memory are read in blocks, and then `plan`,
        `conditions`, `speakers` and `cross_fit` are refused. So are files in parts: lists of score
        files by system, and a list of as many keys.
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
    rng : Generator, int or None, default: 0
        Source of replicates, the same for all systems, and of the folds of `cross_fit`: a number
        always gives the same table, as the command does, None another one each time.
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
    MissingTrialsWarning, FewErrorsWarning, FewSpeakersWarning
        Once of each kind, with the names of the systems; the table has the same as footnotes.
    SuspectScoresWarning
        If scores are inverted or not calibrated, or if labels that a file has beside its scores
        contradict the key on more than one trial in a hundred.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> same = np.array([[True, False, True, False, True], [False, True, False, True, False]])
    >>> key = bp.Key(["anna", "bert"], ["s1", "s2", "s3", "s4", "s5"], same, ~same)
    >>> ours = [[2.0, -1.0, 0.5, -3.0, 4.0], [-2.0, 1.0, 1.5, 3.0, -1.0]]
    >>> theirs = [[3.0, -1.0, 2.5, -2.0, 1.0], [-2.0, 1.0, 0.0, 0.5, -4.0]]
    >>> systems = {name: bp.Scores(scores, key.modelset, key.segset)
    ...            for name, scores in (("A", ours), ("B", theirs))}
    >>> evaluate(systems, key, prior=0.5)
    system  EER (%)  minDCF(0.5)  actDCF(0.5)  minCllr    Cllr
    ----------------------------------------------------------
    A         13.33       0.2000       0.2000   0.2755  0.5027
    B          0.00       0.0000       0.2000   0.0000  0.3616
    (5 targets, 5 non-targets; costs are normalized; EER of the ROC's convex hull)
    """
    chosen = None if plan is None else plans.find_plan(plan)
    definition: EERDefinition = eer or (chosen and chosen.eer) or "rocch"
    check.check_choice(definition, EERDefinition, "eer")
    told = speakers if isinstance(speakers, tuple) else (speakers,)
    if replications:
        # Before files are read for minutes.
        whole_number(replications, 2, "replications")
    how = Judging(
        prior=prior,
        plan=chosen,
        normalize=check.as_flag(normalize, "normalize"),
        eer=definition,
        confidence=check.check_fraction(confidence, "confidence"),
        replications=replications,
        seed=check.as_seed(rng),
        by_speaker=bool(replications) or any(one is not None for one in told),
    )
    large = () if key is None else read.large_files(systems, key)
    if key is None or large:
        asked: dict[str, object] = {"plan": plan, "conditions": conditions, "speakers": speakers}
        asked |= {"cross_fit": cross_fit, "replications": replications or None}
        _refuse(asked, f"of {'files of that size' if large else 'lists of scores without a key'}")
        if large:
            samples = _samples_in_files(how, *large, workers=workers, progress=progress)
        else:
            samples = _samples_of_lists(systems)
        return _judged(Evaluation(how=how, samples=samples), [], progress=progress)

    # Read the systems, and fit what is asked to the key.
    key = read.read_if_path(key)
    named, notes = _read(systems, key)
    how = _fitting(how, key, named, conditions, cross_fit)
    if cross_fit is not None:
        named, how, heard = _cross_fitted(how, cross_fit, named, key, speakers)
        notes += heard
    # Make the samples, and what divides them.
    who = TrialSpeakers.from_key(key, speakers) if how.by_speaker else None
    if chosen is not None and chosen.detectors == 2:
        samples = {"asv and cm": tandem_sample(named["asv"], named["cm"], key, who)}
    else:
        samples = {name: Sample.from_trials(one, key, None, who) for name, one in named.items()}
    if not allow_missing:
        _refuse_missing(samples, named, key)
    given = None if conditions is None else as_conditions(conditions, key)
    if chosen is not None:
        notes += plans.strange_attacks(chosen, key)
        given = Conditions.crossed(key, chosen.sets) if chosen.sets else given
    # List the rows, value every figure, and tell what is to be said of them.
    asked_for = Evaluation(
        how=how, samples=samples, systems=named, key=key, conditions=given, speakers=speakers
    )
    return _judged(asked_for, notes, progress=progress)


def _refuse(asked: Mapping[str, object], where: str) -> None:
    """Raise for options that are given where they do not apply."""
    for name, value in asked.items():
        if value is not None:
            raise check.invalid(name, f"be left out {where}", check.describe(value))


# ---- The systems and their samples


def _read(
    systems: read.SystemsLike | ListsLike, key: Key
) -> tuple[dict[str, Scores], list[errors.Note]]:
    """Return the scores of systems by name, and what labels beside them in files say."""
    scores, notes = {}, []
    for name, given in read.named_systems(systems).items():
        found, own = (given, None) if isinstance(given, Scores) else read.scores_and_labels(given)
        scores[name] = found
        notes += [attrs.evolve(note, about=name) for note in contradiction(own, key)]
    return scores, notes


def contradiction(own: Key | None, key: Key) -> list[errors.Note]:
    """Note labels beside scores that contradict the key on more than one in a hundred trials."""
    if own is None:
        return []
    said = Sample.from_trials(assemble(own.is_target.astype(float), own), key, allow_empty=True)
    # Targets that the file calls non-targets, and the other way round.
    wrong = int(np.count_nonzero(said.tar.scores == 0.0) + np.count_nonzero(said.non.scores))
    n_trials = said.tar.size + said.non.size
    if wrong <= _FEW_CONTRADICTIONS * n_trials:
        return []
    text = f"labels beside the scores contradict the key on {wrong} of {n_trials} trials"
    return [errors.Note(errors.SuspectScoresWarning, text, count=wrong)]


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
    plans.refuse_spoofs(key, plan)
    if plan.figures:
        ruled_out = {"conditions": conditions, "cross_fit": cross_fit}
        _refuse(ruled_out, f"with the plan {plan.name}")
        if plan.detectors == 2 and {*systems} != {"asv", "cm"}:
            expected = f"be two detectors, named asv and cm, for the plan {plan.name}"
            hint = 'evaluate({"asv": verifier, "cm": countermeasure}, key, plan=...).'
            raise check.invalid("systems", expected, check.list_some(map(repr, systems)), hint)
        return attrs.evolve(how, prior=(), normalize=plan.normalize)
    if plan.by_condition:
        # The cost of each condition is the plan's.
        own = [p.p_target if p.c_miss == p.c_fa == 1 else p for p in plan.points]
        return attrs.evolve(how, prior=[*dict.fromkeys([*how.prior, *own])])
    return how


def _cross_fitted(
    how: Judging,
    model: CrossFitLike,
    systems: Mapping[str, Scores],
    key: Key,
    speakers: SpeakersLike,
) -> tuple[dict[str, Scores], Judging, list[errors.Note]]:
    """Return calibrated scores, how they were calibrated, and notes of the trainings."""
    fitted, notes = {}, []
    for name, scores in systems.items():
        match LinearCalibration if model is True else model:
            case CrossFit() as found:
                pass
            case type() as chosen if issubclass(chosen, ScoreMap):
                found, heard = cross_fitted(chosen, scores, key, 5, speakers, how.seed)
                notes += [attrs.evolve(note, about=name) for note in heard]
            case _:
                hint = "Fuse systems first: evaluate cross_fit(LinearFusion, systems, key).scores."
                expected = "be True, a calibration, or a CrossFit"
                raise check.invalid("cross_fit", expected, check.describe(model), hint)
        fitted[name] = found.scores
    prior = getattr(getattr(found.final, "map", found.final), "prior", None)
    words = f"cross-fitted: {type(found.final).__name__}"
    words += "" if prior is None else f", trained at prior {prior:g}"
    return fitted, attrs.evolve(how, calibrated=words), notes


def _samples_of_lists(systems: read.SystemsLike | ListsLike) -> dict[str, Sample]:
    """Return samples by name, of results or of pairs of arrays."""
    given = systems if isinstance(systems, Mapping) else {"system": systems}
    if not given:
        raise check.invalid("systems", "hold at least one system", "none")
    found = {}
    for name, item in given.items():
        match item:
            case Results():
                found[str(name)] = item.sample
            case (tar, non):
                found[str(name)] = Results(read.numbers_of(tar), read.numbers_of(non)).sample  # type: ignore[arg-type]
            case _:
                hint = "Scores and files take a key: evaluate(systems, key)."
                expected = "be Results or a pair (tar, non) where there is no key"
                raise check.invalid(f"systems[{name!r}]", expected, check.describe(item), hint)
    return found


def _samples_in_files(
    how: Judging, systems: Mapping[str, FilePath], key_file: FilePath, **reading: Given
) -> dict[str, Sample]:
    """Return the samples of files that are read in blocks."""
    found: dict[str, Sample] = {}
    for name, file in systems.items():
        files = TrialFiles.open(as_pairs(file, key_file), None, executor=None, **reading)
        found[name] = LargeSample.from_files(files, how.prior)
    return found


def _refuse_missing(samples: Mapping[str, Sample], systems: Mapping[str, Scores], key: Key) -> None:
    """Raise if more than half of the trials of a key have no score."""
    for name, sample in samples.items():
        n_lacking = key.n_trials - sample.tar.size - sample.non.size
        if 2 * n_lacking > key.n_trials:
            one = systems.get(name)
            call, option = ("", "") if one is None else remedy_of(key.ids, one.ids)
            raise errors.TrialMismatchError(
                f"{name}: {n_lacking} of the {key.n_trials} trials of the key have no score, more "
                "than half. Are models and segments swapped, or is it another key?",
                use={} if option else {"allow_missing": True},
                call=call,
                option=option,
            )


# ---- Their rows


def _judged(asked: Evaluation, notes: list[errors.Note], *, progress: bool) -> Evaluation:
    """Value every figure of every system, and warn of what is to be said of them."""
    how, plan, key = asked.how, asked.plan, asked.key
    rows: list[Row] = []
    primary = {}
    for name in progress_bar([*asked.samples], shown=progress, unit="system"):
        members, sample = None, asked.samples[name]
        if asked.conditions is not None and key is not None:
            members, heard = asked.conditions.noted_members(asked.systems[name], key)
            notes += heard
        own, heard = rows_of(how, name, sample, members)
        notes += heard
        if plan is not None and plan.sets:
            own = _mean_of_sets(own, plan)
        if plan is not None and not plan.figures and key is not None:
            primary[name], heard = judge_by_plan(asked.systems[name], key, plan)
            notes += [attrs.evolve(note, about=name) for note in heard]
            own = _with_primary(how, own, primary[name], sample)
        rows += own
    notes = errors.said_of_all(notes, asked.samples.keys())
    errors.warn(notes)
    return attrs.evolve(asked, rows=tuple(rows), notes=tuple(notes), primary=primary)


def _mean_of_sets(rows: Sequence[Row], plan: plans.EvaluationPlan) -> list[Row]:
    """Return the rows of data sets, and their mean in place of all trials."""
    *sets, pooled, _ = rows
    if lacking := [row.condition for row in sets if None in row.figures.values()]:
        expected = f"have trials of each class in each {plan.sets}"
        raise check.invalid("key", expected, f"none of some class in {check.list_some(lacking)}")
    means: dict[str, float | None] = {
        name: sum(row.figures[name] or 0.0 for row in sets) / len(sets) for name in pooled.figures
    }
    return [*sets, attrs.evolve(pooled, condition="mean over sets", figures=means, estimates={})]


def _with_primary(how: Judging, rows: list[Row], cost: PrimaryCost, sample: Sample) -> list[Row]:
    """Add the primary cost, which is of all trials, and its interval where it has one."""
    if cost.pooled or cost.plan.by_condition:
        return rows
    figures: dict[str, float | None] = {"min_primary": cost.minimum, "act_primary": cost.actual}
    ends = {}
    if how.by_speaker and not cost.parts:
        given = cost.plan.points, cost.plan.normalize
        metrics = {"min_primary": MinDCF(*given), "act_primary": ActDCF(*given)}
        ends = how.estimates(metrics, sample.weighted(cost.members))
    return [
        attrs.evolve(row, figures=row.figures | figures, estimates=row.estimates | ends)
        if row.is_whole
        else attrs.evolve(row, figures=row.figures | dict.fromkeys(figures))
        for row in rows
    ]
