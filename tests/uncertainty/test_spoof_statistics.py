"""Statistics of three classes under all ways of resampling, against naive ones."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty.resampling import Resampling

# These sets are small on purpose.
pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]


@pytest.fixture(scope="module")
def trials():
    """30 speakers with habits, who are targets, impostors of others, and imitated."""
    rng = np.random.default_rng(1)
    habits = rng.normal(size=30)
    models, segments, kinds, scores, attacks = [], [], [], [], []
    for i in range(30):
        for j in range(30):
            kind = "target" if i == j else "nontarget"
            for take in range(4 if i == j else 1):
                models.append(f"s{i}")
                segments.append(f"s{j}-{take}")
                kinds.append(kind)
                attacks.append("-")
                scores.append(4 * (i == j) - 1 + 0.5 * (habits[i] + habits[j]) + rng.normal())
        for attack in range(10):
            models.append(f"s{i}")
            segments.append(f"fake{i}-{attack}")
            kinds.append("spoof")
            attacks.append(f"A{attack % 5}")
            scores.append(1 + habits[i] + 0.3 * (attack % 5) + rng.normal())
    kinds, scores = np.array(kinds), np.array(scores)
    key = bp.FlatKey.from_trials(models, segments, kinds == "target")
    metadata = bp.TrialMetadata.from_trials(
        models, segments, {"kind": kinds, "attack": attacks}, key
    )
    return key, metadata, bp.FlatScores.from_trials(models, segments, scores), kinds, scores


WHO = {"speakers": (lambda m: m, lambda s: s.split("-")[0])}
STATISTICS = [unc.ADCF(), unc.ActADCF("ASVspoof5"), unc.SVEER(), unc.SPFEER(), unc.SASVEER()]


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@pytest.mark.parametrize("method", ["speaker", "iid", "one-layer"])
def test_the_estimate_is_that_of_the_function(trials, statistic, method):
    key, metadata, system, kinds, scores = trials
    lists = [scores[kinds == kind] for kind in ("target", "nontarget", "spoof")]
    who = {} if method == "iid" else WHO
    found = unc.bootstrap_scores(
        system, (key, metadata), statistic, method=method, replications=50, rng=1, **who
    )
    # Sums of three classes and of weighted kinds in another order.
    assert found.estimate == pytest.approx(statistic(*lists), rel=1e-12)
    assert found.standard_error > 0
    assert found.low < found.estimate < found.high


def test_a_replicate_weights_a_spoof_by_its_claimed_speaker(trials):
    key, metadata, system, _, _ = trials
    how = Resampling("speaker", replications=40, rng=1)
    who = unc.Speakers(**WHO)
    sample = how.kinds_sample(system, (key, metadata), who)
    statistic = unc.ActADCF()
    view = statistic.view(sample)
    plan = how.plan(view)
    sampler = statistic.plain.sampler(view, plan)
    found = sampler.draw(40, np.random.default_rng(5))
    weights, _ = plan.persons.draw(40, np.random.default_rng(5))
    assert (weights[:, 30] == 1).all()
    limit = statistic.costs.threshold
    tar, non, spoof = sample.classes
    for row in range(40):
        w = weights[row]
        of_tar = w[plan.tar.first]
        first, second = plan.non.first, plan.non.second
        of_non = (w[first] * w[second])[: non.scores.size]
        of_spoof = w[first][non.scores.size :]
        miss = np.average(tar.scores < limit, weights=of_tar)
        alarm = np.average(non.scores >= limit, weights=of_non)
        fake = np.average(spoof.scores >= limit, weights=of_spoof)
        expected = (0.9 * miss + 0.5 * alarm + 1.0 * fake) / 0.9
        # Sums in another order.
        assert found[row] == pytest.approx(expected, rel=1e-10)


def test_a_layer_of_attacks_multiplies_the_weights_of_spoofs(trials):
    key, metadata, system, _, _ = trials
    how = Resampling("speaker", rng=1)
    sample = how.kinds_sample(system, (key, metadata), unc.Speakers(**WHO), "attack")
    plan = how.plan(unc.ADCF().view(sample))
    assert (plan.persons.constant, plan.persons.n_groups) == (False, 6)
    assert plan.persons.shape == (36, 36)
    # Groups stand behind the speakers, in the order of the levels, of which bona fide is the first.
    n_non = sample.classes[1].scores.size
    spoofed = metadata.factor("kind").values() == "spoof"
    codes = metadata.factor("attack").codes[spoofed]
    assert plan.non.second[n_non:].tolist() == (30 + codes).tolist()
    found = unc.bootstrap_scores(
        system, (key, metadata), unc.ADCF(), layer="attack", replications=50, rng=1, **WHO
    )
    assert found.standard_error > 0


def test_the_formula_is_near_the_bootstrap(trials):
    key, metadata, system, _, _ = trials
    for statistic in (unc.ActADCF(), unc.SPFEER()):
        drawn = unc.bootstrap_scores(
            system, (key, metadata), statistic, replications=1000, rng=1, **WHO
        )
        formula = unc.speaker_interval(system, (key, metadata), statistic, **WHO)
        # Both estimate the same; of 1,000 replicates the error is 2 %, and pairs count thrice.
        assert drawn.standard_error == pytest.approx(formula.standard_error, rel=0.25)


def test_trials_of_one_person_are_not_pairs(trials):
    key, metadata, system, _, _ = trials
    how = Resampling("speaker")
    sample = how.kinds_sample(system, (key, metadata), unc.Speakers(**WHO))
    pairs = unc.SPFEER().view(sample).pairs
    assert pairs.n_speakers == 30
    assert not pairs.are_two.any()
    # Each speaker has ten of 300 spoofs, and takes part in no other.
    np.testing.assert_allclose(pairs.reach, 1 / 30, rtol=1e-14)


def test_a_paired_test_of_a_system_with_itself_and_with_noise(trials):
    key, metadata, system, _, scores = trials
    same = unc.paired_bootstrap(
        system, system, (key, metadata), unc.ADCF(), replications=50, rng=1, **WHO
    )
    assert same.difference == 0
    worse = system.transform(lambda x: x + np.random.default_rng(1).normal(size=x.shape) * 4)
    found = unc.paired_bootstrap(
        system, worse, (key, metadata), unc.ADCF(), replications=200, rng=1, **WHO
    )
    assert found.difference < 0
    assert found.p_value < 0.05
    assert scores.size == key.n_trials


def test_a_list_of_statistics_has_the_estimates_of_each(trials):
    key, metadata, system, _, _ = trials
    found = unc.bootstrap_scores(system, (key, metadata), STATISTICS, replications=20, rng=1, **WHO)
    alone = unc.bootstrap_scores(
        system, (key, metadata), STATISTICS[1], replications=20, rng=1, **WHO
    )
    np.testing.assert_array_equal(found[1].replicates, alone.replicates)


def test_bad_input(trials):
    key, metadata, system, kinds, _ = trials
    with pytest.raises(
        InvalidInputError, match=r"be a pair \(key, metadata\) with a column 'kind'"
    ):
        unc.bootstrap_scores(system, key, unc.ADCF())
    bare = bp.TrialMetadata(key, {})
    with pytest.raises(InvalidInputError, match='spoof="keep"'):
        unc.bootstrap_scores(system, (key, bare), unc.ADCF())
    odd = bp.TrialMetadata(key, {"kind": np.where(kinds == "spoof", "fake", kinds)})
    with pytest.raises(InvalidInputError, match="hold nontarget, spoof, target in the column"):
        unc.bootstrap_scores(system, (key, odd), unc.ADCF())
    none = bp.TrialMetadata(key, {"kind": np.where(kinds == "spoof", "nontarget", kinds)})
    with pytest.raises(InvalidInputError, match="have spoofs with scores; got none"):
        unc.bootstrap_scores(system, (key, none), unc.ADCF(), method="iid")
    with pytest.raises(InvalidInputError, match="layer"):
        unc.bootstrap_scores(system, (key, metadata), unc.EER(), layer="attack")
    with pytest.raises(InvalidInputError, match="pigeonhole"):
        unc.bootstrap_scores(system, (key, metadata), unc.ADCF(), pigeonhole=True, **WHO)


@pytest.mark.parametrize("unknown", ["-", "bonafide"])
def test_attacks_without_a_name_are_no_layer(trials, unknown):
    key, metadata, system, _, _ = trials
    attacks = metadata.factor("attack").values().astype("U8")
    own = metadata.factor("kind").values()
    attacks[np.flatnonzero(own == "spoof")[:3]] = unknown
    odd = bp.TrialMetadata(key, {"kind": own, "attack": attacks})
    message = f"`layer` must name a column with the attack of each spoof, .* got '{unknown}' for 3"
    with pytest.raises(InvalidInputError, match=message):
        unc.bootstrap_scores(system, (key, odd), unc.ADCF(), layer="attack", **WHO)


@pytest.mark.parametrize("door", ["bootstrap_scores", "speaker_interval", "paired_bootstrap"])
def test_no_metric_of_two_classes_mixes_impostors_and_spoofs(door: str) -> None:
    names, rng = np.arange(300).astype(str), np.random.default_rng(1)
    kinds = np.repeat(["target", "nontarget", "spoof"], 100)
    key = bp.FlatKey.from_trials(names, names, kinds == "target")
    metadata = bp.TrialMetadata.from_trials(names, names, {"kind": kinds}, key)
    scores = bp.FlatScores.from_trials(names, names, rng.normal(size=300))
    systems = (scores, scores) if door == "paired_bootstrap" else (scores,)
    with pytest.raises(InvalidInputError, match="one of two, and 100 spoofs"):
        getattr(unc, door)(*systems, (key, metadata), unc.EER())
