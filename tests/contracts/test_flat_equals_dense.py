"""Whatever takes scores and a key gives the same numbers for lists as for matrices.

Each entry point is called with the same trials in four ways: scores and key as matrices, as lists,
and mixed. Results, warnings and errors are then compared bit for bit.
"""

import functools
import inspect
import re
import types
import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import bosaris_py as bp
from bosaris_py import calibration, evaluation, fusion, plots, trials, uncertainty as unc
from bosaris_py.errors import BosarisError
from bosaris_py.trials import sample
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.scores import AnyScores
from bosaris_py.uncertainty.resampling import Resampling

FORMS = ("dense", "flat")
TRIAL_CLASSES = (bp.Ndx, bp.Key, bp.Scores, bp.FlatNdx, bp.FlatKey, bp.FlatScores)


@attrs.frozen(eq=False)
class Experiment:
    """Scores of two systems, a key, and all that goes with them."""

    first: AnyScores
    second: AnyScores
    key: AnyKey
    # Per trial, column by column; per model; per segment.
    phones: list[str]
    genders: list[str]
    speakers: tuple[list[str], list[str]]
    qualities: list[float]

    def in_forms(self, scores: str, key: str) -> "Experiment":
        """Return the same experiment with scores and key as matrices or as lists."""
        forms = (as_form(self.first, scores), as_form(self.second, scores), as_form(self.key, key))
        return attrs.evolve(self, first=forms[0], second=forms[1], key=forms[2])

    @property
    def systems(self) -> list[AnyScores]:
        return [self.first, self.second]

    @property
    def metadata(self) -> bp.TrialMetadata:
        return bp.TrialMetadata(
            self.key,
            trial_columns={"phone_num_match": self.phones},
            model_columns={"gender": self.genders},
        )

    @property
    def conditions(self) -> bp.Conditions:
        return bp.Conditions.from_factors(
            self.key,
            {name: self.metadata.factor(name) for name in self.metadata.names},
            lacking="ignore",
        )

    @property
    def subsets(self) -> bp.Conditions:
        """Conditions that are given as lists or matrices of trials, some in none of them."""
        first = self.key.filter(self.key.modelset[::2], self.key.segset, keep=True).to_ndx()
        masks = {"some": first, "others": np.array([phone == "Y" for phone in self.phones])}
        return bp.Conditions(masks, overlap="allow", uncovered="ignore", lacking="ignore")

    @property
    def quality(self) -> bp.SegmentQuality:
        return bp.SegmentQuality(self.key.segset, [self.qualities])

    @property
    def speaker_maps(self) -> dict[str, tuple[bp.IdMap, bp.IdMap]]:
        models, segments = self.speakers
        maps = bp.IdMap(self.key.modelset, models), bp.IdMap(self.key.segset, segments)
        return {"speakers": maps}


def as_form(thing: Any, form: str) -> Any:
    """Return a dense object in one of the forms."""
    return thing.to_flat() if form == "flat" else thing


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    """Make a sparse experiment with ties; some trials may have no score, some scores no trial."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_models, n_segments = draw(st.integers(4, 8)), draw(st.integers(6, 12))
    shape = (n_models, n_segments)
    # The two sides share no names; ids are not in order.
    models = rng.permutation([f"m{i}" for i in range(n_models)])
    segments = rng.permutation([f"s{j:02}" for j in range(n_segments)])
    speakers = [f"spk{i % 3}" for i in range(n_models)], [f"spk{j % 3}" for j in range(n_segments)]
    same = np.equal.outer(*speakers)
    is_trial = rng.random(shape) < draw(st.sampled_from([0.5, 0.8, 1.0]))
    is_trial[:3, :3] = True
    key = bp.Key(models, segments, same & is_trial, ~same & is_trial)
    has_gaps = draw(st.booleans())
    systems = []
    for _ in range(2):
        values = np.round(rng.normal(size=shape) + 1.5 * same, draw(st.integers(0, 3)))
        mask = is_trial | (rng.random(shape) < 0.3)
        if has_gaps:
            mask &= rng.random(shape) < 0.9
            mask[:3, :3] = True
        rows, cols = rng.permutation(n_models), rng.permutation(n_segments)
        dtype = draw(st.sampled_from([np.float32, np.float64]))
        grid = np.ix_(rows, cols)
        systems.append(
            bp.Scores(values[grid].astype(dtype), models[rows], segments[cols], mask[grid])
        )
    return Experiment(
        *systems,
        key,
        phones=rng.choice(["Y", "N"], key.n_trials).tolist(),
        genders=rng.choice(["male", "female"], n_models).tolist(),
        speakers=speakers,
        qualities=rng.normal(size=n_segments).tolist(),
    )


Call = Callable[[Experiment], Any]
ITERATIONS = {"replications": 20, "rng": 1}
THRESHOLD = unc.DCF(0.5, 0.1, 10, 1)
PRIORS = [0.01, 0.5]
# A plan of two partitions that needs no more columns than there are.
PLAN = attrs.evolve(
    bp.PLANS["SRE16"],
    name="two factors",
    factors=(
        bp.PartitionFactor("gender", ("male", "female")),
        bp.PartitionFactor("phone_num_match", ("Y", "N"), target_only=("Y",)),
    ),
)


def results_of(experiment: Experiment, conditions: bp.Conditions | None) -> Any:
    """Return all that `Results` computes."""
    results = bp.Results.from_scores(experiment.first, experiment.key, conditions)
    rates = [results.equal_error_rate(name) for name in ("rocch", "interpolated", "step")]
    roc = results.roc
    return (
        repr(results),
        results.to_dict(PRIORS),
        rates,
        results.eer_threshold,
        results.prbep,
        results.auc,
        results.threshold_at(pfa=0.2),
        results.min_dcf(PRIORS, normalize=True),
        (roc.pmiss, roc.pfa, roc.thresholds),
    )


def drawn(plot: Any) -> list[Any]:
    """Return the points of all lines of a plot, and its legend."""
    plot.display_legend()
    legend = plot.ax.get_legend()
    texts = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    return [(line.get_xdata(), line.get_ydata()) for line in plot.ax.lines] + texts


def det_plot(experiment: Experiment, conditions: bp.Conditions | None) -> Any:
    plot = bp.DETPlot("big")
    plot.set_system_from_scores(experiment.first, experiment.key, "a", conditions=conditions)
    plot.plot_steppy_det()
    plot.plot_rocch_det()
    plot.plot_mindcf_point(0.1)
    plot.plot_DR30_both()
    return drawn(plot)


def bayes_plot(experiment: Experiment, conditions: bp.Conditions | None) -> Any:
    plot = bp.BayesPlot()
    plot.set_system_from_scores(experiment.first, experiment.key, "a", conditions=conditions)
    plot.plot_dcf_curve_act()
    plot.plot_dcf_curve_min()
    plot.plot_miss_rate_act()
    plot.plot_fa_rate_min()
    return drawn(plot)


def plot_of_conditions(plot: Any, experiment: Experiment) -> Any:
    plot.plot_conditions(experiment.first, experiment.key, experiment.conditions, "a")
    return drawn(plot)


def calibrated(trained: Any, experiment: Experiment) -> Any:
    """Return a calibration and what it makes of scores."""
    return trained, trained.apply(experiment.first)


def frame_of(experiment: Experiment) -> bp.TrialFrame:
    """Return the first system as a data frame that was read."""
    names = ("model", "segment", "score")
    rows = experiment.first.records()
    return bp.from_frame({name: [row[name] for row in rows] for name in names})


def fused(trained: Any, experiment: Experiment) -> Any:
    """Return a linear fusion and what it makes of the trials."""
    return trained, trained.apply(experiment.systems, experiment.key)


def quality_fused(trained: Any, experiment: Experiment) -> Any:
    """Return a quality fusion and what it makes of the trials."""
    x = experiment
    return trained, trained.apply(x.systems, [x.quality], x.key.to_ndx())


def conditions_of(experiment: Experiment, conditions: bp.Conditions) -> Any:
    """Return all that conditions say of a key and of scores."""
    x = experiment
    return (
        conditions.names,
        conditions.counts(x.key),
        conditions.trial_weights(x.key),
        conditions.members(x.key),
        conditions.scored_weights(x.first, x.key),
        conditions.scored_members(x.first, x.key),
        [conditions.select(x.key, name) for name in conditions.names],
    )


def kinds_of(x: Experiment) -> tuple[AnyKey, bp.TrialMetadata]:
    """Take every second non-target for a spoof."""
    kinds = np.where(x.key.trial_labels(), "target", "nontarget")
    kinds[np.flatnonzero(kinds == "nontarget")[::2]] = "spoof"
    return x.key, bp.TrialMetadata(x.key, {"kind": kinds})


def decisions_of(x: Experiment) -> unc.Decisions:
    """Accept every third trial."""
    models, segments = x.key.trial_positions()
    ids = x.key.modelset[models], x.key.segset[segments]
    # By name: the forms list trials in the same order.
    return unc.Decisions.from_trials(*ids, np.arange(models.size) % 3 == 0, x.key)


def crossed(x: Experiment) -> bp.CrossFit[bp.LinearCalibration]:
    """Return maps that were trained without the speakers of a trial."""
    speakers = x.speaker_maps["speakers"]
    return bp.cross_fit(
        bp.LinearCalibration, x.first, x.key, speakers=speakers, folds=4, ridge="weak", rng=1
    )


def of_utterances(x: Experiment) -> bp.FlatScores:
    """Return scores of one model on the segments of the key."""
    _, segments = x.key.ids
    return bp.FlatScores.from_trials(["m"] * segments.size, segments, np.arange(segments.size))


def columns_of(table: Any) -> list[Any]:
    """Return what the lines of a table hold."""
    return [table.models.values(), table.segments.values(), table.is_target, table.scores]


ENTRY_POINTS: dict[str, list[Call]] = {
    "cross_fit": [lambda x: crossed(x).scores.get_scores(x.key)],
    "CrossFit": [lambda x: crossed(x).final.apply(x.second).get_scores(x.key)],
    "scores_of_segments": [
        lambda x: bp.trials.scores_of_segments(of_utterances(x), x.key).get_scores(x.key)
    ],
    "llr_bounds": [lambda x: bp.llr_bounds(x.first, x.key, **x.speaker_maps)],
    "bootstrap_tandem": [
        lambda x: (
            unc.bootstrap_tandem(
                kinds_of(x), unc.TEER(), asv=x.first, cm=x.second, method="iid", **ITERATIONS
            ).replicates
        )
    ],
    "SASVFusion": [
        lambda x: bp.SASVFusion.fit(kinds_of(x), asv=x.first, cm=x.second).asv.scale,
        lambda x: bp.SASVFusion.fit(kinds_of(x), asv=x.first, cm=x.second).apply(
            asv=x.first, cm=x.second, ndx=x.key
        ),
    ],
    "Resampling.kinds_sample": [
        lambda x: [
            part.scores
            for part in Resampling("iid").kinds_sample(x.first, kinds_of(x), unc.Speakers()).classes
        ]
    ],
    "Resampling.sample": [
        lambda x: Resampling("iid").sample(x.first, x.key, unc.Speakers(), None).lists
    ],
    "Speakers": [
        lambda x: [each is None for each in unc.Speakers(x.speaker_maps["speakers"]).maps(x.key)[1]]
    ],
    "Results.from_scores": [
        lambda x: results_of(x, None),
        lambda x: results_of(x, x.conditions),
        lambda x: results_of(x, x.subsets),
    ],
    "LinearCalibration.fit_scores": [
        lambda x: calibrated(bp.LinearCalibration.fit_scores(x.first, x.key), x),
        lambda x: calibrated(
            bp.LinearCalibration.fit_scores(
                x.first, x.key, conditions=x.conditions, prior=0.1, objective="brier", ridge=0.1
            ),
            x,
        ),
    ],
    "PAVCalibration.fit_scores": [
        lambda x: calibrated(bp.PAVCalibration.fit_scores(x.first, x.key), x),
        lambda x: calibrated(
            bp.PAVCalibration.fit_scores(x.first, x.key, conditions=x.conditions), x
        ),
    ],
    "GaussianCalibration.fit_scores": [
        lambda x: calibrated(calibration.GaussianCalibration.fit_scores(x.first, x.key), x)
    ],
    "BoundedCalibration.fit_scores": [
        lambda x: calibrated(calibration.BoundedCalibration.fit_scores(x.first, x.key), x)
    ],
    "quality_systems": [
        lambda x: [
            system.get_scores(x.key).tolist()
            for system in fusion.quality_systems(
                x.systems[0], {"quality": (None, x.quality)}, x.key, scale=["quality"]
            )
        ]
    ],
    "case_llr": [
        lambda x: str(
            bp.case_llr(
                1.0,
                x.first,
                x.key,
                propositions=("same speaker", "different speakers"),
                reference="the experiment",
                **x.speaker_maps,
                folds=4,
                replications=5,
                rng=1,
            )
        )
    ],
    "LinearFusion.fit_scores": [
        lambda x: fused(bp.LinearFusion.fit_scores(x.systems, x.key, ridge=0.01), x),
        lambda x: fused(
            bp.LinearFusion.fit_scores(x.systems, x.key, conditions=x.conditions, ridge=0.01), x
        ),
    ],
    "QualityFusion.fit_scores": [
        lambda x: quality_fused(
            bp.QualityFusion.fit_scores(x.systems, [x.quality], x.key, ridge=0.1), x
        ),
        lambda x: quality_fused(
            bp.QualityFusion.fit_scores(
                x.systems, [x.quality], x.key, ridge=0.1, conditions=x.conditions
            ),
            x,
        ),
    ],
    "primary_cost": [
        lambda x: bp.primary_cost(x.first, x.key, "VoxSRC"),
        lambda x: bp.primary_cost(x.first, x.key, PLAN, x.metadata),
        lambda x: bp.primary_cost(x.first, x.key, PLAN, x.conditions),
    ],
    "evaluate": [
        lambda x: bp.evaluate({"a": x.first, "b": x.second}, x.key, plan="VoxSRC").to_json(),
        lambda x: str(bp.evaluate(x.systems, (x.key, x.metadata), conditions=x.conditions)),
    ],
    "transfer": [
        lambda x: str(
            bp.transfer(
                (x.first, x.key),
                (x.second, (x.key, x.metadata)),
                rule="min-cost",
                **x.speaker_maps,
                replications=10,
                rng=1,
            )
        )
    ],
    "validate_scores": [
        lambda x: bp.validate_scores(x.first, x.key, **x.speaker_maps, replications=20, rng=1)
    ],
    "Evaluation": [lambda x: bp.evaluate(x.first, x.key, **x.speaker_maps).records()],
    "TrialFrame": [lambda x: frame_of(x).scores["score"], lambda x: frame_of(x).column(x.first)],
    "compare_systems": [
        lambda x: unc.compare_systems(
            [x.first, x.second], x.key, THRESHOLD, **x.speaker_maps
        ).records(),
        lambda x: unc.compare_systems(
            [x.first, x.second], x.key, unc.EER(), method="iid", **ITERATIONS
        ).records(),
    ],
    "ListedSample.of": [lambda x: sample.ListedSample.of(x.first, x.key, x.conditions).roc],
    "Conditions": [lambda x: conditions_of(x, x.conditions), lambda x: conditions_of(x, x.subsets)],
    "TrialMetadata": [
        lambda x: [x.metadata.column(name) for name in x.metadata.names],
        lambda x: x.metadata.for_trials(x.key.filter([], x.key.segset[:2], keep=False)).column(
            "gender"
        ),
    ],
    "DETPlot": [
        lambda x: det_plot(x, None),
        lambda x: det_plot(x, x.conditions),
        lambda x: plot_of_conditions(bp.DETPlot(), x),
    ],
    "BayesPlot": [
        lambda x: bayes_plot(x, None),
        lambda x: bayes_plot(x, x.conditions),
        lambda x: plot_of_conditions(bp.BayesPlot(), x),
    ],
    "Decisions": [lambda x: decisions_of(x)],
    "bootstrap_table": [
        lambda x: unc.bootstrap_table(
            [x.first, x.second], x.key, unc.EER(), methods=["iid"], replications=20, rng=1
        )
    ],
    "bootstrap_scores": [
        lambda x: unc.bootstrap_scores(x.first, x.key, unc.EER(), **x.speaker_maps, **ITERATIONS),
        lambda x: unc.bootstrap_scores(x.first, x.key, unc.MinDCF(0.1), method="iid", **ITERATIONS),
        lambda x: unc.bootstrap_scores(
            x.first, x.key, THRESHOLD, method="one-layer", **x.speaker_maps, **ITERATIONS
        ),
        lambda x: unc.bootstrap_scores(
            x.first, x.key, unc.Cllr(), method="two-layer", **x.speaker_maps, **ITERATIONS
        ),
        lambda x: unc.bootstrap_scores(
            x.first, x.key, unc.MinCllr(), conditions=x.conditions, **x.speaker_maps, **ITERATIONS
        ),
    ],
    "paired_bootstrap": [
        lambda x: unc.paired_bootstrap(
            x.first, x.second, x.key, unc.EER(), **x.speaker_maps, **ITERATIONS
        )
    ],
    "dcf_standard_error_scores": [
        lambda x: unc.dcf_standard_error_scores(x.first, x.key, THRESHOLD, **x.speaker_maps),
        lambda x: unc.dcf_standard_error_scores(x.first, x.key, THRESHOLD, method="iid"),
        lambda x: unc.dcf_standard_error_scores(
            x.first, x.key, THRESHOLD, conditions=x.conditions, **x.speaker_maps
        ),
    ],
    "auc_standard_error_scores": [
        lambda x: unc.auc_standard_error_scores(x.first, x.key),
        lambda x: unc.auc_standard_error_scores(x.first, x.key, conditions=x.conditions),
    ],
    "speaker_errors": [lambda x: unc.speaker_errors(x.first, x.key, 0.5, **x.speaker_maps)],
    "speaker_interval": [
        lambda x: unc.speaker_interval(x.first, x.key, unc.EER(), **x.speaker_maps),
        lambda x: unc.speaker_interval(
            x.first, x.key, unc.AUC(), conditions=x.conditions, **x.speaker_maps
        ),
    ],
    "speaker_z_test": [
        lambda x: unc.speaker_z_test(x.first, x.second, x.key, THRESHOLD, **x.speaker_maps)
    ],
    "TrialSpeakers": [
        lambda x: unc.TrialSpeakers.of_key(x.key, **x.speaker_maps),
        lambda x: unc.TrialSpeakers.of_models_only(x.key, x.speaker_maps["speakers"][0]),
    ],
    "Decisions.from_scores": [lambda x: unc.Decisions.from_scores(x.first, x.key, 0.5)],
    "ErrorCounts.from_scores": [lambda x: unc.ErrorCounts.from_scores(x.first, x.key, 0.5)],
    "compare_trials": [lambda x: bp.compare_trials(x.first, x.key)],
    "to_table": [lambda x: columns_of(bp.trials.to_table(x.key, scores=x.first))],
}


def plain(value: Any) -> Any:
    """Return a value as nested lists of things that compare bit for bit."""
    if isinstance(value, (bp.FlatNdx, bp.FlatKey, bp.FlatScores)):
        value = value.to_dense()
    if isinstance(value, bp.Scores):
        # What lies under a false mask is nobody's score.
        values = np.where(value.scoremask, value.scoremat, 0)
        fields = [value.modelset, value.segset, values, value.scoremask]
        return ["Scores", *map(plain, fields)]
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype.kind in "OU" else value.tobytes()
        return [value.dtype.str.lstrip("<|="), value.shape, content]
    if isinstance(value, (float, np.floating)):
        return [type(value).__name__, float(value).hex()]
    if isinstance(value, dict):
        return [[key, plain(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, functools.partial):
        # The ends of an interval, from a confidence.
        ends = value(0.9)
        # An interval has what makes it at other levels, too.
        return plain((ends.low, ends.high) if isinstance(ends, unc.Interval) else ends)
    if attrs.has(type(value)):
        names = [field.name for field in attrs.fields(type(value)) if field.eq or field.init]
        return [type(value).__name__, [[name, plain(getattr(value, name))] for name in names]]
    assert isinstance(value, (str, int, np.integer, np.bool_, type, types.NoneType)), type(value)
    return value


def outcome(call: Call, experiment: Experiment) -> Any:
    """Return what a call gives: the result or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = plain(call(experiment))
        except BosarisError as error:
            result = [type(error).__name__, re.sub("Flat(?=Scores|Key|Ndx)", "", str(error))]
    told = sorted({(each.category.__name__, str(each.message)) for each in caught})
    return result, told


SLOW = {"BayesPlot", "DETPlot"}
CALLS = [
    pytest.param(call, id=f"{name}-{number}", marks=[pytest.mark.slow] if name in SLOW else [])
    for name, calls in ENTRY_POINTS.items()
    for number, call in enumerate(calls)
]


@pytest.mark.parametrize("call", CALLS)
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(experiment=experiments())
def test_same_outcome_in_all_forms(call: Call, experiment: Experiment) -> None:
    expected = outcome(call, experiment)
    for scores in FORMS:
        for key in FORMS:
            assert outcome(call, experiment.in_forms(scores, key)) == expected, (scores, key)


@pytest.mark.slow
def test_no_call_only_fails() -> None:
    """Equal errors are equal outcomes: with all scores there, every call has a result."""
    rng = np.random.default_rng(0)
    shape = (9, 12)
    speakers = [f"spk{i % 4}" for i in range(9)], [f"spk{j % 4}" for j in range(12)]
    same = np.equal.outer(*speakers)
    names = [f"m{i}" for i in range(9)], [f"s{j:02}" for j in range(12)]
    key = bp.Key(*names, same, ~same)
    systems = [bp.Scores(rng.normal(size=shape) + same, *names) for _ in range(2)]
    phones, genders = ["Y", "N"] * 54, ["male", "female", "female"] * 3
    quality = rng.normal(size=12).tolist()
    experiment = Experiment(*systems, key, phones, genders, speakers, quality)
    for scores in FORMS:
        forms = experiment.in_forms(scores, scores)
        for calls in ENTRY_POINTS.values():
            for call in calls:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(forms)


def takes_flat_forms(member: object) -> bool:
    """Tell whether a public function says that it takes a flat form."""
    try:
        signature = inspect.signature(member, eval_str=True)  # type: ignore[arg-type]
    except (NameError, TypeError, ValueError):
        # What is written in C; and constructors that attrs wrote, which take fields.
        return False
    annotations = (str(each.annotation) for each in signature.parameters.values())
    return any(re.search("Flat(Ndx|Key|Scores)", each) for each in annotations)


def test_every_entry_point_is_here() -> None:
    """Public functions and methods that take flat forms, apart from the classes of trials."""
    found = set()
    for module in (bp, calibration, evaluation, fusion, plots, trials, unc):
        for name in module.__all__:
            item = getattr(module, name)
            # Parts of examples are data frames that were read.
            if item in TRIAL_CLASSES or item is bp.ExamplePart:
                continue
            public = (each for each in dir(item) if each == "__init__" or each[0] != "_")
            members = {f"{name}.{each}": getattr(item, each) for each in public}
            if not inspect.isclass(item):
                members = {name: item}
            found |= {each for each, member in members.items() if takes_flat_forms(member)}
    assert len(found) > 30
    # A class as a whole stands for all of its methods; what is fitted is also applied.
    names = {re.sub(r"\.(apply|__init__)$", ".fit_scores", each) for each in found}
    uncovered = {each for each in names if not {each, each.split(".")[0]} & set(ENTRY_POINTS)}
    # It refuses lists, in words.
    assert uncovered == {"QualityMeasures.align_with_ndx"}
