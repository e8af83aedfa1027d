"""Tables of the uncertainty papers: each cell is what the single call gives from the same seed."""

import time

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")

SPEAKERS, SEGMENTS = 30, 4
COST = unc.DCF(1.5, p_target=0.01, c_miss=10, c_fa=1)
SETS = ("iid", "one-layer", "two-layer")


def simulated(speakers: int = SPEAKERS, segments: int = SEGMENTS) -> tuple[dict, bp.Key]:
    """Return four systems whose targets and non-targets depend on the speaker of the model."""
    rng = np.random.default_rng(1)
    models = [f"m{i:03}" for i in range(speakers)]
    names = [f"s{i:03}-{j}" for i in range(speakers) for j in range(segments)]
    same = np.repeat(np.eye(speakers, dtype=bool), segments, axis=1)
    systems = {}
    for name, distance in (("EL", 3.2), ("LZ", 2.8), ("PB", 2.2), ("CH", 1.5)):
        habits = 0.5 * rng.normal(size=(speakers, 1))
        noise = rng.normal(size=same.shape)
        systems[name] = bp.Scores(distance * same + habits + noise, models, names)
    return systems, bp.Key(models, names, same, ~same)


SYSTEMS, KEY = simulated()


def lists_of(name: str) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the scores of a system column by column, and the model of each trial."""
    scores = SYSTEMS[name].scoremat
    rows = np.broadcast_to(np.arange(SPEAKERS)[:, None], scores.shape)
    tar, non = KEY.tar.T, KEY.non.T
    sets = {"tar_sets": rows.T[tar], "non_sets": rows.T[non]}
    return scores.T[tar], scores.T[non], sets


@pytest.mark.parametrize("method", SETS)
def test_cells_are_the_single_calls(method: str) -> None:
    options = {"replications": 300, "rng": 7}
    table = unc.bootstrap_table(SYSTEMS, KEY, COST, methods=[method], runs=5, **options)
    for name, scores in SYSTEMS.items():
        row = table.row(name, method)
        single = unc.bootstrap_scores(scores, KEY, COST, method=method, **options)
        assert np.array_equal(row.result.replicates, single.replicates)
        assert (row.result.low, row.result.high) == (single.low, single.high)
        assert row.result.standard_error == single.standard_error
        tar, non, sets = lists_of(name)
        sets = {} if method == "iid" else sets
        runs = unc.standard_error_distribution(
            tar, non, COST, method=method, runs=5, **sets, **options
        )
        assert np.array_equal(row.distribution.standard_errors, runs.standard_errors)
        assert (row.distribution.low, row.distribution.high) == (runs.low, runs.high)
        assert row.upper_bound == unc.dcf_standard_error(tar, non, COST)


def test_upper_bound_is_equation_4() -> None:
    tar, non, _ = lists_of("PB")
    pmiss, pfa = np.mean(tar < 1.5), np.mean(non >= 1.5)
    variance = 0.1**2 * pmiss * (1 - pmiss) / tar.size + 0.99**2 * pfa * (1 - pfa) / non.size
    table = unc.bootstrap_table({"PB": SYSTEMS["PB"]}, KEY, COST, methods=["iid"], runs=0)
    assert table.row("PB", "iid").upper_bound == pytest.approx(np.sqrt(variance), rel=1e-12)
    assert table.row("PB", "iid").distribution is None


def test_each_system_at_its_own_threshold() -> None:
    """NISTIR 7722, Table 1: thresholds came with the systems."""
    costs = {name: unc.DCF(1.0 + 0.2 * i, 0.01, 10, 1) for i, name in enumerate(SYSTEMS)}
    options = {"replications": 100, "rng": 3}
    table = unc.bootstrap_table(SYSTEMS, KEY, costs, methods="iid", runs=0, **options)
    for name, cost in costs.items():
        single = unc.bootstrap_scores(SYSTEMS[name], KEY, cost, method="iid", **options)
        assert table.row(name, "iid").result.low == single.low
    assert "each system its own" in repr(table)
    assert "runs" not in repr(table)


def test_by_speaker_beside_the_papers_methods() -> None:
    options = {"replications": 60, "rng": 3, "speakers": lambda x: x[:4]}
    ids = {name: "m" + name[1:4] for name in (*KEY.modelset, *KEY.segset)}
    options["speakers"] = ids
    systems = {"EL": SYSTEMS["EL"]}
    table = unc.bootstrap_table(systems, KEY, unc.Cllr(), methods=["iid", "speaker"], **options)
    single = unc.bootstrap_scores(systems["EL"], KEY, unc.Cllr(), **options)
    row = table.row("EL", "speaker")
    assert np.array_equal(row.result.replicates, single.replicates)
    assert row.result.interval == "student"
    # Replicates of other statistics take long: no runs unless they are asked for.
    assert (row.distribution, row.upper_bound) == (None, None)
    assert "upper bound" not in repr(table)


def test_threshold_counted_twice() -> None:
    rounded = {"EL": bp.Scores(np.rint(SYSTEMS["EL"].scoremat), KEY.modelset, KEY.segset)}
    cost = unc.DCF(2, p_target=0.5, c_miss=1, c_fa=1)
    options = {"replications": 100, "rng": 5, "count_threshold_twice": True}
    table = unc.bootstrap_table(rounded, KEY, cost, methods=["two-layer"], runs=3, **options)
    row = table.row("EL", "two-layer")
    tar, non = rounded["EL"].get_tar_non(KEY)
    # Equation (2) of Wu et al.: both sums include the threshold.
    pmiss, pfa = np.mean(tar <= 2), np.mean(non >= 2)
    assert row.result.estimate == pytest.approx((pmiss + pfa) / 2, rel=1e-14)
    assert row.distribution.estimate == row.result.estimate
    variance = (pmiss * (1 - pmiss) / tar.size + pfa * (1 - pfa) / non.size) / 4
    assert row.upper_bound == pytest.approx(np.sqrt(variance), rel=1e-12)
    _, _, sets = lists_of("EL")
    single = unc.bootstrap(tar, non, cost, method="two-layer", **sets, **options)
    assert np.array_equal(row.result.replicates, single.replicates)


def test_as_the_papers_print() -> None:
    table = unc.bootstrap_table(SYSTEMS, KEY, COST, runs=4, replications=50, rng=1)
    row = table.row("LZ", "one-layer")
    cell = (
        f"{row.result.standard_error:.6f} ({100 * row.result.relative_error:.2f}%) "
        f"({row.result.low:.6f}, {row.result.high:.6f})"
    )
    first, second, third = (table.as_printed(which) for which in ("I", "II", "III"))
    assert first.lines[0] == ("system", "estimate", *SETS)
    assert first.lines[2] == ("LZ", f"{row.result.estimate:.6f}", *first.lines[2][2:])
    assert first.lines[2][3] == cell
    assert second.lines[0] == ("system", "upper bound", *SETS)
    assert f"({100 * row.distribution.relative_error:.2f}%)" in second.lines[2][3]
    assert third.lines[0] == ("system", "estimate", "upper bound", *SETS)
    assert f"({100 * row.distribution.relative_error_of_estimate:.2f}%)" in third.lines[2][4]
    assert cell.replace("%", r"\%") in first.to_latex()
    assert first.to_latex().startswith("\\begin{tabular}{lrrrr}")
    assert first.records() == table.records() == third.records()
    assert len(table.records()) == len(SYSTEMS) * len(SETS)
    assert "EL" in table.to_csv()
    assert "4 runs" in repr(third)


def test_letters_are_those_of_the_comparison() -> None:
    options = {"replications": 100, "rng": 3}
    table = unc.bootstrap_table(SYSTEMS, KEY, COST, runs=0, groups=True, **options)
    for method in SETS:
        compared = unc.compare_systems(SYSTEMS, KEY, COST, method=method, **options)
        groups = compared.groups()
        for system in SYSTEMS:
            letters = "".join("abcd"[i] for i, group in enumerate(groups) if system in group)
            assert table.row(system, method).groups == letters
    assert [row.system for row in table.rows] == [name for name in SYSTEMS for _ in SETS]
    assert "share a letter" in repr(table)
    cell = table.as_printed("I").lines[1][2]
    first = table.row("EL", "iid")
    assert cell.endswith(f") {first.groups}")
    assert "& groups \\\\" in table.to_latex()
    costs = {name: unc.DCF(1 + 0.1 * i, 0.5, 1, 1) for i, name in enumerate(SYSTEMS)}
    with pytest.raises(InvalidInputError, match="`groups` must be False"):
        unc.bootstrap_table(SYSTEMS, KEY, costs, runs=0, groups=True, **options)


def test_of_a_mean_near_zero() -> None:
    """A cost of 0 has an infinite relative error, which no table hides."""
    apart = {"A": bp.Scores(8.0 * KEY.tar, KEY.modelset, KEY.segset)}
    table = unc.bootstrap_table(apart, KEY, unc.DCF(4, 0.5, 1, 1), methods=["iid"], runs=0, rng=1)
    assert table.records()[0]["relative_error"] is None
    assert table.row("A", "iid").result.low == 0.0 < table.row("A", "iid").result.high


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["bag"]}, "`methods` must be one of"),
        ({"methods": []}, "each once; got none"),
        ({"methods": ["iid", "iid"]}, "each once; got iid, iid"),
        ({"runs": 1}, "`runs` must be 0 or at least 2"),
        ({"runs": 2.5}, "`runs` must be a whole number"),
        ({"methods": ["speaker"], "count_threshold_twice": True}, "count_threshold_twice"),
        ({"pigeonhole": True}, 'be left out with method="iid"'),
    ],
)
def test_bad_input(options: dict, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        unc.bootstrap_table(SYSTEMS, KEY, COST, **{"replications": 10, "rng": 1, **options})


def test_statistics_must_fit_the_systems() -> None:
    with pytest.raises(InvalidInputError, match="one for each system; got none for LZ, PB, CH"):
        unc.bootstrap_table(SYSTEMS, KEY, {"EL": COST})
    with pytest.raises(InvalidInputError, match="got one for XX"):
        unc.bootstrap_table(SYSTEMS, KEY, {**dict.fromkeys(SYSTEMS, COST), "XX": COST})
    with pytest.raises(InvalidInputError, match="be a number; got 2 values"):
        unc.bootstrap_table(SYSTEMS, KEY, unc.ErrorRates(1.0), runs=0, replications=10)
    table = unc.bootstrap_table(SYSTEMS, KEY, COST, runs=0, replications=10)
    with pytest.raises(InvalidInputError, match='"I" where there are no runs'):
        table.as_printed("II")
    with pytest.raises(InvalidInputError, match="`method` must be one of"):
        table.row("EL", "speaker")


def test_warnings_name_the_systems() -> None:
    with pytest.warns(bp.errors.FewErrorsWarning, match="EL"):
        unc.bootstrap_table(SYSTEMS, KEY, unc.DCF(-2, 0.5, 1, 1), runs=0, replications=10)


@pytest.mark.slow
def test_five_hundred_runs_of_four_systems_take_seconds() -> None:
    """500 x 2,000 replicates by three methods; 2.4 s on a busy machine, 3 s are promised."""
    systems, key = simulated(100, 3)
    begin = time.process_time()
    table = unc.bootstrap_table(systems, key, COST, rng=1)
    # Twice the promise, for machines that are slower.
    assert time.process_time() - begin < 6.0
    for name in systems:
        means = [table.row(name, method).distribution.mean for method in SETS]
        assert means[0] < means[1] < means[2]  # as in all twelve rows of the paper
        # 500 runs of 2,000 know the mean to 0.07 %; there is no covariance.
        assert means[0] == pytest.approx(table.row(name, "iid").upper_bound, rel=0.004)
