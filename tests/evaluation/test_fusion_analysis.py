"""Subsystems and fusions side by side: the toolkit's numbers, text, bad input."""

import attrs
import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.evaluation import SystemComparison, SystemDivergence
from bosaris_py.fusion import LinearFusion
from bosaris_py.numerics.llr_cost import estimate_target_proportions, kl_divergence
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials import Key, Scores


@pytest.fixture(scope="module")
def record(oracle):
    with np.load(oracle / "fusion_helpers.npz") as arrays:
        return dict(arrays)


@pytest.fixture
def trials(record):
    """Two systems on 20 x 25 trials, column by column in the order of the record."""
    models, segments = [f"m{i}" for i in range(20)], [f"s{i}" for i in range(25)]
    labels = record["classf"].reshape(25, 20).T
    key = Key(models, segments, labels > 0, labels < 0)
    systems = [Scores(row.reshape(25, 20).T, models, segments) for row in record["scores"]]
    return systems, key


class TestComparison:
    def test_toolkit(self, record, trials):
        """Costs of evalAll at prior 0.1, in per cent but for the PRBEP."""
        found = SystemComparison.from_scores(*trials, prior=0.1)
        table = np.column_stack((100 * found.act_dcf, 100 * found.min_dcf, found.prbep))
        np.testing.assert_allclose(table, record["evalall_p01"], rtol=1e-12)
        assert found.names == ("1", "2")
        assert (found.n_tar, found.n_non) == tuple(
            np.count_nonzero(record["classf"] == sign) for sign in (1, -1)
        )
        assert found.target_proportion == found.n_tar / 500
        np.testing.assert_allclose(
            found.estimated_proportions,
            estimate_target_proportions(record["scores"], found.target_proportion),
            rtol=1e-12,
        )

    def test_calibrated_fusion_finds_the_share_of_targets(self, trials):
        """Log-loss optimal at the true share: the mean posterior is that share, exactly."""
        systems, key = trials
        share = key.n_tar / key.n_trials
        fused = LinearFusion.fit_scores(systems, key, prior=share).apply(systems, key)
        found = SystemComparison.from_scores({"fusion": fused}, key, prior=0.1)
        assert found.estimated_proportions[0] == pytest.approx(share, rel=1e-12)

    def test_text(self, trials):
        systems, key = trials
        named = {"long name": systems[0], "b": systems[1]}
        found = SystemComparison.from_scores(named, key, prior=OperatingPoint(0.01, 10, 1))
        head, titles, first, second = str(found).splitlines()
        assert head == (
            f"{key.n_tar} targets, {key.n_non} non-targets: {100 * key.n_tar / 500:.4g} % targets. "
            "Normalized costs at prior 0.01, miss costs 10, false alarm 1."
        )
        assert titles == "system     targets (%)  act. DCF  min. DCF  PRBEP"
        assert first.startswith("long name  ")
        assert second.startswith("b          ")
        assert len(first) == len(second) == len(titles)
        assert first.split()[-3:] == [
            f"{found.act_dcf[0]:.4f}",
            f"{found.min_dcf[0]:.4f}",
            f"{found.prbep[0]:.2f}",
        ]
        assert repr(found) == (
            f"SystemComparison: 2 systems, {key.n_tar} targets, {key.n_non} non-targets"
        )

    def test_values_are_frozen_and_compare(self, trials):
        found = SystemComparison.from_scores(*trials, prior=0.1)
        with pytest.raises(ValueError, match="read-only"):
            found.act_dcf[0] = 0.0
        assert found == SystemComparison.from_scores(*trials, prior=0.1)
        assert found != SystemComparison.from_scores(*trials, prior=0.2)


class TestDivergence:
    def test_toolkit(self, record, trials):
        systems, key = trials
        found = SystemDivergence.from_scores(systems, key, systems, key.to_ndx(), prior=0.08)
        np.testing.assert_allclose(found.dev, record["kl_sup_008"], atol=1e-12)
        np.testing.assert_allclose(found.evaluation, record["kl_unsup_008"], atol=1e-12)
        np.testing.assert_allclose(found.estimated_proportions, record["prop_008"], rtol=1e-12)
        assert (found.assumed_prior, found.prior) == (0.08, 0.08)

    def test_prior_is_the_last_systems_estimate(self, record, trials):
        systems, key = trials
        found = SystemDivergence.from_scores(systems, key, systems, key)
        assert found.prior == found.estimated_proportions[-1]
        np.testing.assert_allclose(
            found.evaluation, kl_divergence(record["scores"], found.prior), atol=1e-12
        )
        other = SystemDivergence.from_scores(systems, key, systems, key, assumed_prior=0.5)
        np.testing.assert_allclose(other.estimated_proportions, record["prop_05"], rtol=1e-12)

    def test_text(self, trials):
        systems, key = trials
        named = dict(zip(("a", "bb"), systems, strict=True))
        found = SystemDivergence.from_scores(named, key, named, key, prior=0.08)
        lines = str(found).splitlines()
        assert len(lines) == 12
        assert lines[0] == "Targets on the new trials, estimated with prior 0.08:"
        assert lines[2].split() == ["a", f"{100 * found.estimated_proportions[0]:.2f}"]
        assert lines[6].split() == ["a", "0.00", f"{100 * found.dev[0, 1]:.2f}"]
        assert lines[11].split() == ["bb", f"{100 * found.evaluation[1, 0]:.2f}", "0.00"]
        assert repr(found) == "SystemDivergence: 2 systems at prior 0.08"
        with pytest.raises(ValueError, match="read-only"):
            found.dev[0, 1] = 0.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s, k: (s[0], k), InvalidInputError, "one Scores. Put the Scores of all"),
        (lambda s, k: ([], k), InvalidInputError, "at least one Scores"),
        (lambda s, k: ([k], k), InvalidInputError, "hold Scores only"),
        (lambda s, k: (s, k.to_ndx()), InvalidInputError, "`key` must be a Key"),
        (
            lambda s, k: ([attrs.evolve(s[0], scoremask=k.tar)], k),
            TrialMismatchError,
            "system 1 lacks .* non-targets",
        ),
    ],
)
def test_bad_input(trials, change, error, message):
    systems, key = change(*trials)
    with pytest.raises(error, match=message):
        SystemComparison.from_scores(systems, key, prior=0.1)
    with pytest.raises(error, match=message):
        SystemDivergence.from_scores(systems, key, systems, trials[1])


def test_bad_priors_and_lists(trials):
    systems, key = trials
    with pytest.raises(InvalidInputError, match="strictly between 0 and 1"):
        SystemComparison.from_scores(systems, key, prior=1.5)
    with pytest.raises(InvalidInputError, match=r"`evaluation` .* same systems as `dev`"):
        SystemDivergence.from_scores(systems, key, systems[:1], key)
    with pytest.raises(InvalidInputError, match=r"`prior` .* strictly between 0 and 1"):
        SystemDivergence.from_scores(systems, key, systems, key, prior=0.0)
    with pytest.raises(InvalidInputError, match=r"`ndx` must be an Ndx or a Key"):
        SystemDivergence.from_scores(systems, key, systems, systems[0])
    empty = Key(key.modelset, key.segset, key.tar, key.non & False)
    with pytest.raises(InvalidInputError, match="at least one score"):
        SystemComparison.from_scores(systems, empty, prior=0.1)


def test_files_have_the_figures_of_memory(trials, tmp_path):
    whole, key = trials
    systems = dict(zip("ab", whole, strict=True))
    paths = {name: tmp_path / f"{name}.h5" for name in systems}
    for name, system in systems.items():
        system.save(paths[name])
    key.save(tmp_path / "key.h5")
    expected = SystemComparison.from_scores(systems, key, prior=0.1)
    found = SystemComparison.from_files(paths, tmp_path / "key.h5", prior=0.1, block_rows=7)
    close = {"estimated_proportions": expected.estimated_proportions}
    np.testing.assert_allclose(found.estimated_proportions, *close.values(), rtol=1e-13)
    assert attrs.evolve(found, **close) == expected
    systems["b"].filter(key.modelset[1:], key.segset, keep=True).save(paths["b"])
    with pytest.raises(TrialMismatchError, match=r"system 2 lacks \d+ of \d+ targets"):
        SystemComparison.from_files(paths, tmp_path / "key.h5", prior=0.1)
    with pytest.raises(InvalidInputError, match="map names to score files; got"):
        SystemComparison.from_files([], tmp_path / "key.h5", prior=0.1)
