"""The formula by speakers where these are unequal, or where hardly anyone errs."""

import numpy as np
import pytest

from bosaris_py import Key, OperatingPoint, Scores, uncertainty as unc
from bosaris_py._cautions import collected
from bosaris_py.errors import FewSpeakersWarning
from bosaris_py.uncertainty.influence.losses import losses_of
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence, check_influences
from tests.uncertainty.speaker_samples import speaker_sample

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

COST = unc.DCF(0.0, 0.5, 2, 2)


def all_against_all(segments: list[int], seed: int) -> SpeakerInfluence:
    """Each speaker has one model and some segments; all meet."""
    rng = np.random.default_rng(seed)
    of_segment = np.repeat(np.arange(len(segments)), segments)
    one, other = np.divmod(np.arange(len(segments) * of_segment.size), of_segment.size)
    other = of_segment[other]
    same = one == other
    sides = ((rng.normal(size=s.sum()), (one[s], other[s])) for s in (same, ~same))
    sample = speaker_sample(*sides)
    return SpeakerInfluence.of(losses_of(COST, sample), sample)


def test_degrees_are_those_of_the_shares() -> None:
    """Segments 2, 1, 1: targets 2/4, 1/4, 1/4; pairs have 3, 3 and 2 of 8 non-targets."""
    found = all_against_all([2, 1, 1], 3)
    of_tar, of_non = (4 + 1 + 1) / 4**2, (6**2 + 5**2 + 5**2) / 8**2 / 4
    var_tar, var_non = np.diag(found.covariance)
    assert min(var_tar, var_non) > 0
    expected = (var_tar + var_non) / (var_tar * of_tar + var_non * of_non) - 1
    assert found.degrees == pytest.approx(expected, rel=1e-12)
    for prices, share in (((1.0, 0.0), of_tar), ((0.0, 1.0), of_non)):
        assert found.priced(*prices, 0.5).degrees == pytest.approx(1 / share - 1, rel=1e-12)


@pytest.mark.parametrize("n_speakers", [2, 3, 7, 10, 49])
def test_equal_speakers_have_whole_degrees(n_speakers: int) -> None:
    """Not one bit off: intervals of equal designs are those of version 0.2."""
    found = all_against_all([3] * n_speakers, 4)
    assert found.degrees == n_speakers - 1
    assert found.minus(all_against_all([3] * n_speakers, 5)).degrees == n_speakers - 1


def test_degrees_of_one_speaker_who_has_nearly_all() -> None:
    """99 of 103 targets: 1 / sum m^2 is 1.08, so one degree is left."""
    found = all_against_all([99, 1, 1, 1, 1], 6)
    assert found.priced(1.0, 0.0, 0.5).degrees == 1.0


def test_systems_without_variance_have_degrees() -> None:
    """Both classes count alike."""
    found = all_against_all([2, 1, 1], 7)
    none = found.minus(found)
    shares = 6 / 16, 86 / 256
    assert none.degrees == pytest.approx(2 / sum(shares) - 1, rel=1e-12)


def few_errors() -> tuple[Scores, Key, tuple[dict[str, int], dict[str, int]]]:
    """20 speakers; one of 40 targets lies below 8 high ones of 760 non-targets."""
    of_segment = np.repeat(np.arange(20), 2)
    same = np.arange(20)[:, None] == of_segment
    llrs = np.where(same, 5.0, -5.0)
    llrs[0, 0] = -1.0
    for j in range(8):
        llrs[5 + j, 2 * j + 20] = 1.0
    models, segments = [f"m{i}" for i in range(20)], [f"s{i}" for i in range(40)]
    who = dict(zip(models, range(20), strict=True)), dict(zip(segments, of_segment, strict=True))
    return Scores(llrs, models, segments), Key(models, segments, same, ~same), who


def test_replicates_without_loss_count() -> None:
    """The interval of a minimum does not end at the estimate: the formula's end is 0.0203."""
    scores, key, who = few_errors()
    cost = unc.MinDCF(OperatingPoint(0.1, 1, 1))
    with pytest.warns(FewSpeakersWarning):
        found = unc.bootstrap_scores(scores, key, cost, speakers=who, rng=1)
    with pytest.warns(FewSpeakersWarning):
        formula = unc.speaker_interval(scores, key, cost, speakers=who)
    assert found.estimate == pytest.approx(0.1 / 40)
    # A third of the draws of speakers, (1 - 1/20)^20, lack the one who was missed.
    draws = found.student.draws
    assert draws.size == 2000
    assert np.isneginf(draws).mean() == pytest.approx(0.95**20, abs=4 * 0.011)
    assert found.high > 0.01
    # Lowest draws count as 1.5 times the quantile of Student's t, highest ones do not change.
    assert found.high == pytest.approx(found.estimate * (formula.high / formula.estimate) ** 1.5)
    assert 0 < found.low < found.estimate


def test_one_speaker_who_makes_most_of_the_variance_is_told_of() -> None:
    """30 speakers of one target each; all errors are of the first, who has ten."""
    rng = np.random.default_rng(8)
    own = np.repeat(np.arange(30), [10, *[1] * 29])
    tar = np.where(own == 0, -1.0, 1.0)
    one, other = (side.ravel() for side in np.meshgrid(np.arange(30), np.arange(30)))
    one, other = one[one != other], other[one != other]
    non = rng.normal(size=one.size) - 1.0
    sample = speaker_sample((tar, (own, own)), (non, (one, other)))
    found = SpeakerInfluence.of(losses_of(unc.FNMR(0.0), sample), sample)
    # Residuals are 10/39 (1 - 10/39) and -10/39 / 39; leverages 39/29 and 39/38.
    squares = np.array([(10 / 39) ** 2, *[(10 / 39 / 38) ** 2] * 29])
    assert found.largest_share == pytest.approx(squares[0] / squares.sum(), rel=1e-12)
    with collected() as heard:
        assert check_influences({"FNMR": found}, 20)
    (caution,) = (one for one in heard if one.count is None)
    assert caution.finding == "One speaker makes 98 % of the variance of the FNMR."
    assert caution.figures == ("FNMR",)
