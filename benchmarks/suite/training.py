"""Training and applying calibration and fusion."""

import numpy as np

import bosaris_py as bp
from bosaris_py.numerics.objective import TrainingObjective
from suite import _operation


def _gradient_norm(trained, tar, non):
    """Return the length of the objective's gradient at a solution: zero but for rounding."""
    objective = TrainingObjective.from_scores(
        tar, non, prior=trained.prior, objective=trained.objective
    )
    weights = getattr(trained, "weights", None)
    if weights is None:
        weights = [trained.scale]
    gradient = objective.evaluate(np.append(weights, trained.offset)).gradient
    return float(np.linalg.norm(gradient))


class LinearCalibration(_operation.Operation):
    """Training of a linear calibration."""

    params = (_operation.SIZES, ("cllr", "brier", "boost"), (0.5, 0.01))
    param_names = ("scores", "objective", "prior")

    def setup(self, n_scores, objective, prior):
        super().setup(n_scores)
        self.options = {"objective": objective, "prior": prior}

    def call(self):
        return bp.LinearCalibration.fit(self.tar, self.non, **self.options)

    def track_gradient(self, *_):
        return _gradient_norm(self.call(), self.tar, self.non)


class WeightedCalibration(_operation.Operation):
    """Training of a linear calibration with trial weights."""

    def setup(self, n_scores):
        super().setup(n_scores)
        self.weights = np.random.default_rng(1).uniform(0.5, 1.5, self.non.size)

    def call(self):
        return bp.LinearCalibration.fit(self.tar, self.non, non_weights=self.weights)


class SinglePrecisionCalibration(_operation.OfClasses):
    """Training of a linear calibration on scores of either precision."""

    def call(self):
        return bp.LinearCalibration.fit(self.tar, self.non)


class ApplyCalibration(_operation.OfClasses):
    """Applying a linear calibration."""

    def setup(self, n_scores, dtype):
        super().setup(n_scores, dtype)
        self.calibration = bp.LinearCalibration.fit(*_operation.gaussian_scores(10**4))

    def call(self):
        return self.calibration.apply(self.non)


class PavCalibration(_operation.OfClasses):
    """Training of a PAV calibration."""

    def call(self):
        return bp.PAVCalibration.fit(self.tar, self.non)


class LinearFusion(_operation.Operation):
    """Training of a fusion of three systems."""

    params = (_operation.SIZES, (0.5, 0.01))
    param_names = ("scores", "prior")
    plain_name = "numpy.sort(non) of one"

    def setup(self, n_scores, prior):
        self.tar, self.non = _operation.gaussian_scores(n_scores, 3)
        self.prior = prior

    def call(self):
        return bp.LinearFusion.fit(self.tar, self.non, prior=self.prior)

    def track_gradient(self, *_):
        return _gradient_norm(self.call(), self.tar, self.non)

    def plain(self):
        return np.sort(self.non[0])


class ApplyFusion(_operation.Operation):
    """Applying a fusion of three systems."""

    plain_name = "numpy.sort(non) of one"

    def setup(self, n_scores):
        self.tar, self.non = _operation.gaussian_scores(n_scores, 3)
        self.fusion = bp.LinearFusion.fit(*_operation.gaussian_scores(10**4, 3))

    def call(self):
        return self.fusion.apply(self.non)

    def plain(self):
        return np.sort(self.non[0])


class QualityFusion(_operation.Operation):
    """Training of a fusion of two systems with one quality measure of models and segments."""

    plain_name = "sort of one matrix"

    def setup(self, n_scores):
        shape = n_models, n_segments = _operation.SHAPES[n_scores]
        rng = np.random.default_rng(0)
        models = [f"m{i}" for i in range(n_models)]
        segments = [f"s{j}" for j in range(n_segments)]
        tar = rng.random(shape) < 0.01
        self.key = bp.Key(models, segments, tar, ~tar)
        self.systems = [
            bp.Scores(rng.normal(size=shape) + 3.0 * tar, models, segments) for _ in range(2)
        ]
        self.quality = bp.QualityMeasures(
            models, segments, rng.random((1, n_models)), rng.random((1, n_segments))
        )

    def call(self):
        return bp.QualityFusion.fit_scores(self.systems, [self.quality], self.key)

    def plain(self):
        return np.sort(self.systems[0].scoremat, axis=None)
