"""Lists of trials and matrices of the same trials give identical figures."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import IdMap, Key, Scores, uncertainty as unc
from bosaris_py.trials import Conditions, FlatKey, FlatScores

pytestmark = [
    # Small data are quick; the warnings have tests of their own.
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.DegenerateReplicatesWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConditionWarning"),
]

COST = unc.DCF(0.5, 0.3, 1, 1)


def mean_target(
    tar: np.ndarray, non: np.ndarray, tar_weights: np.ndarray, non_weights: np.ndarray
) -> float:
    """A function of a user's own."""
    return float(np.average(tar, weights=tar_weights))


STATISTICS = (
    COST, unc.ActDCF([0.1, 0.5]), unc.ErrorRates([-1.0, 0.5]), unc.Cllr(), unc.MinDCF(0.3),
    unc.MinDCF([0.1, 0.3]), unc.EER(), unc.AUC(), unc.MinCllr(), unc.DETCurve([0.1, 0.3]),
    unc.ActDCFCurve([-1.0, 1.0]), unc.MinDCFCurve([-1.0, 1.0]),
    mean_target,
)  # fmt: skip
METHODS = ("iid", "one-layer", "two-layer", "speaker")


def name_of(statistic: object) -> str:
    return getattr(statistic, "__name__", repr(statistic))


@attrs.frozen
class Trials:
    """Two systems on the same trials, half of the cells of a matrix, some without scores."""

    key: Key
    first: Scores
    second: Scores
    labels: np.ndarray
    model_speakers: IdMap
    segment_speakers: IdMap

    @classmethod
    def draw(cls, seed: int, *, missing: bool) -> "Trials":
        rng = np.random.default_rng(seed)
        n_speakers = 6
        of_model = np.repeat(np.arange(n_speakers), 2)
        of_segment = rng.permutation(np.repeat(np.arange(n_speakers), 4))
        models = [f"m{i:02}" for i in rng.permutation(of_model.size)]
        segments = [f"s{i:02}" for i in rng.permutation(of_segment.size)]
        same = of_model[:, None] == of_segment
        kept = rng.random(same.shape) < 0.5
        kept |= same & (np.arange(of_segment.size) % 2 == 0)
        key = Key(models, segments, same & kept, ~same & kept)
        scored = (rng.random(same.shape) < 0.9) | same if missing else np.ones_like(same)
        common = np.where(same, 2.0, 0.0) + rng.normal(size=same.shape)
        systems = (
            Scores((common + rng.normal(size=same.shape)).round(1), models, segments, scored)
            for _ in range(2)
        )
        people = np.array([f"p{i}" for i in range(n_speakers)])
        return cls(
            key, *systems, rng.choice(["x", "y", "z"], key.n_trials),
            IdMap(models, people[of_model]), IdMap(segments, people[of_segment]),
        )  # fmt: skip

    def speakers(self, method: str = "speaker") -> dict[str, Any]:
        if method == "iid":
            return {}
        of_segments = self.segment_speakers if method == "speaker" else None
        return {"speakers": (self.model_speakers, of_segments)}

    def forms(self) -> list[tuple[Key | FlatKey, Scores | FlatScores, Scores | FlatScores]]:
        """The matrices, the lists, and one of each."""
        flat = [item.to_flat() for item in (self.key, self.first, self.second)]
        return [
            (self.key, self.first, self.second),
            (flat[0], flat[1], flat[2]),
            (self.key, flat[1], self.second),
            (flat[0], self.first, flat[2]),
        ]

    def conditions(self, key: Key | FlatKey) -> Conditions:
        return Conditions.from_labels(
            key, self.labels, {"x": 0.5, "y": 0.3, "z": 0.2}, order="columns"
        )


def same_for_all_forms(
    trials: Trials,
    function: Callable[..., Any],
    *,
    systems: int,
    weighted: bool,
    of: Callable[[Any], Any],
) -> None:
    """Check that a function returns the same of matrices and of lists."""
    results = []
    for key, *scores in trials.forms():
        options = {"conditions": trials.conditions(key)} if weighted else {}
        results.append(of(function(*scores[:systems], key, **options)))
    for other in results[1:]:
        assert np.array_equal(results[0], other, equal_nan=True)


def all_pairs(statistics: tuple[Any, ...]) -> Any:
    """Each statistic with each method, and each of them with conditions and without."""
    return pytest.mark.parametrize(
        ("statistic", "method", "weighted"),
        [
            pytest.param(
                statistic, method, weighted,
                id=f"{name_of(statistic)}-{method}-{'conditions' if weighted else 'plain'}",
            )
            for i, statistic in enumerate(statistics)
            for j, method in enumerate(METHODS)
            for weighted in [(i + j) % 2 == 1]
        ],
    )  # fmt: skip


@all_pairs(STATISTICS)
def test_bootstrap(statistic: unc.Statistic, method: str, *, weighted: bool) -> None:
    trials = Trials.draw(1, missing=True)

    def run(scores: Any, key: Any, **options: Any) -> unc.BootstrapResult:
        return unc.bootstrap_scores(
            scores, key, statistic, method=method, **trials.speakers(method), **options,
            replications=12, rng=2,
        )  # fmt: skip

    same_for_all_forms(
        trials, run, systems=1, weighted=weighted, of=lambda result: result.replicates
    )


@all_pairs((COST, unc.Cllr(), unc.EER(), mean_target))
def test_paired_bootstrap(statistic: unc.Statistic, method: str, *, weighted: bool) -> None:
    trials = Trials.draw(3, missing=True)

    def run(a: Any, b: Any, key: Any, **options: Any) -> unc.PairedBootstrapResult:
        return unc.paired_bootstrap(
            a, b, key, statistic, method=method, **trials.speakers(method), **options,
            replications=12, rng=4,
        )  # fmt: skip

    same_for_all_forms(
        trials, run, systems=2, weighted=weighted,
        of=lambda result: np.stack((result.first.replicates, result.second.replicates)),
    )  # fmt: skip


@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans(), missing=st.booleans())
def test_standard_errors_by_formula(seed: int, *, weighted: bool, missing: bool) -> None:
    trials = Trials.draw(seed, missing=missing)

    def rates(scores: Any, key: Any, **options: Any) -> np.ndarray:
        errors = unc.speaker_errors(scores, key, 0.5, **trials.speakers(), **options)
        return np.concatenate(
            (errors.covariance.ravel(), errors.trial_variances, [errors.pmiss, errors.pfa])
        )

    def costs(scores: Any, key: Any, **options: Any) -> list[float]:
        return [
            unc.dcf_standard_error_scores(
                scores, key, COST, method=method, **trials.speakers(method), **options
            )
            for method in METHODS
        ]

    for function in (rates, costs):
        same_for_all_forms(trials, function, systems=1, weighted=weighted, of=np.asarray)


@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_tests_of_speakers(seed: int, *, weighted: bool) -> None:
    trials = Trials.draw(seed, missing=False)
    fields = ("difference", "standard_error", "p_value")

    def z_test(*arguments: Any, **options: Any) -> unc.ZTest:
        return unc.speaker_z_test(*arguments, COST, **trials.speakers(), **options)

    same_for_all_forms(
        trials, z_test, systems=2, weighted=weighted,
        of=lambda result: np.array([getattr(result, name) for name in fields]),
    )  # fmt: skip


def test_decisions() -> None:
    trials = Trials.draw(6, missing=False)
    counts = [unc.ErrorCounts.from_scores(a, key, 0.5) for key, a, _ in trials.forms()]
    assert counts == counts[:1] * 4
    tests = [
        unc.mcnemar_test(
            unc.Decisions.from_scores(a, key, 0.5), unc.Decisions.from_scores(b, key, 0.5)
        )
        for key, a, b in trials.forms()
    ]
    assert tests == tests[:1] * 4
