"""Training and applying calibration and fusion on 10^7 scores, against one plain sort."""

import numpy as np
from timing import gaussian_scores, peak_bytes, report, seconds

from bosaris_py.calibration import LinearCalibration
from bosaris_py.fusion import LinearFusion
from bosaris_py.numerics.objectives import TrainingObjective


def gradient_norm(fitted: LinearCalibration | LinearFusion, *scores: np.ndarray) -> float:
    """Return the length of the objective's gradient at a solution, in its raw coefficients."""
    objective = TrainingObjective.from_scores(
        *scores, prior=fitted.prior, objective=fitted.objective
    )
    weights = fitted.weights if isinstance(fitted, LinearFusion) else [fitted.scale]
    return float(np.linalg.norm(objective.evaluate(np.append(weights, fitted.offset)).gradient))


def calibrate(tar: np.ndarray, non: np.ndarray, sort: float) -> None:
    """Print what calibration costs, for each objective and for single precision."""
    for objective, dtype in (
        ("cllr", np.float64),
        ("boost", np.float64),
        ("brier", np.float64),
        ("cllr", np.float32),
    ):
        t, n = tar.astype(dtype), non.astype(dtype)
        fit = lambda t=t, n=n, o=objective: LinearCalibration.fit(t, n, prior=0.01, objective=o)  # noqa: E731
        elapsed = seconds(fit, repeats=3)
        memory = peak_bytes(fit) / (t.nbytes + n.nbytes)
        remark = f"peak memory {memory:.3f} x input, gradient {gradient_norm(fit(), t, n):.0e}"
        name = f"LinearCalibration.fit, {objective}, {np.dtype(dtype).name}"
        report(name, elapsed / sort, "np.sort(non)", remark)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, non.size)
    elapsed = seconds(lambda: LinearCalibration.fit(tar, non, non_weights=weights), repeats=3)
    report("the same with trial weights", elapsed / sort, "np.sort(non)")
    calibration = LinearCalibration.fit(tar, non)
    elapsed = seconds(lambda: calibration.apply(non), repeats=3)
    report("LinearCalibration.apply", elapsed / sort, "np.sort(non)")


def fuse(sort: float) -> None:
    """Print what fusion of three systems costs."""
    tar, non = gaussian_scores(3 * 10**5, 3 * 10**7)
    tar, non = tar.reshape(3, -1), non.reshape(3, -1)
    fit = lambda: LinearFusion.fit(tar, non, prior=0.01)  # noqa: E731
    elapsed = seconds(fit, repeats=3)
    memory = peak_bytes(fit) / (tar.nbytes + non.nbytes)
    remark = f"peak memory {memory:.3f} x input, gradient {gradient_norm(fit(), tar, non):.0e}"
    report("LinearFusion.fit of 3 systems", elapsed / sort, "np.sort(non[0])", remark)
    fusion = fit()
    elapsed = seconds(lambda: fusion.apply(non), repeats=3)
    report("LinearFusion.apply", elapsed / sort, "np.sort(non[0])")


def main() -> None:
    """Print the ratios."""
    tar, non = gaussian_scores(10**5, 10**7)
    sort = seconds(lambda: np.sort(non))
    print(f"np.sort of 10^7 float64: {sort:.3f} s")
    calibrate(tar, non, sort)
    fuse(sort)
    few_tar, few_non = gaussian_scores(200, 800)
    elapsed = seconds(lambda: LinearCalibration.fit(few_tar, few_non), repeats=20)
    report("LinearCalibration.fit on 200 + 800 scores", 1e3 * elapsed, "1 ms")


if __name__ == "__main__":
    main()
