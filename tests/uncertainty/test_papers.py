"""The experiments of the uncertainty papers: laws of standard errors, sets, tables, tests."""

import itertools

import numpy as np
import pytest
import scipy
from hypothesis import given, strategies as st

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty import papers

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

SPEAKERS, SEGMENTS = 30, 4
COST = unc.DCF(1.5, bp.OperatingPoint(0.01, 10, 1), normalize=False)
SETS = ("iid", "one-layer", "two-layer")


def simulated() -> tuple[dict[str, bp.Scores], bp.Key]:
    """Return systems whose targets and non-targets depend on the speaker of the model."""
    rng = np.random.default_rng(1)
    models = [f"m{i:03}" for i in range(SPEAKERS)]
    segments = [f"s{i:03}-{j}" for i in range(SPEAKERS) for j in range(SEGMENTS)]
    same = np.repeat(np.eye(SPEAKERS, dtype=bool), SEGMENTS, axis=1)
    systems = {}
    for name, distance in (("EL", 3.2), ("LZ", 2.8), ("CH", 0.5)):
        scores = distance * same + rng.normal(size=same.shape)
        systems[name] = bp.Scores(scores + rng.normal(size=(SPEAKERS, 1)) / 2, models, segments)
    return systems, bp.Key(models, segments, same, ~same)


SYSTEMS, KEY = simulated()


def lists_of(name: str, method: str) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the scores of a system, and the model of each trial where sets are drawn."""
    scores = SYSTEMS[name].scoremat.T
    rows = np.broadcast_to(np.arange(SPEAKERS), scores.shape)
    tar, non = KEY.tar.T, KEY.non.T
    sets = {} if method == "iid" else {"tar_sets": rows[tar], "non_sets": rows[non]}
    return scores[tar], scores[non], sets


@given(st.lists(st.integers(1, 9), min_size=2, max_size=8))
def test_as_many_trials_are_kept_as_any_common_size_allows(sizes: list[int]) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    found = unc.equal_size_sets(labels, rng=1)
    kept = [(sum(one >= size for one in sizes), size) for size in range(1, 10)]
    assert found.mask.sum() == max(n * size for n, size in kept if n > 1)
    counts = np.bincount(labels[found.mask])
    assert counts[counts > 0].tolist() == [found.size] * found.n_sets
    assert repr(found).startswith(f"EqualSizeSets: {found.n_sets} sets of {found.size}, ")


def test_which_trials_of_a_set_are_kept_is_drawn() -> None:
    kept = [unc.equal_size_sets([0] * 4 + [1] * 2 + [2] * 2, rng=i).mask for i in range(600)]
    assert np.abs(np.mean(kept, axis=0)[:4] - 0.5).max() < 0.1
    assert np.mean(kept, axis=0)[4:].tolist() == [1.0] * 4


@pytest.mark.parametrize("method", SETS)
def test_standard_errors_are_about_the_closed_form(method: str) -> None:
    tar, non, sets = lists_of("LZ", method)
    runs = unc.standard_error_distribution(tar, non, COST, method=method, runs=200, rng=1, **sets)
    # Which is the variance of all draws: test_analytic.
    how = "upper-bound" if method == "iid" else method
    expected = unc.dcf_standard_error(tar, non, COST, method=how, **sets)
    assert runs.spread.value == pytest.approx(expected, rel=0.005)
    assert runs.spread.standard_error == pytest.approx(runs.spread.value / np.sqrt(4000), rel=0.2)
    assert runs.relative_error == pytest.approx(1.96 * runs.spread.value / COST(tar, non))
    ends = unc.quantile(runs.standard_errors, [0.025, 0.975])
    assert (runs.spread.low, runs.spread.high) == tuple(ends)


def test_undefined_replicates_are_refused() -> None:
    some = {"runs": 2, "replications": 200, "rng": 1}
    with pytest.raises(InvalidInputError):
        unc.standard_error_distribution([-np.inf, 0.0], [-np.inf, 0.0], unc.Cllr(), **some)
    found = unc.standard_error_distribution([0.0, 0.0], [-np.inf, 0.0], unc.Cllr(), **some)
    assert np.isfinite(found.standard_errors).all()


def test_z_test_and_f_test() -> None:
    x, y = np.array([1.0, 2.0, 4.0, 7.0]), np.array([2.0, 3.0, 4.5])
    found = unc.z_test_of_means(x, y)
    z = (x.mean() - y.mean()) / np.sqrt(x.var(ddof=1) / 4 + y.var(ddof=1) / 3)
    assert found.z == pytest.approx(z)
    assert found.p_value() == pytest.approx(2 * scipy.stats.norm.sf(abs(z)))
    ratio = x.var(ddof=1) / y.var(ddof=1)
    sides = [unc.f_test_of_variances(x, y, alternative=a).p_value for a in ("less", "greater")]
    assert sides == pytest.approx([scipy.stats.f.cdf(ratio, 3, 2), scipy.stats.f.sf(ratio, 3, 2)])
    assert unc.f_test_of_variances(x, y).p_value == pytest.approx(2 * min(sides))


@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], [1.0, 1.0]])
def test_bad_samples(bad: list[float]) -> None:
    with pytest.raises(InvalidInputError):
        unc.f_test_of_variances(bad, [1.0, 2.0])


@pytest.mark.parametrize("method", SETS)
def test_cells_are_the_single_calls(method: str) -> None:
    options = {"replications": 300, "rng": 7}
    table = unc.bootstrap_table(SYSTEMS, KEY, COST, methods=[method], runs=5, **options)
    for name, scores in SYSTEMS.items():
        row = table.row(name, method)
        single = unc.bootstrap_scores(scores, KEY, COST, method=method, **options)
        assert np.array_equal(row.estimate.replicates, single.replicates)
        tar, non, sets = lists_of(name, method)
        runs = unc.standard_error_distribution(
            tar, non, COST, method=method, runs=5, **sets, **options
        )
        assert np.array_equal(row.runs.standard_errors, runs.standard_errors)
        # Equation (4) of Wu et al.
        pmiss, pfa = np.mean(tar < 1.5), np.mean(non >= 1.5)
        variance = pmiss * (1 - pmiss) / tar.size / 100 + 0.99**2 * pfa * (1 - pfa) / non.size
        assert row.upper_bound == pytest.approx(np.sqrt(variance), rel=1e-12)


def test_each_system_at_its_own_threshold() -> None:
    """NISTIR 7722, Table 1: thresholds came with the systems."""
    costs = {name: unc.DCF(1.0 + 0.2 * i, 0.1) for i, name in enumerate(SYSTEMS)}
    table = unc.bootstrap_table(
        SYSTEMS, KEY, costs, methods=["iid"], runs=0, replications=100, rng=3
    )
    assert table.metric == "; ".join(cost.label for cost in costs.values())
    for name, cost in costs.items():
        assert table.row(name, "iid").estimate.value == cost(*SYSTEMS[name].get_tar_non(KEY))
    with pytest.raises(InvalidInputError):
        table.as_printed("II")
    with pytest.raises(InvalidInputError):
        unc.bootstrap_table(SYSTEMS, KEY, costs, groups=True)


def test_costs_have_runs_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "_RUNS", 3)
    few = {"LZ": SYSTEMS["LZ"]}
    for metric, method, runs in ((COST, "iid", 3), (COST, "speaker", 0), (unc.EER(), "iid", 0)):
        table = unc.bootstrap_table(few, KEY, metric, methods=[method], replications=20, rng=1)
        found = table.row("LZ", method).runs
        assert "95 % intervals of 20 replicates" in repr(table)
        assert (0 if found is None else found.standard_errors.size) == runs
    # Beside a method with runs, one without prints its own standard error.
    both = unc.bootstrap_table(few, KEY, COST, methods=["iid", "speaker"], replications=20, rng=1)
    error = both.row("LZ", "speaker").estimate.standard_error
    assert f"{error:.6f} " in repr(both.as_printed("II"))


def test_as_the_papers_print() -> None:
    table = unc.bootstrap_table(SYSTEMS, KEY, COST, runs=4, replications=50, rng=1)
    row = table.row("LZ", "one-layer")
    cell = (
        f"{row.estimate.standard_error:.6f} ({100 * row.estimate.relative_error:.2f}%) "
        f"({row.estimate.low:.6f}, {row.estimate.high:.6f})"
    )
    first, second, third = (table.as_printed(which).to_markdown() for which in ("I", "II", "III"))
    assert first.startswith("| system | estimate | iid | one-layer | two-layer |")
    assert cell in first
    assert second.startswith("| system | upper bound | iid |")
    assert f"({100 * row.runs.spread.relative_error:.2f}%)" in second
    assert third.startswith("| system | estimate | upper bound | iid |")
    assert f"({100 * row.runs.relative_error:.2f}%)" in third
    told = ["standard errors of 4 runs" in repr(table.as_printed(x)) for x in ("I", "II", "III")]
    assert told == [False, True, True]
    with pytest.raises(InvalidInputError):
        unc.bootstrap_table(SYSTEMS, KEY, {"EL": COST})
    record = table.to_dict()[len(SETS) + 1]
    found = record["mean_se"], record["upper_bound"], record["estimate"], record["groups"]
    assert found == (row.runs.spread.value, row.upper_bound, row.estimate.value, None)


def test_letters_are_of_groups_by_holm() -> None:
    options, cost = {"replications": 50, "rng": 3}, unc.DCF(1.5, 0.5)
    table = unc.bootstrap_table(SYSTEMS, KEY, cost, runs=0, groups=True, **options)
    assert "letter" in repr(table)
    for method in SETS:
        p = {}
        for a, b in itertools.combinations(SYSTEMS, 2):
            difference = unc.bootstrap_scores(
                SYSTEMS[a], KEY, cost, against=SYSTEMS[b], method=method, interval="normal",
                **options,
            )  # fmt: skip
            p[a, b] = difference.p_value()
        letters = {name: table.row(name, method).groups for name in SYSTEMS}
        # The last system is far behind; whether the first two differ, Holm's method says.
        assert p["EL", "CH"] < 0.001 > p["LZ", "CH"]
        assert not {*letters["CH"]} & {*letters["EL"], *letters["LZ"]}
        assert (letters["EL"] == letters["LZ"]) == (p["EL", "LZ"] > 0.05)
