"""Influences of speakers by name: what leaving a speaker out does, and the half-normal law."""

import numpy as np
import pytest
from scipy import stats

from bosaris_py import Key, Scores
from bosaris_py import uncertainty as unc
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from tests.crossed_trials import CrossedExperiment
from tests.uncertainty.speaker_samples import speaker_sample

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
COST = unc.DCF(0.0, 0.1, 1, 1, normalize=True)


@pytest.fixture(scope="module")
def drawn():
    experiment = CrossedExperiment(n_speakers=25, tar_mean=1.5, non_mean=-1.5)
    return experiment.draw_systems(np.random.default_rng(4), n_systems=2, shared=0.8)


@pytest.fixture(scope="module")
def how(drawn):
    return {"speakers": (drawn[0].model_speakers, drawn[0].segment_speakers)}


@pytest.fixture(scope="module")
def found(drawn, how):
    return unc.speaker_influences(drawn[0].scores, drawn[0].key, COST, **how)


def _left_out(drawn, speaker):
    """Return the two parts of the cost without the trials of a speaker."""
    one = drawn[0]
    # The speakers of the rows and of the columns, by their maps.
    rows, cols = (
        np.array([dict(zip(m.leftids, m.rightids, strict=True))[i] for i in ids])
        for m, ids in (
            (one.model_speakers, one.key.modelset),
            (one.segment_speakers, one.key.segset),
        )
    )
    kept = (rows != speaker)[:, None] & (cols != speaker)
    scores = one.scores.scoremat
    # Prices 1 and 9 of DCF at .1, normalized.
    return np.mean(scores[one.key.tar & kept] < 0), 9 * np.mean(scores[one.key.non & kept] >= 0)


def test_a_cost_without_a_speaker_is_lower_by_the_influence(drawn, found):
    whole = np.array(_left_out(drawn, ""))
    for name, tar, non in zip(found.speakers, found.of_targets, found.of_non_targets, strict=True):
        assert whole - _left_out(drawn, name) == pytest.approx([tar, non], abs=1e-12)
    assert found.speakers.size == 25
    sizes = np.abs(found.influences)
    assert np.all(np.diff(sizes) <= 0)
    assert found.shares.sum() == pytest.approx(1.0)


def test_half_normal_quantiles(found):
    # Atkinson's places, and the law of ordered numbers by scipy.
    i = np.arange(25, 0, -1)
    assert found.quantiles == pytest.approx(stats.norm.ppf((i + 25 - 1 / 8) / 50.5))
    assert np.median(np.abs(found.influences)) == pytest.approx(found.scale * 0.6744897501960817)
    low, high = found.band(0.9)
    for ends, chance in ((low, 0.05), (high, 0.95)):
        expected = stats.halfnorm.ppf(stats.beta(i, 26 - i).ppf(chance))
        assert ends == pytest.approx(found.scale * expected)


def test_kinds(found):
    for number, record in enumerate(found.records()):
        tar, non = record["of_targets"], record["of_non_targets"]
        assert record["influence"] == pytest.approx(tar + non)
        larger = "targets" if tar >= non else "non-targets"
        assert found.kind(number) == (larger if tar + non > 0 else "")


def test_a_goat_and_a_wolf_have_their_names():
    names, same = [f"s{i:02}" for i in range(30)], np.eye(30, dtype=bool)
    rng = np.random.default_rng(7)
    llrs = 4.0 * np.where(same, 1, -1) + rng.normal(size=same.shape)
    llrs[3, 3] -= 40.0
    llrs[:, 8] += np.where(same[:, 8], 0.0, 20.0)
    key = Key(names, names, same, ~same)
    found = unc.speaker_influences(Scores(llrs, names, names), key, unc.Cllr())
    first = dict(zip(found.speakers[:2].tolist(), map(found.kind, range(2)), strict=True))
    assert first == {"s03": "targets", "s08": "non-targets"}


def test_of_a_difference(drawn, how):
    a, b = (one.scores for one in drawn)
    test = unc.speaker_z_test(a, b, drawn[0].key, COST, **how)
    found = unc.InfluenceTable.of(test.contrast)
    both = [
        {r["speaker"]: r["influence"] for r in table.records()}
        for table in (unc.InfluenceTable.of(test.first), unc.InfluenceTable.of(test.second))
    ]
    for record in found.records():
        name = record["speaker"]
        assert record["influence"] == pytest.approx(both[0][name] - both[1][name], abs=1e-12)
    assert found.is_difference
    assert "difference, first minus second" in str(found)


def test_without_names_speakers_have_their_numbers():
    rng = np.random.default_rng(1)
    tar = np.repeat([2, 5, 7, 9], 3)
    one, other = np.array([(2, 5), (5, 7), (7, 9), (2, 9)]).T
    sample = speaker_sample((rng.normal(1, 1, 12), (tar, tar)), (rng.normal(size=4), (one, other)))
    found = unc.InfluenceTable.of(SpeakerInfluence.on(unc.Cllr(), sample))
    assert sorted(found.speakers) == ["2", "5", "7", "9"]


def test_only_the_first_are_printed(found):
    assert "... and 15 more" in str(found)
    assert found.to_csv().count("\n") == 26
    assert found.to_markdown().count("|\n") == 27


def test_names_stay_with_conditions(drawn, how):
    from bosaris_py import Conditions, Ndx

    key = drawn[0].key
    odd = np.arange(key.segset.size) % 2 == 0
    halves = {
        name: Ndx(key.modelset, key.segset, key.trial_mask & columns)
        for name, columns in (("even", odd), ("odd", ~odd))
    }
    found = unc.speaker_influences(drawn[0].scores, key, COST, conditions=Conditions(halves), **how)
    assert set(found.speakers) == set(drawn[0].model_speakers.rightids)


def test_nothing_varies():
    names, same = [f"s{i}" for i in range(5)], np.eye(5, dtype=bool)
    scores = Scores(np.where(same, 3.0, -3.0), names, names)
    found = unc.speaker_influences(scores, Key(names, names, same, ~same), COST)
    assert not found.influences.any()
    assert found.scale == 0.0
    assert not found.shares.any()
    assert found.plot().ax.lines
