"""The calls of the ledger by room: each a small function of one set of data.

The first part has what is written differently in version 0.3, which made the numbers, and here: a
renamed name is changed in that one place. To drop a feature, delete its calls, then run
``python tests/ledger/make_ledger.py --prune``.
"""

import hashlib
import inspect
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
    slow: bool

    def run(self) -> list[str | float]:
        """Compute, and return all numbers and texts in order."""
        return list(flat(self.function(self.data(), **self.options)))


CALLS: dict[str, Call] = {}


def flat(found: object) -> Iterator[str | float]:
    """Yield the numbers and texts of nested tuples, lists, mappings and arrays."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, Mapping):
        for value in found.values():
            yield from flat(value)
    elif isinstance(found, (tuple, list)):
        for value in found:
            yield from flat(value)
    else:
        yield from np.ravel(np.asarray(found, dtype=float)).tolist()


def room(name: str) -> Callable[..., Callable[[Callable[..., object]], Callable[..., object]]]:
    """Return the decorator that enters a function into a room of the ledger."""

    def enter(
        *data: Mapping[str, Callable[[], Any]],
        kind: Kind = Kind.NUMBER,
        but: str = "",
        slow: bool = False,
        options: tuple[dict[str, Any], ...] = ({},),
    ) -> Callable[[Callable[..., object]], Callable[..., object]]:
        """Enter a call for each set, but those of `but`, and each of the options."""
        left_out = {text.strip() for text in but.split(",")}

        def entered(function: Callable[..., object]) -> Callable[..., object]:
            for given in options:
                words = "".join(f" {option}={value}" for option, value in given.items())
                for of in data:
                    for set_name, load in of.items():
                        if set_name in left_out:
                            continue
                        call = Call(function, load, given, kind, slow)
                        CALLS[f"{name}/{function.__name__}{words}/{set_name}"] = call
            return function

        return entered

    return enter


def some(values: Any, n: int = 5) -> np.ndarray:
    """Return how many values there are, and `n` of them, spread evenly."""
    values = np.ravel(np.asarray(values, dtype=float))
    at = np.unique(np.linspace(0, values.size - 1, n).astype(int)) if values.size else []
    return np.concatenate([[values.size], values[at]])


def few(values: Any, n: int = 4) -> np.ndarray:
    """Return `n` log-likelihood-ratios, spread evenly."""
    return some(values, n)[1:]


def digest(values: Any) -> str:
    """Return a text that is the same if shape and values are; for what must be equal."""
    values = np.asarray(values)
    if values.dtype.kind in "US":
        data = "\n".join(values.astype(str).ravel().tolist()).encode()
    elif values.dtype.kind == "O":
        data = "\n".join(
            x.decode() if isinstance(x, bytes) else str(x) for x in values.ravel()
        ).encode()
    else:
        # Sums with zero make negative zeros positive.
        data = (values.astype(np.float64) + 0.0).tobytes()
    shape = "x".join(map(str, values.shape))
    return f"{shape}:{hashlib.sha256(data).hexdigest()[:24]}"


# The sets ---------------------------------------------------------------------------------------


def _load(function: Callable[..., Any], *given: Any) -> Callable[[], Any]:
    return lambda: function(*given)


def _laws(*names: str) -> dict[str, Callable[[], sets.Trials]]:
    return {name: _load(sets.law, name) for name in names or sets.LAWS}


def _shipped(*names: str) -> dict[str, Callable[[], sets.Shipped]]:
    folder = Path(bp.__file__).parent / "examples"
    return {name: _load(sets.shipped, folder, name) for name in names or sets.SHIPPED}


LAWS = _laws()
ORACLE = {f"oracle {name}": _load(sets.oracle, name) for name in sets.oracle_names()}
SHIPPED = _shipped()
# For calls that share their arithmetic with others.
SOME_LAWS = _laws(
    *("plain", "five", "ties", "two values", "inverted", "sparse", "unequal ties", "shares"),
    *("infinite", "single"),
)
FEW_LAWS = _laws("plain", "ties", "sparse", "unequal ties", "shares")
SPEAKER_LAWS = _laws("plain", "thirty", "five", "ties", "rare", "unequal ties", "sparse")
# Where a line has a finite best scale, and scores can be trained on.
TRAINING = _laws(
    *("plain", "more", "thirty", "three", "ties", "integers", "two values", "chance", "sparse"),
    *("unequal ties", "shares", "large", "single"),
)


# What 0.3 writes differently --------------------------------------------------------------------


def takes(function: Callable[..., object], option: str) -> bool:
    """Tell whether a function has an argument of that name."""
    return option in inspect.signature(function).parameters


def value_of(result: Any) -> Any:
    """Return the value of an estimate, an interval or a test."""
    names = ("value", "difference", "estimate")
    return next(getattr(result, name) for name in names if hasattr(result, name))


def p_of(test: Any) -> Any:
    """Return the p-value of a test."""
    return test.p_value() if callable(test.p_value) else test.p_value


def tested(test: Any) -> tuple[object, ...]:
    """Return what a z-test says."""
    return value_of(test), test.standard_error, test.z, p_of(test)


def ends(result: Any) -> tuple[object, ...]:
    """Return value, standard error and both ends."""
    return value_of(result), result.standard_error, result.low, result.high


def dcf(threshold: float, prior: float, *, normalize: bool = False) -> Any:
    """Return the metric of costs at a threshold."""
    if takes(unc.DCF, "p_target"):
        return unc.DCF(threshold, prior, 1, 1, normalize=normalize)
    return unc.DCF(threshold, prior, normalize=normalize)


def drawn_roc(*lists: Any, **weights: Any) -> Any:
    """Return the corners of a ROC."""
    roc = bp.ROC.from_scores(*lists, **weights)
    return roc.corners() if hasattr(roc, "corners") else roc


def pmiss_at(pfa: float) -> Any:
    """Return the metric of the miss rate at a false-alarm rate."""
    return unc.PmissAt(pfa) if hasattr(unc, "PmissAt") else unc.FNMRAt(pfa)


def pfa_at(pmiss: float) -> Any:
    """Return the metric of the false-alarm rate at a miss rate."""
    return unc.PfaAt(pmiss) if hasattr(unc, "PfaAt") else unc.FMRAt(pmiss)


def pmiss(threshold: float) -> Any:
    """Return the metric of the miss rate at a threshold."""
    return unc.Pmiss(threshold) if hasattr(unc, "Pmiss") else unc.FNMR(threshold)


def with_columns(key: Any, models: Any, segments: Any, trials: Any) -> Any:
    """Return a key with columns of its models, segments and trials: lists by name."""
    if not hasattr(bp.Key, "with_columns"):
        given = {"trial_columns": trials, "model_columns": models, "segment_columns": segments}
        return key, bp.TrialMetadata(key, **given)
    sides = {"model": (key.modelset, models), "segment": (key.segset, segments)}
    columns = {
        name: (side, dict(zip(ids, values, strict=True)))
        for side, (ids, of) in sides.items()
        for name, values in of.items()
    }
    return key.with_columns(**columns, **trials)


def transferred(dev: Any, test: Any, rule: Any, prior: float) -> tuple[object, ...]:
    """Return what a threshold of a dev set costs on a test set."""
    if takes(unc.transfer, "prior"):
        found = unc.transfer(dev, test, rule=rule, prior=prior)
        rates = found.pmiss, found.pfa
    else:
        rule = f"fmr={rule['pfa']}" if isinstance(rule, dict) else rule
        found = unc.transfer(dev, test, rule=rule, point=prior)
        rates = found.frr, found.far
    return *rates, found.hter, found.cost, found.own_minimum


def points_of(plan: Any) -> Any:
    """Return the operating points of a plan."""
    return plan.points if hasattr(plan, "points") else plan.operating_points


def rows(evaluation: Any) -> list[Any]:
    """Return the rows of an evaluation."""
    found = evaluation.to_dict() if hasattr(evaluation, "to_dict") else evaluation.records()
    return list(found)


def evaluated(systems: Any, key: Any, prior: Any, **options: Any) -> list[Any]:
    """Return the rows of an evaluation at operating points."""
    name = "prior" if takes(bp.evaluate, "prior") else "priors"
    return rows(bp.evaluate(systems, key, **{name: prior}, **options))


def key_with_spoofs(models: Any, segments: Any, labels: Any) -> Any:
    """Return the key of three classes."""
    if takes(bp.Key, "spoof"):
        return bp.Key.from_trials(models, segments, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "key.txt"
        lines = zip(models, segments, labels, strict=True)
        path.write_text("".join(f"{' '.join(line)}\n" for line in lines))
        return bp.read_key(path, spoof="keep")


def labels_of(key: Any) -> Any:
    """Return the key of what `read_key` gives, which had two parts."""
    return key[0] if isinstance(key, tuple) else key


def corrected(table: Any) -> list[Any]:
    """Return difference, p-value and Holm's p-value of each pair."""
    if hasattr(table, "records"):
        return [[r["difference"], r["p_value"], r["p_holm"]] for r in table.records()]
    return [[value_of(r.difference), r.p, r.p_holm] for r in table.rows]


HOLM = {"correction": "holm"} if takes(unc.compare_systems, "correction") else {}


# What is made of a set --------------------------------------------------------------------------


def key_of(x: sets.Trials) -> Any:
    """Return the key of a law."""
    return bp.Key(x.models, x.segments, x.is_tar, x.is_non)


def scores_of(x: sets.Trials, system: str = "a") -> Any:
    """Return the scores of a system of a law."""
    return bp.Scores(x.matrices[system], x.models, x.segments)


def systems_of(x: sets.Trials, systems: str = "abc") -> dict[str, Any]:
    """Return the scores of systems by name."""
    return {system: scores_of(x, system) for system in systems}


def conditions_of(x: sets.Trials) -> Any:
    """Return the conditions of a law, with weights."""
    return bp.Conditions(x.conditions, x.shares)


def weights_of(x: sets.Trials) -> dict[str, np.ndarray]:
    """Return weights of trials as options."""
    return dict(zip(("tar_weights", "non_weights"), x.weights, strict=True))


def two_classes(x: sets.Shipped) -> tuple[Any, dict[str, Any]]:
    """Return key and scores of what is shipped, without spoofs."""
    kept = x.labels != "spoof"
    trials = x.models[kept], x.segments[kept]
    key = bp.Key.from_trials(*trials, x.labels[kept] == "target")
    names = [name for name in x.scores if name != "aasist"]
    return key, {name: bp.Scores.from_trials(*trials, x.scores[name][kept]) for name in names}


def verifier(x: Any) -> tuple[np.ndarray, ...]:
    """Return target, non-target and spoof scores."""
    if isinstance(x, sets.Trials):
        return x.tar, x.non, x.spoofs
    return tuple(x.of(label, "ecapa") for label in ("target", "nontarget", "spoof"))


def tandem(x: Any) -> dict[str, tuple[np.ndarray, ...]]:
    """Return scores of a verifier and of a countermeasure."""
    if isinstance(x, sets.Trials):
        return {"asv": verifier(x), "cm": x.countermeasure}
    bona_fide = x.scores["aasist"][x.labels != "spoof"]
    return {"asv": verifier(x), "cm": (bona_fide, x.of("spoof", "aasist"))}


# Numbers ----------------------------------------------------------------------------------------

numbers = room("numbers")


@numbers(LAWS, ORACLE, SHIPPED)
def eer(x):
    return bp.eer(x.tar, x.non)


@numbers(LAWS, ORACLE, SHIPPED, options=({"definition": "interpolated"}, {"definition": "step"}))
def eer_steppy(x, definition):
    return bp.eer(x.tar, x.non, definition=definition)


@numbers(LAWS, ORACLE, SHIPPED)
def auc(x):
    return bp.auc(x.tar, x.non)


@numbers(LAWS, ORACLE, SHIPPED)
def prbep(x):
    return bp.prbep(x.tar, x.non)


@numbers(LAWS, ORACLE, SHIPPED)
def cllr(x):
    return bp.cllr(x.tar, x.non)


@numbers(LAWS, ORACLE, SHIPPED)
def min_cllr(x):
    return bp.min_cllr(x.tar, x.non)


@numbers(LAWS, ORACLE, SHIPPED)
def act_dcf(x):
    return bp.act_dcf(x.tar, x.non, PRIORS, normalize=True)


@numbers(LAWS, SHIPPED)
def act_dcf_at_point(x):
    return [bp.act_dcf(x.tar, x.non, POINT, normalize=n) for n in (False, True)]


@numbers(LAWS, ORACLE, SHIPPED)
def min_dcf(x):
    return bp.min_dcf(x.tar, x.non, PRIORS, normalize=True)


@numbers(LAWS, SHIPPED)
def min_dcf_at_point(x):
    return [bp.min_dcf(x.tar, x.non, POINT, normalize=n) for n in (False, True)]


@numbers(LAWS, ORACLE, SHIPPED)
def error_rates_at(x):
    return bp.error_rates_at(x.tar, x.non, [-4.6, 0.0, 1.5])


@numbers(LAWS)
def weighted(x):
    given = weights_of(x)
    metrics = bp.eer, bp.auc, bp.prbep, bp.cllr, bp.min_cllr
    return [metric(x.tar, x.non, **given) for metric in metrics]


@numbers(SOME_LAWS)
def weighted_eer_steppy(x):
    definitions = "interpolated", "step"
    return [bp.eer(x.tar, x.non, definition=one, **weights_of(x)) for one in definitions]


@numbers(SOME_LAWS)
def weighted_dcf(x):
    given = weights_of(x)
    costs = bp.act_dcf, bp.min_dcf
    return [f(x.tar, x.non, PRIORS[1:], normalize=True, **given) for f in costs]


@numbers(SOME_LAWS)
def weighted_error_rates_at(x):
    return bp.error_rates_at(x.tar, x.non, [-4.6, 0.0, 1.5], **weights_of(x))


@numbers(LAWS)
def of_conditions(x):
    results = bp.Results.from_scores(scores_of(x), key_of(x), conditions_of(x))
    return results.eer, results.auc, results.prbep, results.cllr, results.min_cllr


@numbers(SOME_LAWS)
def of_conditions_dcf(x):
    results = bp.Results.from_scores(scores_of(x), key_of(x), conditions_of(x))
    actual = [results.act_dcf(prior, normalize=True) for prior in PRIORS]
    return actual, [results.min_dcf(prior, normalize=True) for prior in PRIORS]


@numbers(SOME_LAWS)
def of_conditions_error_rates_at(x):
    results = bp.Results.from_scores(scores_of(x), key_of(x), conditions_of(x))
    return results.error_rates_at([-4.6, 0.0, 1.5])


@numbers(LAWS, kind=Kind.EXACT)
def of_conditions_thresholds(x):
    results = bp.Results.from_scores(scores_of(x), key_of(x), conditions_of(x))
    least = [float(results.min_dcf_threshold(prior)) for prior in PRIORS]
    return float(results.eer_threshold), least


@numbers(SOME_LAWS, SHIPPED, kind=Kind.EXACT)
def counts(x):
    results = bp.Results(x.tar, x.non)
    return results.n_tar, results.n_non


@numbers(LAWS, ORACLE, SHIPPED, kind=Kind.EXACT)
def thresholds(x):
    results = bp.Results(x.tar, x.non)
    least = [float(results.min_dcf_threshold(prior)) for prior in PRIORS]
    return float(results.eer_threshold), least


@numbers(SOME_LAWS, SHIPPED, kind=Kind.EXACT)
def thresholds_of_rates(x):
    results = bp.Results(x.tar, x.non)
    of_pfa = [float(results.threshold_at(pfa=rate)) for rate in (0.01, 0.1, 0.5)]
    return of_pfa, [float(results.threshold_at(pmiss=rate)) for rate in (0.01, 0.1, 0.5)]


@numbers(SOME_LAWS, SHIPPED)
def results_calibration_loss(x):
    return bp.Results(x.tar, x.non).calibration_loss


@numbers(SHIPPED, _laws("plain", "ties"))
def priors(x):
    point = bp.OperatingPoint(0.02, 5, 2)
    llrs = np.asarray(x.tar[:5], dtype=float)
    plain = bp.effective_prior(0.02, 5, 2), point.effective_prior, point.threshold
    return plain, bp.posterior(llrs, 0.1), bp.posterior(llrs, point), bp.logit([0.1, 0.9])


@numbers(_laws("plain"))
def functions_of_priors(x):
    rates = [1e-6, 0.01, 0.5, 0.99]
    return bp.logit(rates), bp.probit(rates), bp.sigmoid([-40.0, -1.0, 0.0, 3.0, 40.0])


@numbers(SOME_LAWS)
def of_labels(x):
    labels = [True] * x.tar.size + [False] * x.non.size
    results = bp.Results.from_labels(labels, np.concatenate([x.tar, x.non]))
    return results.eer, results.cllr, results.min_dcf(0.1, normalize=True)


@numbers(SOME_LAWS)
def of_files(x):
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "scores.h5", Path(folder) / "key.h5"
        scores_of(x).save(paths[0])
        key_of(x).save(paths[1])
        results = bp.Results.from_files(*paths)
        rates = results.error_rates_at([0.0, 1.5])
        return results.cllr, results.act_dcf(0.1, normalize=True), rates


@numbers(SHIPPED, but="asvspoof eval")
def of_key(x):
    key, systems = two_classes(x)
    found = [bp.Results.from_scores(scores, key) for scores in systems.values()]
    return [[results.eer, results.auc, results.min_dcf(0.01, normalize=True)] for results in found]


# Curves -----------------------------------------------------------------------------------------

curves = room("curves")


@curves(LAWS, ORACLE, SHIPPED, kind=Kind.EXACT)
def roc_thresholds(x):
    found = drawn_roc(x.tar, x.non).thresholds
    return digest(found), some(found, 4)


@curves(LAWS, ORACLE, SHIPPED)
def roc(x):
    found = drawn_roc(x.tar, x.non)
    auc = bp.ROC.from_scores(x.tar, x.non).auc
    return some(found.pmiss), some(found.pfa), auc


@curves(SOME_LAWS)
def roc_weighted(x):
    found = drawn_roc(x.tar, x.non, **weights_of(x))
    auc = bp.ROC.from_scores(x.tar, x.non, **weights_of(x)).auc
    return some(found.pmiss), some(found.pfa), auc


@curves(LAWS, ORACLE, SHIPPED)
def hull(x):
    found = bp.Results(x.tar, x.non).rocch
    return some(found.pmiss), some(found.pfa)


@curves(SOME_LAWS, SHIPPED)
def hull_numbers(x):
    found = bp.Results(x.tar, x.non).rocch
    unequal = [found.unequal_error_rate(ratio) for ratio in (0.1, 1.0, 3.0)]
    return found.eer, found.prbep, found.min_cllr, unequal


@curves(SOME_LAWS)
def hull_weighted(x):
    found = bp.Results(x.tar, x.non, **weights_of(x)).rocch
    return some(found.pmiss), some(found.pfa), found.eer, found.unequal_error_rate(3.0)


@curves(LAWS, SHIPPED)
def bayes(x):
    plo = np.linspace(-6, 6, 5)
    prior = bp.sigmoid(plo)
    actual = bp.act_dcf(x.tar, x.non, prior, normalize=True)
    return actual, bp.min_dcf(x.tar, x.non, prior, normalize=True)


@curves(LAWS, ORACLE, SHIPPED)
def det(x):
    found = matlab.rocchdet(x.tar, x.non, None, 0.005, 0.5, 0.005, 0.5, 20)
    return some(found[0], 5), some(found[1], 5)


@curves(SOME_LAWS, SHIPPED)
def optimal_llrs(x):
    tar, non = bp.optimal_llrs(x.tar, x.non)
    return some(tar), some(non)


@curves(SOME_LAWS)
def toolkit(x):
    actual = matlab.fast_actDCF(x.tar, x.non, [-3.0, 0.0, 2.0], normalize=True)
    least = matlab.fast_minDCF(x.tar, x.non, [-3.0, 0.0, 2.0], normalize=True)
    return actual, least


@curves(SOME_LAWS)
def toolkit_curves(x):
    tar, non = matlab.opt_loglr(x.tar, x.non, "laplace")
    pmiss, pfa = matlab.compute_roc(x.tar, x.non)
    return some(tar, 3), some(non, 3), some(pmiss, 3), some(pfa, 3)


# Trained maps -----------------------------------------------------------------------------------

maps = room("maps")

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


@maps(TRAINING, kind=Kind.LLRS, options=LINES)
def line(x, **options):
    return few(bp.LinearCalibration.fit(x.tar, x.non, **options).apply(x.tar))


@maps(TRAINING, kind=Kind.LLRS, options=LINES[1:3])
def line_of_weights(x, **options):
    found = bp.LinearCalibration.fit(x.tar, x.non, **weights_of(x), **options)
    return few(found.apply(x.non))


@maps(TRAINING, kind=Kind.LLRS, options=LINES[1:3])
def line_of_conditions(x, **options):
    scores = scores_of(x)
    found = bp.LinearCalibration.fit_scores(
        scores, key_of(x), conditions=conditions_of(x), **options
    )
    return few(found.apply(scores).scoremat)


@maps(SHIPPED, kind=Kind.LLRS, options=(LINES[0], LINES[1]), but="asvspoof eval")
def line_of_shipped(x, **options):
    return few(bp.LinearCalibration.fit(x.tar, x.non, **options).apply(x.tar))


@maps(_laws("plain"), kind=Kind.EXACT)
def line_given(x):
    return few(bp.LinearCalibration.from_line(1.5, -0.25).apply(x.tar))


@maps(LAWS, but="infinite", kind=Kind.LLRS)
def pav(x):
    found = bp.PAVCalibration.fit(x.tar, x.non)
    return few(found.apply(x.tar)), few(found.apply(x.non)), few(found.apply([-1.3, 0.4, 2.2]))


@maps(SOME_LAWS, but="infinite", kind=Kind.LLRS)
def pav_of_weights(x):
    return few(bp.PAVCalibration.fit(x.tar, x.non, **weights_of(x)).apply(x.non))


@maps(SOME_LAWS, but="infinite", kind=Kind.LLRS)
def pav_with_offset(x):
    return few(bp.PAVCalibration.fit(x.tar, x.non, score_offset=1e-6).apply(x.tar))


@maps(TRAINING, kind=Kind.LLRS)
def gaussian(x):
    return few(bp.GaussianCalibration.fit(x.tar, x.non).apply(x.non))


@maps(TRAINING, kind=Kind.LLRS)
def gaussian_of_weights(x):
    found = bp.GaussianCalibration.fit(x.tar, x.non, target_share=0.3, **weights_of(x))
    return few(found.apply(x.tar))


BOUNDS = ({"kind": "elub"}, {"kind": "iv"}, {"kind": "wide"})


@maps(SOME_LAWS, SHIPPED, options=BOUNDS)
def llr_bounds(x, kind):
    found = bp.llr_bounds(x.tar, x.non, kind)
    return found.low, found.high


@maps(SPEAKER_LAWS, options=BOUNDS)
def llr_bounds_of_speakers(x, kind):
    found = bp.llr_bounds(scores_of(x), key_of(x), kind, speakers=x.speakers)
    return found.low, found.high


@maps(TRAINING, kind=Kind.LLRS, options=({"bounds": "elub"}, {"bounds": "wide"}))
def bounded(x, bounds):
    found = bp.BoundedCalibration.fit(x.tar, x.non, bounds=bounds, prior=0.1, ridge="weak")
    return few(found.apply(x.tar))


@maps(TRAINING, kind=Kind.LLRS, options=FUSIONS)
def fusion(x, **options):
    tar, non = zip(*(x.lists(system) for system in "abc"), strict=True)
    return few(bp.LinearFusion.fit(np.array(tar), np.array(non), **options).apply(np.array(tar)))


@maps(TRAINING, kind=Kind.LLRS)
def fusion_of_weights(x):
    tar, non = zip(*(x.lists(system) for system in "ab"), strict=True)
    given = {"prior": 0.1, "ridge": "weak", **weights_of(x)}
    return few(bp.LinearFusion.fit(np.array(tar), np.array(non), **given).apply(np.array(non)))


@maps(TRAINING, kind=Kind.LLRS)
def fusion_of_scores(x):
    systems, key = systems_of(x), key_of(x)
    found = bp.LinearFusion.fit_scores(systems, key, prior=0.1, ridge=0.0)
    return few(found.apply(systems, key).scoremat)


def _quality(x: sets.Trials) -> Any:
    model, segment = (measure[None, :] for measure in x.measures)
    return bp.QualityMeasures(x.models, x.segments, model, segment)


@maps(
    TRAINING,
    kind=Kind.LLRS,
    options=({"prior": 0.1, "ridge": 0.0}, {"prior": 0.5, "ridge": "weak"}),
)
def fusion_with_quality(x, **options):
    systems, key, quality = systems_of(x, "ab"), key_of(x), _quality(x)
    found = bp.QualityFusion.fit_scores(systems, [quality], key, **options)
    return few(found.apply(systems, [quality], key).scoremat)


@maps(FEW_LAWS, kind=Kind.EXACT)
def quality_systems(x):
    measures = {"seconds": dict(zip(x.segments, x.measures[1], strict=True))}
    pairs = {name: (None, of) for name, of in measures.items()}
    found = bp.quality_systems(scores_of(x), pairs, key_of(x), scale=["seconds"])
    return [digest(system.scoremat) for system in found]


@maps(
    _laws("plain", "more", "thirty", "ties", "shares"),
    kind=Kind.LLRS,
    options=({"prior": 0.1, "ridge": "weak"},),
)
def cross_fit(x, **options):
    found = bp.cross_fit(
        bp.LinearCalibration, scores_of(x), key_of(x), speakers=x.speakers, rng=3, **options
    )
    return few(found.scores.scoremat), few(found.final.apply(x.tar))


@maps(_laws("plain", "more", "ties"), kind=Kind.LLRS)
def cross_fit_fusion(x):
    found = bp.cross_fit(
        bp.LinearFusion,
        systems_of(x, "ab"),
        key_of(x),
        speakers=x.speakers,
        rng=3,
        prior=0.1,
        ridge="weak",
    )
    return few(found.scores.scoremat)


@maps(_shipped("asvspoof dev"), kind=Kind.LLRS, options=({"ridge": 0.0}, {"ridge": "weak"}))
def sasv_fusion(x, ridge):
    # A trial in twenty: this is a test of numbers, not of size.
    trials = x.models[::20], x.segments[::20]
    key = key_with_spoofs(*trials, x.labels[::20])
    asv, cm = (bp.Scores.from_trials(*trials, x.scores[n][::20]) for n in ("ecapa", "aasist"))
    ndx = bp.Ndx.from_trials(*trials)
    found = bp.SASVFusion.fit(key, asv=asv, cm=cm, costs="a-DCF1", ridge=ridge)
    lines = found.asv.apply([-0.1, 0.3, 0.8]), found.cm.apply([-4.0, 0.0, 3.0])
    return lines, few(found.apply(asv=asv, cm=cm, ndx=ndx).scoremat)


@maps(_laws("plain", "more", "shares"))
def case_llr(x):
    plain = {"replications": 0} if takes(bp.case_llr, "replications") else {}
    found = bp.case_llr(
        *(2.0, scores_of(x), key_of(x)),
        propositions=("one speaker", "two speakers"),
        reference="a law",
        speakers=x.speakers,
        bounds=None,
        **plain,
    )
    return found.llr


def _oracle_quality() -> dict[str, np.ndarray]:
    with np.load(sets.ORACLE / "fusion_quality.npz") as file:
        return {name: file[name] for name in file}


@maps({"oracle quality": _oracle_quality}, kind=Kind.LLRS)
def fusion_with_quality_of_oracle(x):
    shape = x["dev_tar"].shape
    ids = [f"m{i:02d}" for i in range(shape[0])], [f"s{i:02d}" for i in range(shape[1])]
    key = bp.Key(*ids, x["dev_tar"] > 0, x["dev_non"] > 0)
    systems = {name: bp.Scores(x[f"dev_{name}"], *ids) for name in ("s1", "s2")}
    quality = [bp.QualityMeasures(*ids, x["dev_mq"], x["dev_sq"])]
    found = bp.QualityFusion.fit_scores(systems, quality, key, prior=0.1, ridge=0.0)
    return few(found.apply(systems, quality, key).scoremat, 12)


# Files ------------------------------------------------------------------------------------------

files = room("files")
FORMATS = tuple({"suffix": suffix} for suffix in (".h5", ".mat", ".txt"))


def again(thing: Any, suffix: str) -> tuple[Any, Any]:
    """Save and read a thing; return it, and what one sees in the file without the package."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"thing{suffix}"
        thing.save(path)
        seen: Any = []
        if suffix == ".txt":
            seen = f"bytes:{hashlib.sha256(path.read_bytes()).hexdigest()[:24]}"
        if suffix == ".h5":
            with h5py.File(path) as file:
                names: list[str] = []
                file.visit(lambda name: names.append(name))
                seen = [
                    f"{name.replace(' ', '_')}={digest(file[name][()])}"
                    for name in names
                    if isinstance(file[name], h5py.Dataset)
                ]
        return type(thing).read(path), seen


@files(FEW_LAWS, kind=Kind.EXACT, options=FORMATS)
def scores_again(x, suffix):
    scores = scores_of(x).align_with_ndx(key_of(x))
    read, seen = again(scores, suffix)
    arrays = read.scoremat, read.scoremask, read.modelset, read.segset
    return [digest(array) for array in arrays], seen


@files(FEW_LAWS, kind=Kind.EXACT, options=FORMATS)
def key_again(x, suffix):
    read, seen = again(key_of(x), suffix)
    return [digest(array) for array in (read.tar, read.non, read.modelset, read.segset)], seen


@files(FEW_LAWS, kind=Kind.EXACT, options=FORMATS)
def ndx_again(x, suffix):
    ndx = bp.Ndx(x.models, x.segments, x.is_tar | x.is_non)
    read, seen = again(ndx, suffix)
    return [digest(array) for array in (read.trialmask, read.modelset, read.segset)], seen


@files(FEW_LAWS, kind=Kind.EXACT, options=FORMATS[:2])
def quality_again(x, suffix):
    read, seen = again(_quality(x), suffix)
    arrays = read.modelQ, read.segQ, read.hasmodel, read.hasseg, read.modelset
    return [digest(array) for array in arrays], seen


@files(FEW_LAWS, kind=Kind.EXACT, options=FORMATS)
def segment_quality_again(x, suffix):
    quality = bp.SegmentQuality(x.segments, x.measures[1][None, :])
    read, seen = again(quality, suffix)
    return digest(read.ids), digest(read.values), seen


@files(FEW_LAWS, kind=Kind.EXACT, options=FORMATS)
def id_map_again(x, suffix):
    read, seen = again(bp.IdMap(list(x.speakers), list(x.speakers.values())), suffix)
    return digest(read.leftids), digest(read.rightids), seen


@files(_laws("plain", "ties"), kind=Kind.LLRS)
def model_again(x):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "line.json"
        bp.LinearCalibration.fit(x.tar, x.non, prior=0.1, ridge="weak").save(path)
        return few(bp.read_model(path).apply(x.tar))


TEXTS = {
    "three columns": "m1 s1 2.5\nm1 s2 -1.25\nm2 s2 0.1\nm2 s1 -1e-3\nm3 s1 -Inf\n",
    "tabs": "m1\ts1\t1e300\nm2\ts1\t4.9e-324\nm2\ts2\t0.30000000000000004\n",
    "blanks at the end": "m1 s1 7 \nm2 s1 8\t\n",
    "no newline at the end": "m1 s1 7\nm2 s1 8.125",
    "more ids": "b y 3\na z 2\na y 1\nb z 4\n",
    "letters": "zoë ström 1.5\nzoë naïve -2\n",
}


@files({f"text {name}": _load(str, text) for name, text in TEXTS.items()}, kind=Kind.EXACT)
def scores_of_text(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.txt"
        path.write_text(text, encoding="utf-8")
        found = [reader(path) for reader in (bp.Scores.read, bp.read_scores)]
        pairs = [(x, bp.Ndx(sorted(x.modelset), sorted(x.segset))) for x in found]
        same = [x.align_with_ndx(ndx) for x, ndx in pairs]
        return [[digest(x.scoremat), digest(x.scoremask)] for x in same]


KEY_TEXTS = {
    "words": "m1 s1 target\nm1 s2 nontarget\nm2 s2 target\n",
    "truth first": "1 m1 s1\n0 m1 s2\n1 m2 s2\n",
    "imp": "m1 s1 imp\nm1 s2 tgt\nm2 s2 imp\n",
}


@files({f"key {name}": _load(str, text) for name, text in KEY_TEXTS.items()}, kind=Kind.EXACT)
def key_of_text(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "key.txt"
        path.write_text(text, encoding="utf-8")
        key = labels_of(bp.read_key(path))
        tar, non = bp.Scores(
            np.arange(4.0).reshape(2, 2), sorted(set(key.modelset)), sorted(set(key.segset))
        ).get_tar_non(key)
        return digest(tar), digest(non)


SAMPLES = {
    f"oracle {path.name}": _load(Path, path)
    for path in sorted((sets.ORACLE / "samples").iterdir())
    if path.suffix != ".json"
}


@files(SAMPLES, kind=Kind.EXACT)
def sample_of_oracle(path):
    kind, *fields = {
        "id": (bp.IdMap, "leftids", "rightids"),
        "key": (bp.Key, "modelset", "segset", "tar", "non"),
        "ndx": (bp.Ndx, "modelset", "segset", "trialmask"),
        "quality": (bp.QualityMeasures, "modelset", "segset", "modelQ", "segQ", "hasmodel"),
        "scores": (bp.Scores, "modelset", "segset", "scoremat", "scoremask"),
        "seg": (bp.SegmentQuality, "ids", "values"),
    }[path.stem.partition("_")[0]]
    read = kind.read(path)
    return [digest(getattr(read, field)) for field in fields]


@files(_shipped("asvspoof dev", "forensic dev", "forensic eval"), kind=Kind.EXACT)
def example(x):
    name = "forensic" if x.name.startswith("forensic") else "asvspoof2019_la"
    part = bp.load_example(name)[x.name.endswith("eval")]
    arrays = []
    for system in sorted(part.scores):
        arrays += part.scores[system].get_tar_non(part.key)
    return [digest(array) for array in arrays], part.key.n_tar, part.key.n_non


@files(FEW_LAWS, kind=Kind.EXACT)
def merged(x):
    half = len(x.models) // 2
    masks = x.is_tar, x.is_non
    keys = [
        bp.Key(x.models[part], x.segments, *(mask[part] for mask in masks))
        for part in (slice(0, half), slice(half, None))
    ]
    key = bp.Key.merge(*keys)
    tar, non = scores_of(x).get_tar_non(key)
    return digest(key.modelset), digest(key.tar), digest(tar), digest(non)


@files(FEW_LAWS, kind=Kind.EXACT)
def filtered(x):
    key = key_of(x).filter(x.models[::2], x.segments[::3], keep=True)
    scores = scores_of(x).filter(x.models[1:3], x.segments[1:5], keep=False)
    return [
        digest(y) for y in (key.modelset, key.segset, key.tar, scores.modelset, scores.scoremat)
    ]


@files(FEW_LAWS, kind=Kind.EXACT)
def changed(x):
    ndx = bp.Ndx(x.models[1:], x.segments[:-1], (x.is_tar | x.is_non)[1:, :-1])
    scores = scores_of(x).filter(x.models[:-1], x.segments, keep=True)
    filled = scores.set_missing_to_value(ndx, -7.5)
    twice = scores.transform(lambda values: 2 * values).align_with_ndx(ndx)
    return [digest(y) for y in (filled.scoremat, filled.scoremask, twice.scoremat, twice.scoremask)]


@files(FEW_LAWS, kind=Kind.EXACT)
def mapped(x):
    found = bp.IdMap(list(x.speakers), list(x.speakers.values()))
    halves = [found.filter_on_left(ids, keep=True) for ids in (x.models, x.segments)]
    merged = bp.IdMap.merge(*halves)
    ids = merged.leftids, merged.rightids
    return digest(found.map_left_to_right(x.segments)), [digest(y) for y in ids]


@files(FEW_LAWS, kind=Kind.EXACT)
def quality_changed(x):
    model, segment = (measure[None, :] for measure in x.measures)
    halves = [
        bp.QualityMeasures(x.models[part], x.segments[part], model[:, part], segment[:, part])
        for part in (slice(0, 5), slice(5, None))
    ]
    merged = bp.QualityMeasures.merge(*halves)
    aligned = merged.align_with_ndx(key_of(x))
    return [digest(y) for y in (merged.segset, merged.segQ, merged.modelQ, aligned.segQ)]


# Plans ------------------------------------------------------------------------------------------

plans = room("plans")

POOLED = ("IVECTOR14", "SRE18-VAST", "SRE19-AV", "SRE20-CTS", "VoxSRC", "CNSRC")


@plans(_shipped("forensic dev", "forensic eval"), options=tuple({"plan": p} for p in POOLED))
def primary_cost(x, plan):
    key, systems = two_classes(x)
    found = bp.primary_cost(systems["system"], key, plan)
    return found.actual, found.minimum


@plans(_shipped("asvspoof dev"), options=tuple({"plan": p} for p in POOLED))
def primary_cost_of_speech(x, plan):
    key, systems = two_classes(x)
    found = bp.primary_cost(systems["ecapa"], key, plan)
    return found.actual, found.minimum


@plans(FEW_LAWS, options=tuple({"plan": p} for p in ("SRE19-AV", "IVECTOR14")))
def primary_cost_of_laws(x, plan):
    found = bp.primary_cost(scores_of(x), key_of(x), plan)
    return found.actual, found.minimum


FIGURES = ("eer", "min_dcf(0.01)", "min_dcf(0.1)", "act_dcf(0.01)", "act_dcf(0.1)", "cllr")


@plans(SOME_LAWS)
def evaluate(x):
    found = evaluated(systems_of(x), key_of(x), [0.01, 0.1])
    return [[row[figure] for figure in (*FIGURES, "min_cllr")] for row in found]


@plans(_laws("plain", "ties", "shares", "unequal ties"))
def evaluate_costs(x):
    found = evaluated(systems_of(x), key_of(x), [0.01, 0.1], normalize=False)
    return [[row[figure] for figure in FIGURES[1:-1]] for row in found]


@plans(_laws("plain", "ties", "shares", "unequal ties"), kind=Kind.EXACT)
def evaluate_counts(x):
    return [[row["n_tar"], row["n_non"]] for row in evaluated(systems_of(x), key_of(x), 0.1)]


@plans(SHIPPED, but="asvspoof eval")
def evaluate_shipped(x):
    key, systems = two_classes(x)
    return [[row[figure] for figure in FIGURES] for row in evaluated(systems, key, [0.01, 0.1])]


@plans(SOME_LAWS, but="infinite")
def evaluate_conditions(x):
    found = evaluated(systems_of(x, "ab"), key_of(x), [0.01, 0.1], conditions=conditions_of(x))
    return [[row[figure] for figure in FIGURES] for row in found]


@plans(_laws("ties", "shares"), options=({"eer": "interpolated"}, {"eer": "step"}))
def evaluate_steppy(x, eer):
    return [row["eer"] for row in evaluated(systems_of(x), key_of(x), 0.1, eer=eer)]


@plans(_laws("more", "shares"))
def evaluate_cross_fit(x):
    found = evaluated(
        *(systems_of(x, "ab"), key_of(x), 0.1), speakers=x.speakers, cross_fit=True, rng=3
    )
    return [[row["act_dcf(0.1)"], row["cllr"]] for row in found]


RULES = ({"rule": "eer"}, {"rule": "min-cost"}, {"rule": "bayes"}, {"rule": {"pfa": 0.05}})


@plans(_laws("plain", "more", "ties", "unequal ties"), options=RULES)
def transfer(x, rule):
    key = key_of(x)
    return transferred((scores_of(x), key), (scores_of(x, "b"), key), rule, 0.1)


@plans({name: _load(bp.PLANS.__getitem__, name) for name in bp.PLANS}, kind=Kind.EXACT)
def points(plan):
    return [[point.p_target, point.c_miss, point.c_fa] for point in points_of(plan)]


@plans(
    _laws("more", "unequal", "unequal ties"),
    options=tuple({"plan": p} for p in ("SRE16", "SRE18-CMN2", "SRE21", "SRE24")),
)
def primary_cost_of_partitions(x, plan):
    # Two divisions of segments, one of models, one of trials.
    halves, thirds = np.arange(len(x.segments)) % 2, np.arange(len(x.segments)) // 2 % 2
    rows_of, _ = np.nonzero((x.is_tar | x.is_non).T)[::-1]
    is_tar = x.is_tar.T[(x.is_tar | x.is_non).T]
    match = np.where(is_tar & (np.arange(is_tar.size) % 3 > 0), "Y", "N")
    words = {
        "gender": ["male", "female"],
        "language": ["cmn", "yue"],
        "source_type": ["pstn", "voip"],
    }
    segments = {"gender": halves, "language": thirds, "source_type": thirds}
    named = {name: np.array(words[name])[of] for name, of in segments.items()}
    models = {"num_enroll_segs": np.array(["1", "3"])[np.arange(len(x.models)) % 2]}
    other = np.where(rows_of % 2 > 0, "Y", "N")
    trials = {"phone_num_match": match, "source_type_match": other, "language_match": match}
    key = with_columns(key_of(x), models, named, trials)
    found = bp.primary_cost(scores_of(x), key, plan)
    return found.actual, found.minimum


# The third class --------------------------------------------------------------------------------

third_class = room("third_class")
THREE = (FEW_LAWS | _laws("more", "integers", "inverted"), _shipped("asvspoof dev"))
COSTS = ({"costs": "a-DCF1"}, {"costs": "ASVspoof5"})


@third_class(*THREE, options=COSTS)
def a_dcf(x, costs):
    return bp.a_dcf(*verifier(x), costs), bp.a_dcf(*verifier(x), costs, normalize=False)


@third_class(*THREE, options=COSTS)
def act_a_dcf(x, costs):
    return bp.act_a_dcf(*verifier(x), costs), bp.act_a_dcf(*verifier(x), costs, normalize=False)


@third_class(*THREE)
def a_dcf_of_costs(x):
    costs = bp.SpoofCosts(0.8, 0.15, 0.05, 2, 5, 30)
    return bp.a_dcf(*verifier(x), costs), bp.act_a_dcf(*verifier(x), costs)


@third_class(*THREE)
def three_eers(x):
    tar, non, spoof = verifier(x)
    return bp.sv_eer(tar, non), bp.spf_eer(tar, None, spoof), bp.sasv_eer(tar, non, spoof)


@third_class(*THREE, options=({"definition": "interpolated"}, {"definition": "step"}))
def three_eers_steppy(x, definition):
    given = {"definition": definition}
    tar, non, spoof = verifier(x)
    first = bp.sv_eer(tar, non, **given), bp.spf_eer(tar, None, spoof, **given)
    return first, bp.sasv_eer(tar, non, spoof, **given)


@third_class(*THREE, options=({"form": "revised"}, {"form": "legacy"}), but="inverted")
def t_dcf(x, form):
    return bp.t_dcf(**tandem(x), form=form), bp.t_dcf(**tandem(x), form=form, asv_threshold=0.5)


@third_class(*THREE)
def t_eer(x):
    return float(bp.t_eer(**tandem(x)))


def _spoofed(x: sets.Shipped) -> tuple[Any, Any]:
    """Return scores and key of a trial in twenty."""
    trials = x.models[::20], x.segments[::20]
    scores = bp.Scores.from_trials(*trials, x.scores["ecapa"][::20])
    return scores, key_with_spoofs(*trials, x.labels[::20])


OF_THREE: dict[str, Callable[[], Any]] = {
    "ADCF": lambda: unc.ADCF("a-DCF1"),
    "ActADCF": lambda: unc.ActADCF("a-DCF1"),
    "SVEER": unc.SVEER,
    "SPFEER": unc.SPFEER,
    "SASVEER": unc.SASVEER,
}
EACH_OF_THREE = tuple({"metric": name} for name in OF_THREE)


@third_class(_shipped("asvspoof dev"), options=EACH_OF_THREE)
def interval_value(x, metric):
    found = unc.speaker_interval(*_spoofed(x), OF_THREE[metric](), speakers=x.speakers)
    return value_of(found)


@third_class(_shipped("asvspoof dev"), options=EACH_OF_THREE)
def interval(x, metric):
    found = unc.speaker_interval(*_spoofed(x), OF_THREE[metric](), speakers=x.speakers)
    return ends(found)[1:]


# Intervals --------------------------------------------------------------------------------------

intervals = room("intervals")
METRICS: dict[str, Callable[[], Any]] = {
    "EER": unc.EER,
    "MinDCF": lambda: unc.MinDCF(0.1, normalize=True),
    "ActDCF": lambda: unc.ActDCF(0.1, normalize=False),
    "Cllr": unc.Cllr,
    "MinCllr": unc.MinCllr,
    "AUC": unc.AUC,
    "DCF": lambda: dcf(0.5, 0.1),
    "DCFnorm": lambda: dcf(0.5, 0.1, normalize=True),
    "Pmiss": lambda: pmiss(0.5),
    "PmissAt": lambda: pmiss_at(0.05),
    "PfaAt": lambda: pfa_at(0.1),
}
EACH = tuple({"metric": name} for name in METRICS)


@intervals(SPEAKER_LAWS, options=EACH)
def by_speaker_value(x, metric):
    found = unc.speaker_interval(scores_of(x), key_of(x), METRICS[metric](), speakers=x.speakers)
    return value_of(found)


@intervals(SPEAKER_LAWS, options=EACH)
def by_speaker(x, metric):
    found = unc.speaker_interval(scores_of(x), key_of(x), METRICS[metric](), speakers=x.speakers)
    return ends(found)[1:]


@intervals(_laws("plain", "shares", "unequal ties"), options=EACH[:6])
def by_speaker_of_conditions(x, metric):
    found = unc.speaker_interval(
        *(scores_of(x), key_of(x), METRICS[metric]()),
        speakers=x.speakers,
        conditions=conditions_of(x),
    )
    return ends(found)


@intervals(_shipped("forensic eval"), options=EACH[:3])
def by_speaker_of_shipped(x, metric):
    key, systems = two_classes(x)
    return ends(
        unc.speaker_interval(systems["system"], key, METRICS[metric](), speakers=x.speakers)
    )


@intervals(_laws("plain", "more", "ties"))
def evaluate_by_speaker(x):
    found = evaluated(systems_of(x, "ab"), key_of(x), 0.1, speakers=x.speakers)
    return [[row[f"act_dcf(0.1)_{end}"] for end in ("low", "high")] for row in found]


METHODS = ("wilson", "normal")


@intervals(
    {f"{e} of {n}": _load(tuple, (e, n)) for e, n in ((0, 50), (3, 50), (40, 1000), (50, 50))},
    options=tuple({"method": method} for method in METHODS),
)
def proportion(x, method):
    return ends(unc.error_rate_interval(*x, method=method, confidence=0.9))


def _errors(x: Any) -> Any:
    return unc.ErrorCounts.at_threshold(x.tar, x.non, 0.5)


@intervals(SOME_LAWS, SHIPPED, but="separable", options=({"method": "hter"}, {"method": "class"}))
def hter(x, method):
    return ends(unc.hter_interval(_errors(x), method=method))


@intervals(SOME_LAWS, SHIPPED)
def dcf_of_counts(x):
    return ends(unc.dcf_interval(_errors(x), POINT, normalize=True))


@intervals(SOME_LAWS, SHIPPED, but="inverted")
def auc_standard_error(x):
    return unc.auc_standard_error(x.tar, x.non)


@intervals(SOME_LAWS, SHIPPED)
def dcf_standard_error(x):
    return unc.dcf_standard_error(x.tar, x.non, dcf(0.5, 0.1))


@intervals(SPEAKER_LAWS, options=({"method": "one-layer"}, {"method": "two-layer"}))
def dcf_standard_error_of_sets(x, method):
    tar_sets, non_sets = x.sets
    return unc.dcf_standard_error(
        x.tar, x.non, dcf(0.5, 0.1), method=method, tar_sets=tar_sets, non_sets=non_sets
    )


@intervals({f"{n} trials": _load(float, n) for n in (30, 300, 50000)})
def rule_of_30(n):
    return unc.rule_of_30(n)


# Tests ------------------------------------------------------------------------------------------

tests = room("tests")
PAIRS = _laws(
    *("plain", "more", "ties", "rare", "inverted", "sparse", "unequal ties", "chance", "single")
)


def _decisions(x: sets.Trials) -> tuple[Any, Any]:
    first, second = (unc.Decisions.at_threshold(*x.lists(system), 0.5) for system in "ab")
    return first, second


@tests(PAIRS, kind=Kind.EXACT)
def counts_of_decisions(x):
    found = [decisions.counts for decisions in _decisions(x)]
    return [[c.misses, c.n_tar, c.false_alarms, c.n_non] for c in found]


@tests(
    PAIRS,
    options=tuple(
        {"method": m} for m in ("independent", "dependent", "stricter", "naive", "class")
    ),
)
def hter_z_test(x, method):
    return tested(unc.hter_z_test(*_decisions(x), method=method))


@tests(PAIRS, options=({"method": "independent"}, {"method": "dependent"}))
def dcf_z_test(x, method):
    return tested(unc.dcf_z_test(*_decisions(x), POINT, method=method, normalize=False))


@tests({"Bengio": _load(tuple, (0.096, 0.131, 0.078, 0.158))})
def hter_z_test_of_rates(x):
    pairs = x[:2], x[2:]
    first, second = (unc.ErrorCounts.from_rates(a, 5825, b, 57748) for a, b in pairs)
    return tested(unc.hter_z_test(first, second)), first.hter, second.hter


@tests(PAIRS, options=tuple({"method": m} for m in ("exact", "mid-p", "chi2", "corrected")))
def mcnemar(x, method):
    found = unc.mcnemar_test(*_decisions(x), method=method)
    return found.only_a_errs, found.only_b_errs, p_of(found)


@tests(PAIRS)
def delong(x):
    tar, non = zip(*(x.lists(system) for system in "ab"), strict=True)
    found = unc.delong(np.array(tar), np.array(non))
    return found.auc, found.covariance, found.standard_errors, tested(found.compare())


@tests(SPEAKER_LAWS, options=EACH[:6])
def compare_systems(x, metric):
    return corrected(
        unc.compare_systems(
            systems_of(x), key_of(x), METRICS[metric](), speakers=x.speakers, **HOLM
        )
    )


def _normal(n: int) -> np.ndarray:
    return sets.dyadic(np.random.default_rng(n).normal(1.0, 0.2, n))


SAMPLES_OF_NUMBERS = {f"{n} numbers": _load(_normal, n) for n in (12, 40)}


@tests(SAMPLES_OF_NUMBERS)
def normality(x):
    found = unc.normality_test(x)
    return found.w, p_of(found)


@tests(SAMPLES_OF_NUMBERS)
def means_and_variances(x):
    first, second = x[::2], x[1::2] + 0.125
    variances = unc.f_test_of_variances(first, second)
    return tested(unc.z_test_of_means(first, second)), variances.ratio, p_of(variances)


@tests(SAMPLES_OF_NUMBERS)
def quantile(x):
    return unc.quantile(x, [0.025, 0.5, 0.9])


# Replicates -------------------------------------------------------------------------------------

replicates = room("replicates")
DRAWS = {"replications": 99, "rng": 3}
DRAWN = _laws("plain", "ties", "thirty", "unequal ties")


def drawn(found: Any) -> tuple[object, ...]:
    """Return an interval, and some of its replicates."""
    return ends(found), some(found.replicates, 4)


@replicates(DRAWN, options=EACH)
def iid(x, metric):
    return drawn(unc.bootstrap(x.tar, x.non, METRICS[metric](), interval="percentile", **DRAWS))


@replicates(DRAWN, options=EACH[:1] + EACH[3:4])
def iid_normal(x, metric):
    return drawn(unc.bootstrap(x.tar, x.non, METRICS[metric](), interval="normal", **DRAWS))


@replicates(
    DRAWN,
    options=tuple(
        {"method": method, **metric}
        for method in ("one-layer", "two-layer")
        for metric in EACH[:3] + EACH[6:7]
    ),
)
def of_sets(x, method, metric):
    tar_sets, non_sets = x.sets
    return drawn(
        unc.bootstrap(
            *(x.tar, x.non, METRICS[metric]()),
            method=method,
            tar_sets=tar_sets,
            non_sets=non_sets,
            interval="percentile",
            **DRAWS,
        )
    )


@replicates(DRAWN, options=EACH)
def of_speakers(x, metric):
    return drawn(
        unc.bootstrap_scores(
            *(scores_of(x), key_of(x), METRICS[metric]()),
            speakers=x.speakers,
            interval="percentile",
            **DRAWS,
        )
    )


@replicates(DRAWN, options=EACH[:3])
def iid_of_scores(x, metric):
    return drawn(
        unc.bootstrap_scores(
            *(scores_of(x), key_of(x), METRICS[metric]()),
            method="iid",
            interval="percentile",
            **DRAWS,
        )
    )


@replicates(DRAWN)
def standard_errors(x):
    found = unc.standard_error_distribution(
        x.tar, x.non, dcf(0.5, 0.1), runs=5, replications=50, rng=3
    )
    spread = getattr(found, "spread", found)
    return found.standard_errors, spread.low, spread.high


@replicates(_laws("unequal", "unequal ties", "sparse"), kind=Kind.EXACT)
def equal_size_sets(x):
    found = unc.equal_size_sets(x.sets[1], rng=3)
    return found.size, found.n_sets, digest(found.mask)


@replicates(_laws("plain", "ties"))
def table(x):
    found = unc.bootstrap_table(
        *(systems_of(x, "ab"), key_of(x), dcf(0.5, 0.1)),
        methods=["iid", "two-layer"],
        speakers=x.speakers,
        runs=0,
        **DRAWS,
    )
    return [ends(getattr(row, "estimate", None) or row.result) for row in found.rows]
