"""Compare the numbers of this checkout with those of an earlier commit, bit for bit.

Metrics, calibrations, fusions, files, intervals and tests; speakers have equally many trials. Each
number is computed in a fresh process of each checkout. The table has each call whose numbers
differ, with the largest relative difference.

    python benchmarks/same_numbers.py d7c3ec40
"""

import argparse
import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# Speakers, models and segments of each; means of targets and non-targets; step of rounded scores.
DESIGNS = {
    "6 speakers": (6, 2, 4, 2.7, -3.3, 0.0),
    "12 speakers": (12, 2, 4, 2.7, -3.3, 0.0),
    "30 speakers": (30, 1, 3, 2.7, -3.3, 0.0),
    "rounded": (12, 2, 4, 2.7, -3.3, 1.5),
    "rare errors": (20, 1, 2, 5.0, -5.5, 0.0),
}
PRIOR = 0.1
Call = Callable[[], Iterable[object]]


def calls(design: tuple[int, int, int, float, float, float]) -> Iterator[tuple[str, Call]]:
    """Yield calls by name; both checkouts have all of them."""
    # The signatures of the two checkouts differ, so that neither is checked.
    bp = importlib.import_module("bosaris_py")
    unc = importlib.import_module("bosaris_py.uncertainty")
    k, n_models, n_segments, high, low, step = design
    rng = np.random.default_rng(7)
    models, segments = np.repeat(np.arange(k), n_models), np.repeat(np.arange(k), n_segments)
    same = models[:, None] == segments
    names = [f"m{i:03d}" for i in range(models.size)], [f"s{i:03d}" for i in range(segments.size)]
    key = bp.Key(*names, same, ~same)
    whose = {
        name: f"p{speaker:02d}"
        for side, of in zip(names, (models, segments), strict=True)
        for name, speaker in zip(side, of, strict=True)
    }

    def scores() -> np.ndarray:
        """Draw effects of speakers, models and segments."""
        table = 1.2 * rng.normal(size=(k, 1)) + 1.2 * rng.normal(size=k)
        np.fill_diagonal(table, 1.3 * rng.normal(size=k))
        drawn = table[np.ix_(models, segments)] + np.where(same, high, low)
        drawn = drawn + 0.5 * rng.normal(size=(models.size, 1)) + 1.5 * rng.normal(size=same.shape)
        return np.asarray(step * np.round(drawn / step) if step else drawn)

    common = scores()
    drawn = [0.5 * (common + scores()) for _ in range(3)]
    a, b, c = (bp.Scores(values, *names) for values in drawn)
    lists = [(x[same], x[~same]) for x in drawn]
    metrics = {
        "EER": unc.EER(),
        "minDCF": unc.MinDCF(PRIOR),
        "minDCF, normalized": unc.MinDCF(PRIOR, normalize=True),
        "actDCF": unc.ActDCF(PRIOR),
        "Cllr": unc.Cllr(),
        "AUC": unc.AUC(),
        "minCllr": unc.MinCllr(),
        "DCF": unc.DCF(0.5, PRIOR, 1.0, 1.0),
    }
    arrays = {
        "ErrorRates": unc.ErrorRates([-1.0, 0.0, 1.0]),
        "actDCF, two points": unc.ActDCF([0.05, 0.2]),
        "minDCF, two points": unc.MinDCF([0.05, 0.2]),
    }
    curves = {
        "DETCurve": unc.DETCurve([0.02, 0.1, 0.5]),
        "ActDCFCurve": unc.ActDCFCurve([-2.0, 0.0]),
        "MinDCFCurve": unc.MinDCFCurve([-2.0, 0.0]),
        "ECE": unc.ECE([-1.0, 1.0]),
        "Tippett": unc.Tippett([-1.0, 1.0]),
        "PAVMap": unc.PAVMap([-1.0, 1.0]),
        "Reliability": unc.Reliability(),
    }
    yield from points(bp, {"a": a, "b": b, "c": c}, key)
    by_speaker = {"speakers": whose}
    drawing = {"replications": 199, "rng": 3}

    def ends(result: object) -> tuple[object, ...]:
        return tuple(getattr(result, f) for f in ("estimate", "low", "high"))

    def tested(result: object, *fields: str) -> tuple[object, ...]:
        return tuple(getattr(result, f) for f in ("difference", "p_value", *fields))

    def bind(call: Callable[..., object], read: Callable[..., Iterable[object]]) -> Call:
        return lambda: read(call())

    for name, metric in (metrics | arrays | curves).items():
        single = name in metrics
        for method in ("speaker", "iid"):
            options = drawing | (by_speaker if method == "speaker" else {})
            yield (
                f"bootstrap_scores, {method}, {name}",
                bind(
                    lambda m=metric, how=method, o=options: unc.bootstrap_scores(
                        a, key, m, method=how, **o
                    ),
                    lambda r: (*ends(r), r.replicates, r.standard_error),
                ),
            )
            if single:
                yield (
                    f"paired_bootstrap, {method}, {name}",
                    bind(
                        lambda m=metric, how=method, o=options: unc.paired_bootstrap(
                            a, b, key, m, method=how, **o
                        ),
                        lambda r: tested(r, "low", "high"),
                    ),
                )
        yield (
            f"bootstrap, {name}",
            bind(
                lambda m=metric: unc.bootstrap(*lists[0], m, **drawing),
                lambda r: (*ends(r), r.replicates),
            ),
        )
        if not single:
            continue
        for kind in ("percentile", "basic"):
            yield (
                f"bootstrap_scores, {kind}, {name}",
                bind(
                    lambda m=metric, i=kind: unc.bootstrap_scores(
                        a, key, m, interval=i, **by_speaker, **drawing
                    ),
                    ends,
                ),
            )
        yield (
            f"speaker_interval, {name}",
            bind(
                lambda m=metric: unc.speaker_interval(a, key, m, **by_speaker),
                lambda r: (*ends(r), r.standard_error),
            ),
        )
        yield (
            f"speaker_z_test, {name}",
            bind(lambda m=metric: unc.speaker_z_test(a, b, key, m, **by_speaker), tested),
        )
        yield (
            f"speaker_permutation_test_scores, {name}",
            bind(
                lambda m=metric: unc.speaker_permutation_test_scores(
                    a, b, key, m, permutations=199, rng=3, **by_speaker
                ),
                tested,
            ),
        )
        for systems in ({"a": a, "b": b}, {"a": a, "b": b, "c": c}):
            yield (
                f"compare_systems, {len(systems)} systems, Holm, {name}",
                bind(
                    lambda m=metric, s=systems: unc.compare_systems(
                        s, key, m, correction="holm", **by_speaker
                    ),
                    lambda r: (r.holm.adjusted, r.holm.significant),
                ),
            )
    yield (
        "compare_systems, 3 systems, as by default, EER",
        bind(
            lambda: unc.compare_systems({"a": a, "b": b, "c": c}, key, unc.EER(), **by_speaker),
            lambda r: [x["p_holm"] for x in r.records()],
        ),
    )
    for figure in ("eer", "min_dcf(0.1)", "act_dcf(0.1)", "min_cllr", "cllr"):
        yield (
            f"evaluate, {figure}",
            bind(
                lambda: bp.evaluate({"a": a, "b": b}, key, priors=PRIOR, **by_speaker, **drawing),
                lambda r, f=figure: [
                    x.get(f"{name}_{end}", x.get(f"{name.partition('(')[0]}_{end}"))
                    for x in r.records()
                    for name in (f,)
                    for end in ("low", "high")
                ],
            ),
        )
    yield (
        "delong, auc_standard_error",
        lambda: (
            unc.delong(*lists[0]).standard_errors,
            unc.auc_standard_error(*lists[0]),
            unc.auc_standard_error_scores(a, key),
            unc.dcf_standard_error_scores(a, key, unc.ActDCF(PRIOR), **by_speaker),
            unc.dcf_standard_error(*lists[0], unc.ActDCF(PRIOR)),
        ),
    )
    yield (
        "speaker_errors",
        bind(
            lambda: unc.speaker_errors(a, key, 0.5, **by_speaker),
            lambda r: (r.pmiss_standard_error, r.pfa_standard_error, r.covariance),
        ),
    )
    yield "wilson_interval", bind(lambda: unc.wilson_interval(3, 50), ends)
    yield "jeffreys_interval", bind(lambda: unc.jeffreys_interval(3, 50), ends)
    for bounds in ("elub", "iv"):
        yield (
            f"llr_bounds, {bounds}, without speakers",
            functools.partial(bp.calibration.llr_bounds, *lists[0], bounds),
        )


def points(bp: Any, systems: dict[str, Any], key: Any) -> Iterator[tuple[str, Call]]:
    """Yield calls without a random number: metrics, trained maps and what files keep."""
    scores = systems["a"]
    tar, non = scores.scoremat[key.tar], scores.scoremat[key.non]
    lists = list(systems.values())
    means = [np.abs(scores.scoremat).mean(axis=axis)[None] for axis in (1, 0)]
    quality = bp.QualityMeasures(key.modelset, key.segset, *means)
    options = {"ridge": [0.0, "weak"], "objective": ["cllr", "brier", "boost"]}
    priors = [0.01, PRIOR, 0.5]
    yield (
        "Results.to_dict",
        lambda: (
            list(x.values()) for x in bp.Results(tar, non).to_dict(priors)["operating_points"]
        ),
    )
    for name in ("eer", "auc", "prbep", "cllr", "min_cllr"):
        yield name, lambda f=name: [getattr(bp, f)(tar, non)]
    for name in ("act_dcf", "min_dcf", "norm_act_dcf", "norm_min_dcf"):
        yield name, lambda f=name: getattr(bp, f)(tar, non, priors)
    yield "optimal_llrs", lambda: bp.optimal_llrs(tar, non)
    yield "ROC", lambda: (lambda r: (r.pmiss, r.pfa))(bp.ROC.from_scores(tar, non))
    yield "ROCCH", lambda: (lambda r: (r.pmiss, r.pfa))(bp.Results(tar, non).rocch)
    for prior in priors:
        for field, values in options.items():
            for value in values:
                about = f"prior {prior}, {field} {value}"
                chosen = {"prior": prior, field: value}
                yield (
                    f"LinearCalibration, {about}",
                    lambda o=chosen: [
                        bp.LinearCalibration.fit_scores(scores, key, **o).apply(scores).scoremat
                    ],
                )
                yield (
                    f"LinearFusion, {about}",
                    lambda o=chosen: [
                        bp.LinearFusion.fit_scores(lists, key, **o).apply(lists, key).scoremat
                    ],
                )
        yield (
            f"QualityFusion, prior {prior}",
            lambda p=prior: [
                bp.QualityFusion.fit_scores(lists, [quality], key, prior=p)
                .apply(lists, [quality], key)
                .scoremat
            ],
        )
    for name in ("PAVCalibration", "GaussianCalibration"):
        yield (name, lambda m=name: [getattr(bp, m).fit_scores(scores, key).apply(scores).scoremat])
    for suffix in (".txt", ".h5", ".mat"):
        yield f"files, {suffix}", lambda s=suffix: written(bp, scores, key, s)


def written(bp: Any, scores: Any, key: Any, suffix: str) -> Iterator[object]:
    """Yield what files hold when they are read again, and the bytes of text."""
    with tempfile.TemporaryDirectory() as folder:
        for thing, kind in ((scores, bp.Scores), (key, bp.Key)):
            path = Path(folder) / f"{kind.__name__}{suffix}"
            thing.save(path)
            again = kind.read(path)
            yield again.scoremat if kind is bp.Scores else again.tar
            if suffix == ".txt":
                yield np.frombuffer(path.read_bytes(), np.uint8)


def flat(values: Iterable[object]) -> list[float]:
    """Return all numbers, in order."""
    arrays = [np.ravel(np.asarray(v, dtype=float)) for v in values]
    return [float(x) for v in arrays for x in v]


def turn() -> None:
    """Print the numbers of all calls, or the error."""
    found: dict[str, list[float] | str] = {}
    for design, numbers in DESIGNS.items():
        for name, call in calls(numbers):
            try:
                found[f"{name}: {design}"] = flat(call())
            except Exception as error:
                found[f"{name}: {design}"] = f"{type(error).__name__}: {error}"
    sys.stdout.write(json.dumps(found))


def difference(was: list[float] | str, now: list[float] | str) -> str:
    """Return in what they differ, or an empty string."""
    if isinstance(was, str) or isinstance(now, str):
        same_error = isinstance(was, str) and isinstance(now, str)
        return "" if same_error else f"{str(was)[:90]} -> {str(now)[:90]}"
    if len(was) != len(now):
        return f"{len(was)} -> {len(now)} numbers"
    before, after = np.array(was), np.array(now)
    unlike = ~((before == after) | (np.isnan(before) & np.isnan(after)))
    if not unlike.any():
        return ""
    with np.errstate(all="ignore"):
        most = np.nanmax(np.abs(after - before)[unlike] / np.abs(before)[unlike])
    return f"{int(unlike.sum())} of {before.size} numbers, up to {most:.2g} of the old one"


def run(root: Path) -> dict[str, list[float] | str]:
    """Return the numbers of a checkout."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(__file__).resolve())],
        env={**os.environ, "PYTHONPATH": str(root)},
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    numbers: dict[str, list[float] | str] = json.loads(ran.stdout)
    return numbers


def main() -> None:
    """Run both checkouts, and print the calls that differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default="")
    given = parser.parse_args()
    if not given.commit:
        turn()
        return
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        add = ["git", "worktree", "add", "--quiet", "--detach", str(before), given.commit]
        subprocess.run(add, cwd=ROOT, check=True)
        try:
            was, now = run(before), run(ROOT)
        finally:
            remove = ["git", "worktree", "remove", "--force", str(before)]
            subprocess.run(remove, cwd=ROOT, check=True)
    unlike = {name: found for name in now if (found := difference(was[name], now[name]))}
    failed = [name for name in now if isinstance(now[name], str) and isinstance(was[name], str)]
    for name, found in unlike.items():
        sys.stdout.write(f"{name}: {found}\n")
    for name in failed:
        sys.stdout.write(f"{name}: both raise {now[name]}\n")
    equal = len(now) - len(unlike) - len(failed)
    sys.stdout.write(f"{equal} of {len(now)} calls are equal in every bit\n")


if __name__ == "__main__":
    main()
