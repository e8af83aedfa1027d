"""EER, minimum cost, Cllr and AUC of twenty score sets, by the rules of other programs.

    python benchmarks/peers_study.py

Each rule is written here from the documented behaviour of the program, without this package, and
with its order of trials and its rule for ties. scikit-learn runs itself. The table counts the sets
with equal numbers, and those that differ by what they contain: equal scores, steps at which both
error-rates are equally near, or neither. The FAQ says where a program gives the same number; a set
that contradicts it is listed, and the status is then 1.
"""

import math
import sys
import warnings
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq, isotonic_regression
from sklearn.metrics import roc_auc_score, roc_curve

import bosaris_py as bp

PRIORS = (0.001, 0.01, 0.05, 0.5, 0.9)
EQUAL = 1e-9


class ScoreSet(NamedTuple):
    """The scores of the targets and of the non-targets, and what is special about them."""

    tar: np.ndarray
    non: np.ndarray

    @property
    def tied(self) -> bool:
        """Whether a target and a non-target have the same score."""
        return bool(np.isin(self.tar, self.non).any())

    @property
    def finite(self) -> bool:
        """Whether no score is infinite."""
        return bool(np.isfinite(np.concatenate([self.tar, self.non])).all())

    @property
    def ambiguous(self) -> bool:
        """Whether two steps of the ROC with unlike means have both rates equally near."""
        tar, non = np.sort(self.tar), np.sort(self.non)
        thresholds = np.unique(np.concatenate([tar, non]))
        misses = np.append(np.searchsorted(tar, thresholds), tar.size) * non.size
        false_alarms = np.append(non.size - np.searchsorted(non, thresholds), 0) * tar.size
        distance = np.abs(misses - false_alarms)
        nearest = distance == distance.min()
        return np.unique((misses + false_alarms)[nearest]).size > 1


Rule = Callable[[ScoreSet], float | np.ndarray]


def score_sets() -> dict[str, ScoreSet]:
    """Return the twenty sets."""
    rng = np.random.default_rng(2024)

    def normal(n_tar: int, n_non: int, shift: float = 2.5, scale: float = 1.0) -> ScoreSet:
        return ScoreSet(rng.normal(shift, scale, n_tar), rng.normal(0.0, 1.0, n_non))

    def rounded(scores: ScoreSet, digits: int) -> ScoreSet:
        return ScoreSet(scores.tar.round(digits), scores.non.round(digits))

    tar, non = normal(60, 300)
    sets = {
        "plain": normal(200, 2000),
        "as near": ScoreSet(np.array([-1.0, 1.0, 2.0, 3.0]), np.array([-2.0, 0.0])),
        "weak": normal(400, 400, shift=0.3),
        "strong": normal(500, 5000, shift=6.0),
        "other spreads": normal(300, 1200, scale=3.0),
        "more targets": normal(2000, 100),
        "one decimal": rounded(normal(300, 1500), 1),
        "whole numbers": rounded(normal(300, 1500), 0),
        "two decimals": rounded(normal(1000, 5000), 2),
        "constant": ScoreSet(np.zeros(30), np.zeros(70)),
        "two values": ScoreSet(np.repeat([0.0, 1.0], [10, 40]), np.repeat([0.0, 1.0], [80, 20])),
        "separable": ScoreSet(np.linspace(1.0, 2.0, 25), np.linspace(-3.0, 0.0, 90)),
        "inverted": normal(80, 240, shift=-2.0),
        "one and one": ScoreSet(np.array([1.0]), np.array([0.0])),
        "one and one, wrong": ScoreSet(np.array([0.0]), np.array([1.0])),
        "one and five": ScoreSet(np.array([0.5]), np.array([-2.0, -1.0, 0.0, 1.0, 2.0])),
        "infinite": ScoreSet(np.append(tar, [math.inf, -math.inf]), np.append(non, -math.inf)),
        "thousands": ScoreSet(1000.0 * np.sign(tar - 0.5), 1000.0 * np.sign(non - 2.0)),
        "large": ScoreSet(tar * 300.0, non * 300.0),
    }
    test = bp.load_example("asvspoof2019_la").eval
    tar, non = test.scores["ecapa"].get_tar_non(test.key)
    sets["ASVspoof 2019 LA"] = ScoreSet(tar.astype(float), non.astype(float))
    return sets


def in_order(scores: ScoreSet, *, shuffled: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the rates of misses and false alarms below and above each trial of a sorted list.

    Equal scores are not held together: there is a step between any two trials. They stand in the
    order of the list: shuffled, or targets followed by non-targets.
    """
    values = np.concatenate([scores.tar, scores.non])
    is_target = np.repeat([True, False], [scores.tar.size, scores.non.size])
    lines = np.arange(values.size)
    if shuffled:
        np.random.default_rng(0).shuffle(lines)
    is_target = is_target[lines[np.argsort(values[lines], kind="stable")]]
    pmiss = np.append(0, np.cumsum(is_target)) / scores.tar.size
    pfa = 1.0 - np.append(0, np.cumsum(~is_target)) / scores.non.size
    return pmiss, pfa


def at_scores(scores: ScoreSet) -> tuple[np.ndarray, np.ndarray]:
    """Return the rates of misses and false alarms at each score, and above all of them."""
    tar, non = np.sort(scores.tar), np.sort(scores.non)
    thresholds = np.unique(np.concatenate([tar, non]))
    pmiss = np.append(np.searchsorted(tar, thresholds) / tar.size, 1.0)
    pfa = np.append((non.size - np.searchsorted(non, thresholds)) / non.size, 0.0)
    return pmiss, pfa


def first_nearest(pmiss: np.ndarray, pfa: np.ndarray) -> tuple[float, float]:
    """Return both rates at the first step with the least difference, as it is after rounding."""
    step = int(np.argmin(np.abs(pmiss - pfa)))
    return float(pmiss[step]), float(pfa[step])


def crossing(pmiss: np.ndarray, pfa: np.ndarray) -> float:
    """Return where lines between neighbouring steps have equal rates."""
    last = int(np.flatnonzero(pmiss <= pfa)[-1])
    if last + 1 == pmiss.size:
        return float(pmiss[last])
    (m0, m1), (f0, f1) = pmiss[last : last + 2], pfa[last : last + 2]
    share = (f0 - m0) / ((f0 - m0) + (m1 - f1))
    return float(m0 + share * (m1 - m0))


def eer_speechbrain(scores: ScoreSet) -> float:
    """SpeechBrain, bob.measure: the mean of both rates at the nearest step, equal scores held."""
    return sum(first_nearest(*at_scores(scores))) / 2.0


def eer_asvspoof(scores: ScoreSet) -> float:
    """ASVspoof, Voice Privacy: as before, but of equal scores the targets stand below."""
    return sum(first_nearest(*in_order(scores, shuffled=False))) / 2.0


def eer_wespeaker(scores: ScoreSet) -> float:
    """WeSpeaker, NIST: lines between the steps, equal scores in the order of lines."""
    return crossing(*in_order(scores, shuffled=True))


def eer_voxsrc(scores: ScoreSet) -> float:
    """VoxSRC: `brentq` on the ROC of scikit-learn."""
    pfa, detected = sklearn_roc(scores, drop_intermediate=False)
    return float(brentq(lambda x: 1.0 - x - np.interp(x, pfa, detected), 0.0, 1.0, xtol=1e-13))


def eer_voxceleb_trainer(scores: ScoreSet) -> float:
    """voxceleb_trainer: the larger rate at the nearest step of the ROC of scikit-learn."""
    pfa, detected = sklearn_roc(scores, drop_intermediate=True)
    step = int(np.argmin(np.abs(1.0 - detected - pfa)))
    return float(max(pfa[step], 1.0 - detected[step]))


def eer_pyeer(scores: ScoreSet) -> float:
    """pyeer: of the two steps around the crossing, the mean of the one with the lower sum."""
    pmiss, pfa = at_scores(scores)
    after = int(np.argmax(pmiss >= pfa))
    before = after if pmiss[after] == pfa[after] else max(after - 1, 0)
    return float(min(pmiss[after] + pfa[after], pmiss[before] + pfa[before])) / 2.0


def eer_kaldi(scores: ScoreSet) -> float:
    """Kaldi: the miss rate at the first target above the matching non-target."""
    tar, non = np.sort(scores.tar), np.sort(scores.non)
    for missed, score in enumerate(tar):
        accepted = math.floor(non.size * missed / tar.size)
        if non[max(non.size - 1 - accepted, 0)] < score:
            return missed / tar.size
    return 1.0


def eer_hull(scores: ScoreSet) -> float:
    """MATLAB BOSARIS Toolkit, PYLLR, SIDEKIT: where the convex hull has equal rates."""
    values, at = np.unique(np.concatenate([scores.tar, scores.non]), return_inverse=True)
    n_tar = np.bincount(at[: scores.tar.size], minlength=values.size)
    n_non = np.bincount(at[scores.tar.size :], minlength=values.size)
    pooled = isotonic_regression(n_tar / (n_tar + n_non), weights=n_tar + n_non)
    pmiss = np.append(0, np.add.reduceat(n_tar, pooled.blocks[:-1]).cumsum()) / scores.tar.size
    pfa = 1 - np.append(0, np.add.reduceat(n_non, pooled.blocks[:-1]).cumsum()) / scores.non.size
    return crossing(pmiss, pfa)


def sklearn_roc(scores: ScoreSet, *, drop_intermediate: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the rates of false alarms and of detections by scikit-learn."""
    labels = np.repeat([1, 0], [scores.tar.size, scores.non.size])
    values = np.concatenate([scores.tar, scores.non])
    pfa, detected, _ = roc_curve(labels, values, drop_intermediate=drop_intermediate)
    return pfa, detected


def least_costs(pmiss: np.ndarray, pfa: np.ndarray) -> np.ndarray:
    """Return the least normalized cost at each prior."""
    return np.array(
        [np.min(p * pmiss + (1.0 - p) * pfa) / min(p, 1.0 - p) for p in PRIORS], dtype=float
    )


def min_costs_in_order(scores: ScoreSet) -> np.ndarray:
    """Kaldi, NIST, VoxSRC, WeSpeaker, voxceleb_trainer: equal scores in the order of lines."""
    return least_costs(*in_order(scores, shuffled=True))


def min_costs_at_scores(scores: ScoreSet) -> np.ndarray:
    """SpeechBrain, SIDEKIT, PYLLR, ASVspoof 5: equal scores held together."""
    return least_costs(*at_scores(scores))


def min_costs_bob(scores: ScoreSet) -> np.ndarray:
    """bob.measure: no threshold rejects every trial."""
    pmiss, pfa = at_scores(scores)
    return least_costs(pmiss[:-1], pfa[:-1])


def actual_costs(scores: ScoreSet) -> np.ndarray:
    """SIDEKIT, PYLLR, NIST: errors at the Bayes threshold of each prior."""
    thresholds = -np.log(np.array(PRIORS) / (1.0 - np.array(PRIORS)))
    return np.array(
        [
            (p * np.mean(scores.tar < t) + (1.0 - p) * np.mean(scores.non >= t)) / min(p, 1.0 - p)
            for p, t in zip(PRIORS, thresholds, strict=True)
        ]
    )


def cllr_naive(scores: ScoreSet) -> float:
    """SIDEKIT, PYLLR, lir: the mean of both classes' logarithmic costs, in bits."""
    bits = [np.logaddexp(0.0, -scores.tar).mean(), np.logaddexp(0.0, scores.non).mean()]
    return float(sum(bits)) / 2.0 / math.log(2.0)


def auc_sklearn(scores: ScoreSet) -> float:
    """scikit-learn: the area under the ROC."""
    labels = np.repeat([1, 0], [scores.tar.size, scores.non.size])
    return float(roc_auc_score(labels, np.concatenate([scores.tar, scores.non])))


def eer_as(definition: Literal["rocch", "interpolated", "step"]) -> Rule:
    """Return this package's EER by a definition."""
    return lambda scores: bp.eer(scores.tar, scores.non, definition=definition)


def our_min_costs(scores: ScoreSet) -> np.ndarray:
    """Return this package's normalized minimum costs."""
    return np.array([bp.norm_min_dcf(scores.tar, scores.non, p) for p in PRIORS])


def our_actual_costs(scores: ScoreSet) -> np.ndarray:
    """Return this package's normalized actual costs."""
    return np.array([bp.norm_act_dcf(scores.tar, scores.non, p) for p in PRIORS])


def our_cllr(scores: ScoreSet) -> float:
    """Return this package's Cllr."""
    return bp.cllr(scores.tar, scores.non)


def our_auc(scores: ScoreSet) -> float:
    """Return this package's AUC."""
    return bp.auc(scores.tar, scores.non)


# Where the FAQ says that the numbers are equal.
ALWAYS, NO_TIES, ONE_NEAREST, BOTH, NOWHERE = (
    "always",
    "without ties",
    "unless two steps are as near",
    "without ties, unless two steps are as near",
    "not said",
)
COMPARISONS: list[tuple[str, Rule, Rule, str]] = [
    ("EER rocch", eer_hull, eer_as("rocch"), ALWAYS),
    ("EER interpolated", eer_voxsrc, eer_as("interpolated"), ALWAYS),
    ("EER interpolated", eer_wespeaker, eer_as("interpolated"), NO_TIES),
    ("EER step", eer_speechbrain, eer_as("step"), ONE_NEAREST),
    ("EER step", eer_asvspoof, eer_as("step"), BOTH),
    ("EER step", eer_voxceleb_trainer, eer_as("step"), NOWHERE),
    ("EER step", eer_pyeer, eer_as("step"), NOWHERE),
    ("EER step", eer_kaldi, eer_as("step"), NOWHERE),
    ("minimum costs", min_costs_at_scores, our_min_costs, ALWAYS),
    ("minimum costs", min_costs_in_order, our_min_costs, NO_TIES),
    ("minimum costs", min_costs_bob, our_min_costs, NOWHERE),
    ("actual costs", actual_costs, our_actual_costs, ALWAYS),
    ("Cllr", cllr_naive, our_cllr, ALWAYS),
    ("AUC", auc_sklearn, our_auc, ALWAYS),
]


def said_equal(scores: ScoreSet, where: str) -> bool:
    """Whether the FAQ says that a number of this set is equal."""
    excused = {
        ALWAYS: False,
        NO_TIES: scores.tied,
        ONE_NEAREST: scores.ambiguous,
        BOTH: scores.tied or scores.ambiguous,
        NOWHERE: True,
    }
    return not excused[where]


def main() -> int:
    """Print how many sets are equal, and each that the FAQ's statements do not hold for."""
    # Some sets are inverted or no llrs, on purpose.
    warnings.simplefilter("ignore", bp.errors.SuspectScoresWarning)
    sets = score_sets()
    tied = sum(scores.tied for scores in sets.values())
    near = [name for name, scores in sets.items() if scores.ambiguous]
    print(f"{len(sets)} score sets, {tied} with ties; two steps as near: {', '.join(near)}\n")
    print(f"{'number':18}{'equal':>6}{'not':>5}  {'the FAQ says':44}rule")
    wrong = []
    for number, theirs, ours, where in COMPARISONS:
        differing = []
        for name, scores in sets.items():
            if not scores.finite and theirs in (eer_voxsrc, eer_voxceleb_trainer, auc_sklearn):
                continue  # scikit-learn refuses infinite scores
            values = np.atleast_1d(theirs(scores)), np.atleast_1d(ours(scores))
            # Also infinite Cllr of both is equal.
            if not np.allclose(*values, rtol=0.0, atol=EQUAL):
                differing.append(name)
                if said_equal(scores, where):
                    wrong.append(f"{number}, {name}: {values[0]} by the rule, {values[1]} here")
        told = (theirs.__doc__ or "").rstrip(".")
        print(f"{number:18}{len(sets) - len(differing):6}{len(differing):5}  {where:44}{told}")
        if differing:
            print(f"{'':31}{', '.join(differing)}")
    print("\nnothing contradicts the FAQ" if not wrong else "\n" + "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
