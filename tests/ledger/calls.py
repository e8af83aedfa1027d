"""The calls of the ledger by room: each a small function of one set of data.

To drop a feature, delete its calls, then run ``python tests/ledger/prune.py``.
"""

import functools
import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import attrs
import h5py
import numpy as np

import bosaris_py as bp
from bosaris_py import matlab, uncertainty as unc
from tests.ledger import sets

PRIORS = [0.001, 0.01, 0.1, 0.5]
POINT = bp.OperatingPoint(0.01, 10, 1)


class Kind(Enum):
    """How near a number must be to that of the ledger."""

    # Counts, thresholds, ranks and files: in every bit.
    EXACT = "exact"
    # 1e-13 of the value, or 1e-15 where that is more.
    NUMBER = "number"
    # Log-likelihood-ratios of a trained map: 1e-11 of the largest of the call.
    LLRS = "llrs"


@attrs.frozen
class Call:
    """One call: what it gives, for which set, and how near that must be."""

    function: Callable[..., object]
    data: Callable[[], Any]
    options: Mapping[str, Any]
    kind: Kind

    def run(self) -> list[str | float]:
        return list(flat(self.function(self.data(), **self.options)))


CALLS: dict[str, Call] = {}


def flat(found: object) -> Iterator[str | float]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, Mapping):
        yield from flat([*found.values()])
    elif isinstance(found, (tuple, list)):
        for value in found:
            yield from flat(value)
    else:
        yield from np.ravel(np.asarray(found, dtype=float)).tolist()


Data = Mapping[str, Callable[[], Any]]
Options = tuple[dict[str, Any], ...]


def enter(
    room: str,
    data: Data,
    *functions: Callable[..., object],
    kind: Kind = Kind.NUMBER,
    but: str = "",
    options: Options = ({},),
    **named: Callable[..., object],
) -> None:
    """Enter functions into a room of the ledger: a call for each set and each of the options."""
    for name, function in {**{f.__name__: f for f in functions}, **named}.items():
        for given in options:
            words = "".join(f" {option}={value}" for option, value in given.items())
            for of, load in data.items():
                if of != but:
                    CALLS[f"{room}/{name}{words}/{of}"] = Call(function, load, given, kind)


ROOMS = "numbers curves maps files plans third_class intervals tests replicates"
numbers, curves, maps, files, plans, third_class, intervals, tests, replicates = (
    functools.partial(enter, room) for room in ROOMS.split()
)


def each(**options: Any) -> Options:
    ((name, values),) = options.items()
    return tuple({name: value} for value in values)


def some(values: Any, n: int = 5) -> np.ndarray:
    """Return how many values there are, and `n` of them, spread evenly."""
    values = np.ravel(np.asarray(values, dtype=float))
    at = np.unique(np.linspace(0, values.size - 1, n).astype(int)) if values.size else []
    return np.concatenate([[values.size], values[at]])


def few(values: Any, n: int = 4) -> np.ndarray:
    return some(values, n)[1:]


def digest(values: Any) -> str:
    """Return a text that is the same if shape and values are; for what must be equal."""
    values = np.asarray(values)
    if values.dtype.kind in "USO":
        words = (x.decode() if isinstance(x, bytes) else str(x) for x in values.ravel().tolist())
        data = "\n".join(words).encode()
    else:
        # Sums with zero make negative zeros positive.
        data = (values.astype(np.float64) + 0.0).tobytes()
    shape = "x".join(map(str, values.shape))
    return f"{shape}:{hashlib.sha256(data).hexdigest()[:24]}"


def digests(*arrays: Any) -> list[str]:
    return [digest(array) for array in arrays]


# The sets ---------------------------------------------------------------------------------------
def _load(function: Callable[..., Any], *given: Any) -> Callable[[], Any]:
    return lambda: function(*given)


def laws(*names: str) -> Data:
    return {name: _load(sets.law, name) for name in names or sets.LAWS}


def shipped(*names: str) -> Data:
    folder = Path(bp.__file__).parent / "examples"
    return {name: _load(sets.shipped, folder, name) for name in names or sets.SHIPPED}


LAWS, SHIPPED = laws(), shipped()
ORACLE = {f"oracle {name}": _load(sets.oracle, name) for name in sets.oracle_names()}
ALL = LAWS | ORACLE | SHIPPED
# For calls that share their arithmetic with others.
FEW_LAWS = laws("plain", "ties", "sparse", "unequal ties", "shares")
SOME_LAWS = FEW_LAWS | laws("five", "two values", "inverted", "infinite", "single")
SPEAKER_LAWS = laws("plain", "thirty", "five", "ties", "rare", "unequal ties", "sparse")
# Where a line has a finite best scale, and scores can be trained on.
TRAINING = FEW_LAWS | laws(
    *("more", "thirty", "three", "integers", "two values", "chance", "large", "single")
)
ASVSPOOF = shipped("asvspoof dev")


# What is made of a set --------------------------------------------------------------------------
def key_of(x: sets.Trials) -> Any:
    return bp.Key(x.models, x.segments, x.is_tar, x.is_non)


def scores_of(x: sets.Trials, system: str = "a") -> Any:
    return bp.Scores(x.matrices[system], x.models, x.segments)


def systems_of(x: sets.Trials, systems: str = "abc") -> dict[str, Any]:
    return {system: scores_of(x, system) for system in systems}


def lists_of(x: sets.Trials, systems: str = "abc") -> list[np.ndarray]:
    return [np.array(rows) for rows in zip(*(x.lists(system) for system in systems), strict=True)]


def trials_of(x: sets.Trials) -> tuple[Any, Any]:
    return scores_of(x), key_of(x)


def conditions_of(x: sets.Trials) -> Any:
    return bp.Conditions(x.conditions, x.shares)


def weights_of(x: sets.Trials) -> dict[str, np.ndarray]:
    return dict(zip(("tar_weights", "non_weights"), x.weights, strict=True))


def two_classes(x: sets.Shipped) -> tuple[Any, dict[str, Any]]:
    """Return key and scores of what is shipped, without spoofs."""
    kept = x.labels != "spoof"
    trials = x.models[kept], x.segments[kept]
    key = bp.Key.from_trials(*trials, x.labels[kept] == "target")
    names = [name for name in x.scores if name != "aasist"]
    return key, {name: bp.Scores.from_trials(*trials, x.scores[name][kept]) for name in names}


def three_classes(x: sets.Shipped) -> tuple[Any, Any, Any]:
    """Return the key and the scores of both systems of a trial in twenty: to test numbers."""
    trials = x.models[::20], x.segments[::20]
    systems = (bp.Scores.from_trials(*trials, x.scores[n][::20]) for n in ("ecapa", "aasist"))
    return bp.Key.from_trials(*trials, x.labels[::20]), *systems


def verifier(x: Any) -> tuple[np.ndarray, ...]:
    if isinstance(x, sets.Trials):
        return x.tar, x.non, x.spoofs
    return tuple(x.of(label, "ecapa") for label in ("target", "nontarget", "spoof"))


def tandem(x: Any) -> dict[str, tuple[np.ndarray, ...]]:
    if isinstance(x, sets.Trials):
        return {"asv": verifier(x), "cm": x.countermeasure}
    bona_fide = x.scores["aasist"][x.labels != "spoof"]
    return {"asv": verifier(x), "cm": (bona_fide, x.of("spoof", "aasist"))}


def ends(found: Any) -> tuple[object, ...]:
    return found.value, found.standard_error, found.low, found.high


def tested(test: Any) -> tuple[object, ...]:
    return test.value, test.standard_error, test.z, test.p_value()


# Numbers ----------------------------------------------------------------------------------------
def results(x: Any) -> Any:
    return bp.Results(x.tar, x.non)


def of_law(x: sets.Trials) -> Any:
    return bp.Results.from_scores(scores_of(x), key_of(x), conditions_of(x))


def best_thresholds(found: Any) -> tuple[float, list[float]]:
    """Return the threshold of the EER, and those of the least costs."""
    return float(found.eer_threshold), [float(found.min_dcf_threshold(p)) for p in PRIORS]


def priors(x):
    point = bp.OperatingPoint(0.02, 5, 2)
    llrs = np.asarray(x.tar[:5], dtype=float)
    plain = bp.effective_prior(0.02, 5, 2), point.effective_prior, point.threshold
    return plain, bp.posterior(llrs, 0.1), bp.posterior(llrs, point), bp.logit([0.1, 0.9])


def of_labels(x):
    labels = [True] * x.tar.size + [False] * x.non.size
    found = bp.Results.from_labels(labels, np.concatenate([x.tar, x.non]))
    return found.eer, found.cllr, found.min_dcf(0.1)


def of_files(x):
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "scores.h5", Path(folder) / "key.h5"
        scores_of(x).save(paths[0])
        key_of(x).save(paths[1])
        found = bp.Results.from_files(*paths)
        return found.cllr, found.act_dcf(0.1), found.error_rates_at([0.0, 1.5])


def of_key(x):
    key, systems = two_classes(x)
    found = [bp.Results.from_scores(scores, key) for scores in systems.values()]
    return [[each.eer, each.auc, each.min_dcf(0.01)] for each in found]


numbers(
    ALL,
    eer=lambda x: bp.eer(x.tar, x.non),
    auc=lambda x: bp.auc(x.tar, x.non),
    prbep=lambda x: bp.prbep(x.tar, x.non),
    cllr=lambda x: bp.cllr(x.tar, x.non),
    min_cllr=lambda x: bp.min_cllr(x.tar, x.non),
    act_dcf=lambda x: bp.act_dcf(x.tar, x.non, PRIORS),
    min_dcf=lambda x: bp.min_dcf(x.tar, x.non, PRIORS),
    error_rates_at=lambda x: bp.error_rates_at(x.tar, x.non, [-4.6, 0.0, 1.5]),
)
STEPPY = each(definition=("interpolated", "step"))
numbers(ALL, options=STEPPY, eer_steppy=lambda x, **how: bp.eer(x.tar, x.non, **how))
numbers(
    LAWS | SHIPPED,
    act_dcf_at_point=lambda x: [bp.act_dcf(x.tar, x.non, POINT, n) for n in (False, True)],
    min_dcf_at_point=lambda x: [bp.min_dcf(x.tar, x.non, POINT, n) for n in (False, True)],
)
OF_ALL = ("eer", "auc", "prbep", "cllr", "min_cllr")
numbers(
    LAWS,
    weighted=lambda x: [getattr(bp, name)(x.tar, x.non, **weights_of(x)) for name in OF_ALL],
    of_conditions=lambda x: [getattr(of_law(x), name) for name in OF_ALL],
)
numbers(
    SOME_LAWS,
    of_labels,
    of_files,
    weighted_eer_steppy=lambda x: [bp.eer(x.tar, x.non, **how, **weights_of(x)) for how in STEPPY],
    weighted_dcf=lambda x: [
        cost(x.tar, x.non, PRIORS[1:], **weights_of(x)) for cost in (bp.act_dcf, bp.min_dcf)
    ],
    weighted_error_rates_at=lambda x: bp.error_rates_at(
        x.tar, x.non, [-4.6, 0.0, 1.5], **weights_of(x)
    ),
    of_conditions_dcf=lambda x: [
        [cost(prior) for prior in PRIORS] for cost in (of_law(x).act_dcf, of_law(x).min_dcf)
    ],
    of_conditions_error_rates_at=lambda x: of_law(x).error_rates_at([-4.6, 0.0, 1.5]),
)
numbers(LAWS, kind=Kind.EXACT, of_conditions_thresholds=lambda x: best_thresholds(of_law(x)))
numbers(ALL, kind=Kind.EXACT, thresholds=lambda x: best_thresholds(results(x)))
numbers(
    SOME_LAWS | SHIPPED,
    kind=Kind.EXACT,
    thresholds_of_rates=lambda x: [
        [float(results(x).threshold_at(**{name: rate})) for rate in (0.01, 0.1, 0.5)]
        for name in ("pfa", "pmiss")
    ],
    counts=lambda x: (results(x).n_tar, results(x).n_non),
)
numbers(SOME_LAWS | SHIPPED, results_calibration_loss=lambda x: results(x).calibration_loss)
numbers(SHIPPED | laws("plain", "ties"), priors)
RATES = [1e-6, 0.01, 0.5, 0.99]
numbers(
    laws("plain"),
    functions_of_priors=lambda _: (
        *(bp.logit(RATES), bp.probit(RATES), bp.sigmoid([-40.0, -1.0, 0.0, 3.0, 40.0])),
    ),
)
numbers(SHIPPED, of_key, but="asvspoof eval")


# Curves -----------------------------------------------------------------------------------------
def roc_of(x: Any, **weights: Any) -> tuple[object, ...]:
    roc = bp.ROC.from_scores(x.tar, x.non, **weights)
    return some(roc.corners().pmiss), some(roc.corners().pfa), roc.auc


def roc_thresholds(x):
    found = bp.ROC.from_scores(x.tar, x.non).corners().thresholds
    return digest(found), some(found, 4)


def hull_of(x: Any, **weights: Any) -> tuple[object, ...]:
    found = bp.Results(x.tar, x.non, **weights).rocch
    return some(found.pmiss), some(found.pfa)


def hull_numbers(x):
    hull = results(x).rocch
    return hull.eer, hull.prbep, hull.min_cllr, [*map(hull.unequal_error_rate, (0.1, 1.0, 3.0))]


def hull_weighted(x):
    found = bp.Results(x.tar, x.non, **weights_of(x)).rocch
    return hull_of(x, **weights_of(x)), found.eer, found.unequal_error_rate(3.0)


def toolkit_curves(x):
    curves = *matlab.opt_loglr(x.tar, x.non, "laplace"), *matlab.compute_roc(x.tar, x.non)
    return [some(curve, 3) for curve in curves]


curves(ALL, roc_thresholds, kind=Kind.EXACT)
LIMITS = None, 0.005, 0.5, 0.005, 0.5, 20
curves(
    ALL,
    roc=roc_of,
    hull=hull_of,
    det=lambda x: [some(line) for line in matlab.rocchdet(x.tar, x.non, *LIMITS)[:2]],
)
AXIS = bp.sigmoid(np.linspace(-6, 6, 5))
curves(LAWS | SHIPPED, bayes=lambda x: [f(x.tar, x.non, AXIS) for f in (bp.act_dcf, bp.min_dcf)])
curves(
    SOME_LAWS | SHIPPED,
    hull_numbers,
    optimal_llrs=lambda x: [*map(some, bp.optimal_llrs(x.tar, x.non))],
)
curves(
    SOME_LAWS,
    *(hull_weighted, toolkit_curves),
    toolkit=lambda x: [
        cost(x.tar, x.non, [-3.0, 0.0, 2.0], normalize=True)
        for cost in (matlab.fast_actDCF, matlab.fast_minDCF)
    ],
    roc_weighted=lambda x: roc_of(x, **weights_of(x)),
)


# Trained maps -----------------------------------------------------------------------------------
LINES = (
    *({"prior": p, "ridge": r} for p in (0.01, 0.1, 0.5) for r in (0.0, "weak")),
    {"prior": 0.1, "ridge": 0.0, "objective": "brier"},
    {"prior": 0.1, "ridge": "weak", "objective": "boost"},
    {"prior": 0.5, "ridge": 0.0, "objective": "boost"},
)
FUSIONS = (
    *({"prior": p, "ridge": r} for p in (0.01, 0.5) for r in (0.0, "weak")),
    {"prior": 0.1, "ridge": "weak", "objective": "brier"},
    {"prior": 0.1, "ridge": 0.0, "nonnegative": True},
)
WEAK = {"prior": 0.1, "ridge": "weak"}


def line(x, **options):
    return few(bp.LinearCalibration.fit(x.tar, x.non, **options).apply(x.tar))


def line_of_conditions(x, **options):
    trials, conditions = trials_of(x), conditions_of(x)
    found = bp.LinearCalibration.fit_scores(*trials, conditions=conditions, **options)
    return few(found.apply(trials[0]).scoremat)


def pav(x):
    found = bp.PAVCalibration.fit(x.tar, x.non)
    return [few(found.apply(scores)) for scores in (x.tar, x.non, [-1.3, 0.4, 2.2])]


def fusion(x, **options):
    tar, non = lists_of(x)
    return few(bp.LinearFusion.fit(tar, non, **options).apply(tar))


def fusion_of_weights(x):
    tar, non = lists_of(x, "ab")
    return few(bp.LinearFusion.fit(tar, non, **WEAK, **weights_of(x)).apply(non))


def fusion_of_scores(x):
    given = systems_of(x), key_of(x)
    return few(bp.LinearFusion.fit_scores(*given, **LINES[2]).apply(*given).scoremat)


def quality_of(x: sets.Trials) -> Any:
    model, segment = (measure[None, :] for measure in x.measures)
    return bp.QualityMeasures(x.models, x.segments, model, segment)


def fusion_with_quality(x, **options):
    given = systems_of(x, "ab"), [quality_of(x)], key_of(x)
    return few(bp.QualityFusion.fit_scores(*given, **options).apply(*given).scoremat)


def quality_systems(x):
    measures = {"seconds": (None, dict(zip(x.segments, x.measures[1], strict=True)))}
    found = bp.quality_systems(scores_of(x), measures, key_of(x), scale=["seconds"])
    return digests(*(system.scoremat for system in found))


def cross_fit(x, **options):
    how = {"speakers": x.speakers, "rng": 3, **options}
    found = bp.cross_fit(bp.LinearCalibration, *trials_of(x), **how)
    return few(found.scores.scoremat), few(found.final.apply(x.tar))


def cross_fit_fusion(x):
    how = {"speakers": x.speakers, "rng": 3, **WEAK}
    return few(bp.cross_fit(bp.LinearFusion, systems_of(x, "ab"), key_of(x), **how).scores.scoremat)


def sasv_fusion(x, ridge):
    key, asv, cm = three_classes(x)
    found = bp.SASVFusion.fit(key, asv=asv, cm=cm, costs="a-DCF1", ridge=ridge)
    lines = found.asv.apply([-0.1, 0.3, 0.8]), found.cm.apply([-4.0, 0.0, 3.0])
    return lines, few(found.apply(asv=asv, cm=cm, ndx=key.to_ndx()).scoremat)


def case_llr(x):
    words = {"propositions": ("one speaker", "two speakers"), "reference": "a law"}
    return bp.case_llr(2.0, *trials_of(x), **words, speakers=x.speakers, bounds=None).llr


def fusion_with_quality_of_oracle(x):
    shape = x["dev_tar"].shape
    ids = [f"m{i:02d}" for i in range(shape[0])], [f"s{i:02d}" for i in range(shape[1])]
    key = bp.Key(*ids, x["dev_tar"] > 0, x["dev_non"] > 0)
    systems = {name: bp.Scores(x[f"dev_{name}"], *ids) for name in ("s1", "s2")}
    given = systems, [bp.QualityMeasures(*ids, x["dev_mq"], x["dev_sq"])], key
    found = bp.QualityFusion.fit_scores(*given, prior=0.1, ridge=0.0)
    return few(found.apply(*given).scoremat, 12)


def _oracle_quality() -> dict[str, np.ndarray]:
    with np.load(sets.ORACLE / "fusion_quality.npz") as file:
        return {name: file[name] for name in file}


BOUNDS = each(kind=("elub", "iv", "wide"))
RIDGES = each(ridge=(0.0, "weak"))
maps(TRAINING, line, kind=Kind.LLRS, options=LINES)
maps(
    TRAINING,
    line_of_conditions,
    kind=Kind.LLRS,
    options=LINES[1:3],
    line_of_weights=lambda x, **options: few(
        bp.LinearCalibration.fit(x.tar, x.non, **weights_of(x), **options).apply(x.non)
    ),
)
maps(SHIPPED, kind=Kind.LLRS, options=LINES[:2], but="asvspoof eval", line_of_shipped=line)
maps(
    laws("plain"),
    kind=Kind.EXACT,
    line_given=lambda x: few(bp.LinearCalibration.from_line(1.5, -0.25).apply(x.tar)),
)
maps(LAWS, pav, but="infinite", kind=Kind.LLRS)
maps(
    SOME_LAWS,
    but="infinite",
    kind=Kind.LLRS,
    pav_of_weights=lambda x: few(bp.PAVCalibration.fit(x.tar, x.non, **weights_of(x)).apply(x.non)),
    pav_with_offset=lambda x: few(
        bp.PAVCalibration.fit(x.tar, x.non, score_offset=1e-6).apply(x.tar)
    ),
)
maps(
    TRAINING,
    kind=Kind.LLRS,
    gaussian=lambda x: few(bp.GaussianCalibration.fit(x.tar, x.non).apply(x.non)),
    gaussian_of_weights=lambda x: few(
        bp.GaussianCalibration.fit(x.tar, x.non, target_share=0.3, **weights_of(x)).apply(x.tar)
    ),
)
maps(
    SOME_LAWS | SHIPPED,
    options=BOUNDS,
    llr_bounds=lambda x, kind: [*bp.llr_bounds(x.tar, x.non, kind)],
)
maps(
    SPEAKER_LAWS,
    options=BOUNDS,
    llr_bounds_of_speakers=lambda x, kind: [
        *bp.llr_bounds(*trials_of(x), kind, speakers=x.speakers)
    ],
)
maps(
    TRAINING,
    kind=Kind.LLRS,
    options=each(bounds=("elub", "wide")),
    bounded=lambda x, bounds: few(
        bp.BoundedCalibration.fit(x.tar, x.non, bounds=bounds, **WEAK).apply(x.tar)
    ),
)
maps(TRAINING, fusion, kind=Kind.LLRS, options=FUSIONS)
maps(TRAINING, fusion_of_weights, fusion_of_scores, kind=Kind.LLRS)
maps(TRAINING, fusion_with_quality, kind=Kind.LLRS, options=(LINES[2], LINES[5]))
maps(FEW_LAWS, quality_systems, kind=Kind.EXACT)
maps(laws("plain", "more", "thirty", "ties", "shares"), cross_fit, kind=Kind.LLRS, options=(WEAK,))
maps(laws("plain", "more", "ties"), cross_fit_fusion, kind=Kind.LLRS)
maps(ASVSPOOF, sasv_fusion, kind=Kind.LLRS, options=RIDGES)
maps(laws("plain", "more", "shares"), case_llr)
maps({"oracle quality": _oracle_quality}, fusion_with_quality_of_oracle, kind=Kind.LLRS)


# Files ------------------------------------------------------------------------------------------
def again(thing: Any, suffix: str, *names: str) -> tuple[Any, Any]:
    """Save and read a thing: digests of its arrays, and of what is in the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"thing{suffix}"
        thing.save(path)
        seen: Any = []
        if suffix == ".txt":
            seen = f"bytes:{hashlib.sha256(path.read_bytes()).hexdigest()[:24]}"
        if suffix == ".h5":
            with h5py.File(path) as file:
                found: dict[str, Any] = {}
                file.visititems(found.__setitem__)
                seen = [
                    f"{name.replace(' ', '_')}={digest(item[()])}"
                    for name, item in found.items()
                    if isinstance(item, h5py.Dataset)
                ]
        read = type(thing).read(path)
        return digests(*(getattr(read, name) for name in names)), seen


SIDES = "modelset", "segset"


def id_map_of(x: sets.Trials) -> Any:
    return bp.IdMap(list(x.speakers), list(x.speakers.values()))


def model_again(x):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.json"
        bp.LinearCalibration.fit(x.tar, x.non, **WEAK).save(path)
        return few(bp.read_model(path).apply(x.tar))


TEXTS = {
    "three columns": "m1 s1 2.5\nm1 s2 -1.25\nm2 s2 0.1\nm2 s1 -1e-3\nm3 s1 -Inf\n",
    "tabs": "m1\ts1\t1e300\nm2\ts1\t4.9e-324\nm2\ts2\t0.30000000000000004\n",
    "blanks at the end": "m1 s1 7 \nm2 s1 8\t\n",
    "no newline at the end": "m1 s1 7\nm2 s1 8.125",
    "more ids": "b y 3\na z 2\na y 1\nb z 4\n",
    "letters": "zoë ström 1.5\nzoë naïve -2\n",
}
KEY_TEXTS = {
    "words": "m1 s1 target\nm1 s2 nontarget\nm2 s2 target\n",
    "truth first": "1 m1 s1\n0 m1 s2\n1 m2 s2\n",
    "imp": "m1 s1 imp\nm1 s2 tgt\nm2 s2 imp\n",
}


def read_text(reader: Callable[[Path], Any], text: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        path.write_text(text, encoding="utf-8")
        return reader(path)


def scores_of_text(text):
    found = [read_text(reader, text) for reader in (bp.Scores.read, bp.read_scores)]
    pairs = [(x, bp.Ndx(sorted(x.modelset), sorted(x.segset))) for x in found]
    same = [x.align_with_ndx(ndx) for x, ndx in pairs]
    return [digests(x.scoremat, x.scoremask) for x in same]


def key_of_text(text):
    key = read_text(bp.read_key, text)
    ids = sorted(key.modelset), sorted(key.segset)
    return digests(*bp.Scores(np.arange(4.0).reshape(2, 2), *ids).get_tar_non(key))


SAMPLES = {
    f"oracle {path.name}": _load(Path, path)
    for path in sorted((sets.ORACLE / "samples").iterdir())
    if path.suffix != ".json"
}


def sample_of_oracle(path):
    kind, *fields = {
        "id": (bp.IdMap, "leftids", "rightids"),
        "key": (bp.Key, *SIDES, "tar", "non"),
        "ndx": (bp.Ndx, *SIDES, "trialmask"),
        "quality": (bp.QualityMeasures, *SIDES, "modelQ", "segQ", "hasmodel"),
        "scores": (bp.Scores, *SIDES, "scoremat", "scoremask"),
        "seg": (bp.SegmentQuality, "ids", "values"),
    }[path.stem.partition("_")[0]]
    read = kind.read(path)
    return digests(*(getattr(read, field) for field in fields))


def example(x):
    name = "forensic" if x.name.startswith("forensic") else "asvspoof2019_la"
    part = bp.load_example(name)[x.name.endswith("eval")]
    arrays = [part.scores[system].get_tar_non(part.key) for system in sorted(part.scores)]
    return [digests(*pair) for pair in arrays], part.key.n_tar, part.key.n_non


def merged(x):
    half = len(x.models) // 2
    keys = [
        bp.Key(x.models[part], x.segments, x.is_tar[part], x.is_non[part])
        for part in (slice(0, half), slice(half, None))
    ]
    key = bp.Key.merge(*keys)
    return digests(key.modelset, key.tar, *scores_of(x).get_tar_non(key))


def filtered(x):
    key = key_of(x).filter(x.models[::2], x.segments[::3], keep=True)
    scores = scores_of(x).filter(x.models[1:3], x.segments[1:5], keep=False)
    return digests(key.modelset, key.segset, key.tar, scores.modelset, scores.scoremat)


def changed(x):
    ndx = bp.Ndx(x.models[1:], x.segments[:-1], (x.is_tar | x.is_non)[1:, :-1])
    scores = scores_of(x).filter(x.models[:-1], x.segments, keep=True)
    filled = scores.set_missing_to_value(ndx, -7.5)
    twice = scores.transform(lambda values: 2 * values).align_with_ndx(ndx)
    return digests(filled.scoremat, filled.scoremask, twice.scoremat, twice.scoremask)


def mapped(x):
    found = id_map_of(x)
    halves = [found.filter_on_left(ids, keep=True) for ids in (x.models, x.segments)]
    both = bp.IdMap.merge(*halves)
    return digests(found.map_left_to_right(x.segments), both.leftids, both.rightids)


def quality_changed(x):
    model, segment = (measure[None, :] for measure in x.measures)
    halves = [
        bp.QualityMeasures(x.models[part], x.segments[part], model[:, part], segment[:, part])
        for part in (slice(0, 5), slice(5, None))
    ]
    both = bp.QualityMeasures.merge(*halves)
    return digests(both.segset, both.segQ, both.modelQ, both.align_with_ndx(key_of(x)).segQ)


FORMATS = each(suffix=(".h5", ".mat", ".txt"))
EXACT = {"kind": Kind.EXACT}
files(
    FEW_LAWS,
    options=FORMATS,
    **EXACT,
    ndx_again=lambda x, suffix: again(
        bp.Ndx(x.models, x.segments, x.is_tar | x.is_non), suffix, "trialmask", *SIDES
    ),
    id_map_again=lambda x, suffix: again(id_map_of(x), suffix, "leftids", "rightids"),
    scores_again=lambda x, suffix: again(
        scores_of(x).align_with_ndx(key_of(x)), suffix, "scoremat", "scoremask", *SIDES
    ),
    key_again=lambda x, suffix: again(key_of(x), suffix, "tar", "non", *SIDES),
    segment_quality_again=lambda x, suffix: again(
        bp.SegmentQuality(x.segments, x.measures[1][None, :]), suffix, "ids", "values"
    ),
)
files(
    FEW_LAWS,
    options=FORMATS[:2],
    **EXACT,
    quality_again=lambda x, suffix: again(
        quality_of(x), suffix, "modelQ", "segQ", "hasmodel", "hasseg", "modelset"
    ),
)
files(laws("plain", "ties"), model_again, kind=Kind.LLRS)
files({f"text {n}": _load(str, text) for n, text in TEXTS.items()}, scores_of_text, **EXACT)
files({f"key {n}": _load(str, text) for n, text in KEY_TEXTS.items()}, key_of_text, **EXACT)
files(SAMPLES, sample_of_oracle, **EXACT)
files(shipped("asvspoof dev", "forensic dev", "forensic eval"), example, **EXACT)
files(FEW_LAWS, merged, filtered, changed, mapped, quality_changed, **EXACT)


# Plans ------------------------------------------------------------------------------------------
FIGURES = ("eer", "min_dcf(0.01)", "min_dcf(0.1)", "act_dcf(0.01)", "act_dcf(0.1)", "cllr")


def figures(
    systems: Any, key: Any, names: tuple[str, ...] = FIGURES, prior: Any = (0.01, 0.1), **how: Any
) -> list[list[Any]]:
    rows = bp.evaluate(systems, key, prior=prior, **how).to_dict()
    return [[row[name] for name in names] for row in rows]


def primary(scores: Any, key: Any, plan: str) -> tuple[object, object]:
    found = bp.primary_cost(scores, key, plan)
    return found.actual, found.minimum


def evaluate_cross_fit(x):
    how = {"speakers": x.speakers, "cross_fit": True, "rng": 3}
    return figures(systems_of(x, "ab"), key_of(x), ("act_dcf(0.1)", "cllr"), 0.1, **how)


def transfer(x, rule):
    test = scores_of(x, "b"), key_of(x)
    found = unc.transfer(trials_of(x), test, rule=rule, prior=0.1, normalize=False)
    return found.pmiss, found.pfa, found.hter, found.cost, found.own_minimum


def primary_cost_of_partitions(x, plan):
    # Two divisions of segments, one of models, one of trials.
    halves, thirds = np.arange(len(x.segments)) % 2, np.arange(len(x.segments)) // 2 % 2
    rows_of, _ = np.nonzero((x.is_tar | x.is_non).T)[::-1]
    is_tar = x.is_tar.T[(x.is_tar | x.is_non).T]
    match = np.where(is_tar & (np.arange(is_tar.size) % 3 > 0), "Y", "N")
    of_segments = {
        "gender": np.array(["male", "female"])[halves],
        "language": np.array(["cmn", "yue"])[thirds],
        "source_type": np.array(["pstn", "voip"])[thirds],
    }
    enrolled = np.array(["1", "3"])[np.arange(len(x.models)) % 2]
    key = key_of(x).with_columns(
        num_enroll_segs=("model", dict(zip(x.models, enrolled, strict=True))),
        **{n: ("segment", dict(zip(x.segments, c, strict=True))) for n, c in of_segments.items()},
        phone_num_match=match,
        source_type_match=np.where(rows_of % 2 > 0, "Y", "N"),
        language_match=match,
    )
    return primary(scores_of(x), key, plan)


POOLED = each(plan=("IVECTOR14", "SRE18-VAST", "SRE19-AV", "SRE20-CTS", "VoxSRC", "CNSRC"))
DIVIDED = each(plan=("SRE16", "SRE18-CMN2", "SRE21", "SRE24"))
UNEVEN = laws("plain", "ties", "shares", "unequal ties")
plans(
    shipped("forensic dev", "forensic eval"),
    options=POOLED,
    primary_cost=lambda x, plan: primary(two_classes(x)[1]["system"], two_classes(x)[0], plan),
)
plans(
    ASVSPOOF,
    options=POOLED,
    primary_cost_of_speech=lambda x, plan: primary(
        two_classes(x)[1]["ecapa"], two_classes(x)[0], plan
    ),
)
plans(
    FEW_LAWS,
    options=(POOLED[2], POOLED[0]),
    primary_cost_of_laws=lambda x, plan: primary(*trials_of(x), plan),
)
plans(SOME_LAWS, evaluate=lambda x: figures(systems_of(x), key_of(x), (*FIGURES, "min_cllr")))
plans(
    UNEVEN,
    evaluate_costs=lambda x: figures(systems_of(x), key_of(x), FIGURES[1:-1], normalize=False),
)
plans(
    UNEVEN,
    kind=Kind.EXACT,
    evaluate_counts=lambda x: figures(systems_of(x), key_of(x), ("n_tar", "n_non"), 0.1),
)
plans(SHIPPED, but="asvspoof eval", evaluate_shipped=lambda x: figures(*two_classes(x)[::-1]))
plans(
    SOME_LAWS,
    but="infinite",
    evaluate_conditions=lambda x: figures(
        systems_of(x, "ab"), key_of(x), conditions=conditions_of(x)
    ),
)
plans(
    laws("ties", "shares"),
    options=each(eer=("interpolated", "step")),
    evaluate_steppy=lambda x, eer: figures(systems_of(x), key_of(x), ("eer",), 0.1, eer=eer),
)
plans(laws("more", "shares"), evaluate_cross_fit)
plans(
    laws("plain", "more", "ties", "unequal ties"),
    transfer,
    options=each(rule=("eer", "min-cost", "bayes", {"pfa": 0.05})),
)
plans(
    {name: _load(bp.PLANS.__getitem__, name) for name in bp.PLANS},
    kind=Kind.EXACT,
    points=lambda plan: [[point.p_target, point.c_miss, point.c_fa] for point in plan.points],
)
plans(laws("more", "unequal", "unequal ties"), primary_cost_of_partitions, options=DIVIDED)


# The third class --------------------------------------------------------------------------------
def three_eers(x, **given):
    tar, non, spoof = verifier(x)
    first = bp.sv_eer(tar, non, **given), bp.spf_eer(tar, None, spoof, **given)
    return first, bp.sasv_eer(tar, non, spoof, **given)


OF_THREE: dict[str, Any] = {
    **{"ADCF": unc.ADCF("a-DCF1"), "ActADCF": unc.ActADCF("a-DCF1")},
    **{"SVEER": unc.SVEER(), "SPFEER": unc.SPFEER(), "SASVEER": unc.SASVEER()},
}


def of_three(x: sets.Shipped, metric: str) -> Any:
    key, scores, _ = three_classes(x)
    return unc.speaker_interval(scores, key, OF_THREE[metric], speakers=x.speakers)


THREE = FEW_LAWS | laws("more", "integers", "inverted") | ASVSPOOF
third_class(
    THREE,
    options=each(costs=("a-DCF1", "ASVspoof5")),
    a_dcf=lambda x, costs: [bp.a_dcf(*verifier(x), costs, normalize=n) for n in (True, False)],
    act_a_dcf=lambda x, costs: [
        bp.act_a_dcf(*verifier(x), costs, normalize=n) for n in (True, False)
    ],
)
COSTS = bp.SpoofCosts(0.8, 0.15, 0.05, 2, 5, 30)
third_class(
    THREE,
    three_eers,
    a_dcf_of_costs=lambda x: [f(*verifier(x), COSTS) for f in (bp.a_dcf, bp.act_a_dcf)],
    t_eer=lambda x: bp.t_eer(**tandem(x)),
)
third_class(THREE, options=STEPPY, three_eers_steppy=three_eers)
third_class(
    THREE,
    options=each(form=("revised", "legacy")),
    but="inverted",
    t_dcf=lambda x, form: [
        bp.t_dcf(**tandem(x), form=form, asv_threshold=at) for at in ("eer", 0.5)
    ],
)
third_class(
    ASVSPOOF,
    options=each(metric=OF_THREE),
    interval_value=lambda x, metric: of_three(x, metric).value,
    interval=lambda x, metric: ends(of_three(x, metric))[1:],
)


# Intervals --------------------------------------------------------------------------------------
DCF = unc.DCF(0.5, 0.1, normalize=False)
METRICS: dict[str, Any] = {
    "EER": unc.EER(),
    "MinDCF": unc.MinDCF(0.1),
    "ActDCF": unc.ActDCF(0.1, normalize=False),
    "Cllr": unc.Cllr(),
    "MinCllr": unc.MinCllr(),
    "AUC": unc.AUC(),
    "DCF": DCF,
    "DCFnorm": unc.DCF(0.5, 0.1),
    "Pmiss": unc.Pmiss(0.5),
    "PmissAt": unc.PmissAt(0.05),
    "PfaAt": unc.PfaAt(0.1),
}
EACH = each(metric=METRICS)
LAYERS = each(method=("one-layer", "two-layer"))


def interval_of(x: sets.Trials, metric: str, **how: Any) -> Any:
    return unc.speaker_interval(*trials_of(x), METRICS[metric], speakers=x.speakers, **how)


def by_speaker_of_shipped(x, metric):
    key, systems = two_classes(x)
    given = systems["system"], key, METRICS[metric]
    return ends(unc.speaker_interval(*given, speakers=x.speakers))


def sets_of(x: sets.Trials) -> dict[str, np.ndarray]:
    return dict(zip(("tar_sets", "non_sets"), x.sets, strict=True))


def errors_of(x: Any) -> Any:
    return unc.ErrorCounts.at_threshold(x.tar, x.non, 0.5)


intervals(
    SPEAKER_LAWS,
    options=EACH,
    by_speaker_value=lambda x, metric: interval_of(x, metric).value,
    by_speaker=lambda x, metric: ends(interval_of(x, metric))[1:],
)
intervals(
    laws("plain", "shares", "unequal ties"),
    options=EACH[:6],
    by_speaker_of_conditions=lambda x, metric: ends(
        interval_of(x, metric, conditions=conditions_of(x))
    ),
)
intervals(shipped("forensic eval"), by_speaker_of_shipped, options=EACH[:3])
ENDS = ("act_dcf(0.1)_low", "act_dcf(0.1)_high")
intervals(
    laws("plain", "more", "ties"),
    evaluate_by_speaker=lambda x: figures(
        systems_of(x, "ab"), key_of(x), ENDS, 0.1, speakers=x.speakers
    ),
)
intervals(
    {f"{e} of {n}": _load(tuple, (e, n)) for e, n in ((0, 50), (3, 50), (40, 1000), (50, 50))},
    options=each(method=("wilson", "normal")),
    proportion=lambda x, method: ends(unc.error_rate_interval(*x, method=method, confidence=0.9)),
)
intervals(
    SOME_LAWS | SHIPPED,
    options=each(method=("hter", "class")),
    hter=lambda x, method: ends(unc.hter_interval(errors_of(x), method=method)),
)
intervals(
    SOME_LAWS | SHIPPED,
    dcf_of_counts=lambda x: ends(unc.dcf_interval(errors_of(x), POINT)),
    dcf_standard_error=lambda x: unc.dcf_standard_error(x.tar, x.non, DCF),
)
intervals(
    SOME_LAWS | SHIPPED,
    but="inverted",
    auc_standard_error=lambda x: unc.auc_standard_error(x.tar, x.non),
)
intervals(
    SPEAKER_LAWS,
    options=LAYERS,
    dcf_standard_error_of_sets=lambda x, method: unc.dcf_standard_error(
        x.tar, x.non, DCF, method=method, **sets_of(x)
    ),
)
intervals({f"{n} trials": _load(float, n) for n in (30, 300, 50000)}, rule_of_30=unc.rule_of_30)


# Tests ------------------------------------------------------------------------------------------
def decisions_of(x: sets.Trials) -> tuple[Any, Any]:
    first, second = (unc.Decisions.at_threshold(*x.lists(system), 0.5) for system in "ab")
    return first, second


def hter_z_test_of_rates(x):
    pairs = x[:2], x[2:]
    first, second = (unc.ErrorCounts.from_rates(a, 5825, b, 57748) for a, b in pairs)
    return tested(unc.hter_z_test(first, second)), first.hter, second.hter


def mcnemar(x, method):
    found = unc.mcnemar_test(*decisions_of(x), method=method)
    return found.only_a_errs, found.only_b_errs, found.p_value


def delong(x):
    found = unc.delong(*lists_of(x, "ab"))
    return found.auc, found.covariance, found.standard_errors, tested(found.compare())


def compare_systems(x, metric):
    given = systems_of(x), key_of(x), METRICS[metric]
    found = unc.compare_systems(*given, speakers=x.speakers)
    return [[row.difference.value, row.p, row.p_holm] for row in found.rows]


def means_and_variances(x):
    first, second = x[::2], x[1::2] + 0.125
    variances = unc.f_test_of_variances(first, second)
    return tested(unc.z_test_of_means(first, second)), variances.ratio, variances.p_value


PAIRS = laws(
    *("plain", "more", "ties", "rare", "inverted", "sparse", "unequal ties", "chance", "single")
)
tests(
    PAIRS,
    kind=Kind.EXACT,
    counts_of_decisions=lambda x: [
        [one.counts.misses, one.counts.n_tar, one.counts.false_alarms, one.counts.n_non]
        for one in decisions_of(x)
    ],
)
tests(
    PAIRS,
    options=each(method=("independent", "dependent", "stricter", "naive", "class")),
    hter_z_test=lambda x, method: tested(unc.hter_z_test(*decisions_of(x), method=method)),
)
tests(
    PAIRS,
    options=each(method=("independent", "dependent")),
    dcf_z_test=lambda x, method: tested(
        unc.dcf_z_test(*decisions_of(x), POINT, method=method, normalize=False)
    ),
)
tests({"Bengio": _load(tuple, (0.096, 0.131, 0.078, 0.158))}, hter_z_test_of_rates)
tests(PAIRS, mcnemar, options=each(method=("exact", "mid-p", "chi2", "corrected")))
tests(PAIRS, delong)
tests(SPEAKER_LAWS, compare_systems, options=EACH[:6])
tests(
    {
        f"{n} numbers": _load(sets.dyadic, np.random.default_rng(n).normal(1.0, 0.2, n))
        for n in (12, 40)
    },
    means_and_variances,
    normality=lambda x: (unc.normality_test(x).w, unc.normality_test(x).p_value),
    quantile=lambda x: unc.quantile(x, [0.025, 0.5, 0.9]),
)


# Replicates -------------------------------------------------------------------------------------
DRAWS = {"replications": 99, "rng": 3}
DRAWN = laws("plain", "ties", "thirty", "unequal ties")


def drawn(x: sets.Trials, metric: str, **how: Any) -> tuple[object, ...]:
    found = unc.bootstrap(x.tar, x.non, METRICS[metric], **how, **DRAWS)
    return ends(found), some(found.replicates, 4)


def drawn_trials(x: sets.Trials, metric: str, **how: Any) -> tuple[object, ...]:
    found = unc.bootstrap_scores(*trials_of(x), METRICS[metric], **how, **DRAWS)
    return ends(found), some(found.replicates, 4)


def standard_errors(x):
    runs = {"runs": 5, "replications": 50, "rng": 3}
    found = unc.standard_error_distribution(x.tar, x.non, DCF, **runs)
    return found.standard_errors, found.spread.low, found.spread.high


def equal_size_sets(x):
    found = unc.equal_size_sets(x.sets[1], rng=3)
    return found.size, found.n_sets, digest(found.mask)


def table(x):
    how = {"methods": ["iid", "two-layer"], "speakers": x.speakers, "runs": 0, **DRAWS}
    found = unc.bootstrap_table(systems_of(x, "ab"), key_of(x), DCF, **how)
    return [ends(row.estimate) for row in found.rows]


replicates(
    DRAWN,
    options=EACH,
    iid=drawn,
    of_speakers=lambda x, metric: drawn_trials(x, metric, speakers=x.speakers),
)
replicates(
    DRAWN,
    options=(EACH[0], EACH[3]),
    iid_normal=lambda x, metric: drawn(x, metric, interval="normal"),
)
replicates(
    DRAWN,
    options=tuple(layers | metric for layers in LAYERS for metric in (*EACH[:3], EACH[6])),
    of_sets=lambda x, method, metric: drawn(x, metric, method=method, **sets_of(x)),
)
replicates(
    DRAWN, options=EACH[:3], iid_of_scores=lambda x, metric: drawn_trials(x, metric, method="iid")
)
replicates(DRAWN, standard_errors)
replicates(laws("unequal", "unequal ties", "sparse"), equal_size_sets, kind=Kind.EXACT)
replicates(laws("plain", "ties"), table)
