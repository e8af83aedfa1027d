"""Rank-based metrics on 10^5 target and 10^7 non-target scores, against one plain sort."""

import numpy as np
from timing import gaussian_scores, peak_bytes, report, seconds

import bosaris_py
from bosaris_py import ROC, Results

PRIORS = np.linspace(0.001, 0.999, 1000)


def hull_eer_min_dcf(tar: np.ndarray, non: np.ndarray) -> object:
    """Do what the acceptance asks for: ROC, hull, EER, minDCF at 1000 priors."""
    hull = ROC.from_scores(tar, non).convex_hull()
    return hull.eer, hull.min_dcf(PRIORS)


def everything(tar: np.ndarray, non: np.ndarray) -> object:
    """Compute all metrics of Results, costs at 1000 priors included."""
    results = Results(tar, non)
    return results.to_dict(), results.act_dcf(PRIORS), results.min_dcf(PRIORS)


def main() -> None:
    """Print the ratios."""
    tar, non = gaussian_scores(10**5, 10**7)
    for dtype in (np.float64, np.float32):
        t, n = tar.astype(dtype), non.astype(dtype)
        kind = np.dtype(dtype).name
        sort = seconds(lambda n=n: np.sort(n))
        print(f"np.sort of 10^7 {kind}: {sort:.3f} s")
        for name, function in (
            ("ROC + hull + EER + minDCF at 1000 priors", hull_eer_min_dcf),
            ("min_cllr", bosaris_py.min_cllr),
            ("cllr", bosaris_py.cllr),
            ("act_dcf at one prior", lambda t, n: bosaris_py.act_dcf(t, n, 0.01)),
            ("Results: all metrics, both DCFs at 1000 priors", everything),
        ):
            elapsed = seconds(lambda f=function, t=t, n=n: f(t, n))
            memory = peak_bytes(lambda f=function, t=t, n=n: f(t, n)) / (t.nbytes + n.nbytes)
            remark = f"peak memory {memory:.2f} x input"
            report(f"{name}, {kind}", elapsed / sort, "np.sort(non)", remark)
    even_tar, even_non = gaussian_scores(5 * 10**6, 5 * 10**6)
    sort = seconds(lambda: (np.sort(even_tar), np.sort(even_non)))
    elapsed = seconds(lambda: hull_eer_min_dcf(even_tar, even_non), repeats=3)
    report("the same with 5 * 10^6 of each class", elapsed / sort, "both np.sort")
    few_tar, few_non = gaussian_scores(1000, 1000)
    elapsed = seconds(lambda: hull_eer_min_dcf(few_tar, few_non), repeats=50)
    report("the same with 1000 of each class", 1e3 * elapsed, "1 ms")


if __name__ == "__main__":
    main()
