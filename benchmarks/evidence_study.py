"""Count how often 95 % bands of Tippett, ECE, PAV and reliability plots cover the truth.

Simulates scores of 80 speakers whose law is known, see ``tests/crossed_trials.py``, and resamples
speakers or trials. Prints a table of the coverage at each point of pointwise bands, and of how
often simultaneous bands hold the whole curve. Run it from the root of the tree:

    python -m benchmarks.evidence_study --sets 300 --law strong

In the law "usual" speakers make a quarter of the variance of target scores, as in the coverage
study; in the law "strong" nine tenths; in the law "independent" there are no effects but noise.
"""

import argparse
import math
import warnings

import numpy as np
from scipy import special

from bosaris_py import uncertainty as unc
from bosaris_py.errors import BosarisWarning
from tests.crossed_trials import CrossedExperiment

MEANS = {"tar_mean": 2.0, "non_mean": -2.0}
ONLY_NOISE = dict.fromkeys(("goat", "lamb", "wolf", "pair", "model", "segment"), 0.0)
LAWS = {
    "usual": CrossedExperiment(**MEANS),
    "strong": CrossedExperiment(
        **MEANS, goat=1.4, lamb=0.9, wolf=0.9, pair=0.4, model=0.2, segment=0.2, noise=0.3
    ),
    "independent": CrossedExperiment(**MEANS, **ONLY_NOISE, noise=1.6),
}
LLR, PLO = np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), np.array([-3.0, -1.5, 0.0, 1.5, 3.0])
PRIOR, BINS = 0.5, 5


def deviations(law: CrossedExperiment) -> tuple[float, float]:
    """Return the standard deviation of a target score and of a non-target score."""
    common = law.model**2 + law.segment**2 + law.noise**2
    of_non = law.lamb**2 + law.wolf**2 + law.pair**2
    return math.sqrt(common + law.goat**2), math.sqrt(common + of_non)


def true_shares(law: CrossedExperiment) -> np.ndarray:
    """Return the shares at or above each LLR."""
    pmiss, pfa = np.array([law.error_rates(x) for x in LLR]).T
    return np.stack((1.0 - pmiss, pfa))


def true_cross_entropies(law: CrossedExperiment) -> np.ndarray:
    """Integrate the costs of normal LLRs by the rule of Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    costs = []
    for sign, mean, sd in zip((-1, 1), (law.tar_mean, law.non_mean), deviations(law), strict=True):
        llrs = mean + sd * nodes + PLO[:, None]
        costs.append(np.logaddexp(0.0, sign * llrs) @ (weights / weights.sum()))
    prior = special.expit(PLO)
    return (prior * costs[0] + (1.0 - prior) * costs[1]) / math.log(2.0)


def true_map(law: CrossedExperiment) -> np.ndarray:
    """Return the log-likelihood-ratio of each score: that of two normal densities, which rises."""
    logs = [
        -0.5 * ((LLR - mean) / sd) ** 2 - math.log(sd)
        for mean, sd in zip((law.tar_mean, law.non_mean), deviations(law), strict=True)
    ]
    return logs[0] - logs[1]


def true_reliability(law: CrossedExperiment) -> np.ndarray:
    """Return the share of targets in each bin of posteriors."""
    ends = special.logit(np.linspace(0.0, 1.0, BINS + 1)) - special.logit(PRIOR)
    pmiss, pfa = np.array([law.error_rates(x) for x in ends]).T
    tar, non = PRIOR * np.diff(pmiss), (1.0 - PRIOR) * -np.diff(pfa)
    return tar / (tar + non)


def coverage(
    n_sets: int, replications: int, law: CrossedExperiment = LAWS["usual"], seed: int = 5
) -> dict[tuple[str, str], np.ndarray]:
    """Return how often the band holds the truth at each point, by curve and method.

    Of "Tippett, whole" and its likes: how often a simultaneous band holds it at all points.
    """
    rng = np.random.default_rng(seed)
    held: dict[tuple[str, str], list[np.ndarray]] = {}
    curves = {
        "Tippett": (unc.Tippett(LLR), true_shares(law)),
        "ECE": (unc.ECE(PLO), true_cross_entropies(law)),
        "PAV": (unc.PAVMap(LLR), true_map(law)),
        "reliability": (unc.Reliability(PRIOR, BINS), true_reliability(law)),
    }
    statistics = [statistic for statistic, _ in curves.values()]
    for _ in range(n_sets):
        trials = law.draw(rng)
        speakers = {
            "model_speakers": trials.model_speakers,
            "segment_speakers": trials.segment_speakers,
        }
        for method, options in (("speaker", speakers), ("iid", {})):
            found = unc.bootstrap_scores(
                trials.scores, trials.key, statistics,
                method=method, replications=replications, rng=rng, **options,
            )  # fmt: skip
            for (name, (statistic, truth)), result in zip(curves.items(), found, strict=True):
                for kind in ("pointwise", "simultaneous"):
                    band = statistic.band(result, kind=kind)
                    inside = (band.low <= truth) & (truth <= band.high)
                    whole = kind == "simultaneous"
                    case = f"{name}, whole" if whole else name, method
                    held.setdefault(case, []).append(
                        np.atleast_1d(inside.all() if whole else inside)
                    )
    return {case: np.mean(inside, axis=0) for case, inside in held.items()}


def main() -> None:
    """Run the study and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=300, help="simulated data sets")
    parser.add_argument("--replications", type=int, default=500, help="replicates of each")
    parser.add_argument("--law", choices=LAWS, default="usual", help="how speakers differ")
    options = parser.parse_args()
    warnings.simplefilter("ignore", BosarisWarning)
    print("| band | resampled | at the points (%) | mean |\n|---|---|---|---:|")
    found = coverage(options.sets, options.replications, LAWS[options.law])
    for (name, method), shares in found.items():
        points = " ".join(f"{100 * share:.0f}" for share in shares.ravel())
        print(f"| {name} | {method} | {points} | {100 * shares.mean():.1f} |")


if __name__ == "__main__":
    main()
