"""Watching a rate: e-values bet by bet, their promise in simulations, and what is refused."""

import numpy as np
import pytest
from scipy import special

from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.uncertainty.inference.monitoring import _capital


def naive_e_values(losses: np.ndarray, m: float) -> list[float]:
    """One speaker after the other, with what was known before."""
    adaptive = fixed = 1.0
    found: list[float] = []
    for t, loss in enumerate(losses):
        seen = losses[:t]
        centre = (seen.sum() + m) / (t + 1)
        variance = (((seen - centre) ** 2).sum() + m * (1 - m)) / (t + 1)
        gap = centre - m
        bet = min(max(gap / (variance + gap**2), 0.0), 0.5 / m)
        adaptive *= 1 + bet * (loss - m)
        fixed *= 1 + min(1 / (m + 4 * m / (1 - m)), 0.5 / m) * (loss - m)
        found.append((adaptive + fixed) / 2)
    return found


@pytest.mark.parametrize("baseline", [0.05, 0.3])
def test_e_values_are_the_capital_of_bets(baseline: float) -> None:
    losses = np.random.default_rng(1).binomial(20, 0.1, 60) / 20
    found = unc.monitor(np.arange(60), losses, baseline=baseline)
    np.testing.assert_allclose(found.e_values, naive_e_values(losses, baseline), rtol=1e-9)
    above = np.flatnonzero(found.e_values >= 20)
    assert found.alarm_at == (above[0] + 1 if above.size else None)


@pytest.mark.parametrize(("last", "alarm"), [(9.9, "9.9: no alarm"), (10.0, "10: alarm after 2")])
def test_alarm_is_given_at_one_over_the_level(last: float, alarm: str) -> None:
    found = unc.Monitor(
        np.array([0.0, 0.2]), ("a", "b"), 0.05, 0.1, np.array([1.0, last]),
        np.array([0.0, 0.02]), np.array([1.0, 0.4]),
    )  # fmt: skip
    assert found.alarm_at == (2 if last == 10.0 else None)
    assert repr(found) == (
        "Monitor: 2 speakers, rate 0.1 (90 % confidence sequence 0.02 to 0.4), baseline 0.05, "
        f"e-value {alarm}"
    )


def test_mean_of_an_e_value_is_at_most_one() -> None:
    """A bet at the true rate wins nothing on average: exact, over all outcomes of six coins."""
    outcomes = np.array(np.meshgrid(*[[0.0, 1.0]] * 6)).reshape(6, -1)
    chances = np.prod(np.where(outcomes == 1, 0.3, 0.7), axis=0)
    capital = [np.exp(_capital(one, np.array([0.3]))[-1, 0]) for one in outcomes.T]
    assert chances @ capital == pytest.approx(1.0, rel=1e-12)


def speakers_in_use(rng: np.random.Generator, n: int, threshold: float) -> tuple[np.ndarray, float]:
    """Share of false alarms of each new speaker against 20 enrolled ones, and the true rate."""
    lamb = 0.75 * rng.normal(size=20)
    wolf = rng.normal(size=(n, 1))
    scores = -3.3 + lamb + 1.2 * wolf + 1.6 * rng.normal(size=(n, 20))
    # Of a normal law, for the enrolled speakers as they are.
    rate = float(special.ndtr((-3.3 + lamb - threshold) / np.hypot(1.2, 1.6)).mean())
    return (scores >= threshold).mean(axis=1), rate


def test_false_alarms_are_as_rare_as_promised() -> None:
    """400 runs of 500 speakers: at most 5 %, and three standard errors (3.3 points)."""
    rng, alarms = np.random.default_rng(2), 0
    for _ in range(400):
        losses, rate = speakers_in_use(rng, 500, threshold=0.2)
        alarms += bool((_capital(losses, np.array([rate])) >= np.log(20)).any())
    assert alarms / 400 <= 0.05 + 0.033


def test_a_doubled_rate_is_found_soon() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(100):
        losses, rate = speakers_in_use(rng, 400, threshold=0.2)
        above = _capital(losses, np.array([rate / 2]))[:, 0] >= np.log(20)
        found.append(np.argmax(above) + 1 if above.any() else 400)
    assert np.median(found) <= 150


@pytest.mark.slow
def test_the_sequence_holds_at_all_times() -> None:
    """60 runs: 95 % at all of 300 times; three standard errors are 8.4 points."""
    rng, held = np.random.default_rng(4), 0
    for _ in range(60):
        losses, rate = speakers_in_use(rng, 300, threshold=0.2)
        found = unc.monitor(np.arange(300), losses, baseline=0.1)
        assert (np.diff(found.low) >= 0).all()
        assert (np.diff(found.high) <= 0).all()
        held += bool(((found.low <= rate) & (rate <= found.high)).all())
    assert held / 60 >= 0.95 - 0.084


def test_more_speakers_are_those_of_all() -> None:
    losses = np.random.default_rng(5).binomial(20, 0.1, 40) / 20
    whole = unc.monitor([f"s{i}" for i in range(40)], losses, baseline=0.05)
    part = unc.monitor([f"s{i}" for i in range(25)], losses[:25], baseline=0.05)
    found = part.add([f"s{i}" for i in range(25, 40)], losses[25:])
    np.testing.assert_array_equal(found.e_values, whole.e_values)
    np.testing.assert_array_equal(found.high, whole.high)
    assert found.speakers == whole.speakers
    assert repr(found) == repr(whole)
    with pytest.raises(InvalidInputError, match=r"must be new, each once.*'s3'"):
        part.add(["s3"], [0.1])


def test_what_is_no_stream_of_new_speakers_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"'b'.*The enrolled set is fixed"):
        unc.monitor(["a", "b"], [0.1, 0.2], baseline=0.1, enrolled=["b", "c"])
    with pytest.raises(InvalidInputError, match=r"'a'.*one loss"):
        unc.monitor(["a", "a"], [0.1, 0.2], baseline=0.1)
    with pytest.raises(InvalidInputError, match=r"`losses` must lie in \[0, 1\]; got 1.5"):
        unc.monitor(["a"], [1.5], baseline=0.1)
    with pytest.raises(TrialMismatchError, match="2 losses of 1 speakers"):
        unc.monitor(["a"], [0.1, 0.2], baseline=0.1)
    with pytest.raises(InvalidInputError, match="`baseline`"):
        unc.monitor(["a"], [0.1], baseline=0.0)
    with pytest.raises(InvalidInputError, match="at least one speaker"):
        unc.monitor([], [], baseline=0.1)
