"""Bootstraps, against plain numpy loops that pick scores and compute the metric anew."""

import numpy as np

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from suite import _operation

REPLICATIONS = 2000
PRIOR = 0.1
THRESHOLD = 1.5
POINT = bp.OperatingPoint(0.01, 10, 1)
# Sets and sizes of Wu et al. 2016.
TAR_SETS, NON_SETS = (132, 96), (130, 244)


def _rates(tar, non):
    tar, non = np.sort(tar), np.sort(non)
    return np.arange(tar.size) / tar.size, 1.0 - np.searchsorted(non, tar) / non.size


class _Bootstrap(_operation.Operation):
    """The i.i.d. bootstrap with 2000 replicates of a metric that an heir names."""

    plain_name = "numpy loop"
    plain_share = float(REPLICATIONS)
    judged: object

    def setup(self, n_scores):
        super().setup(n_scores)
        self.rng = np.random.default_rng(1)

    def call(self):
        return unc.bootstrap(self.tar, self.non, self.judged, replications=REPLICATIONS, rng=2)

    def plain(self):
        picked = (x[self.rng.integers(0, x.size, x.size)] for x in (self.tar, self.non))
        return self.metric(*picked)

    def metric(self, tar, non):
        raise NotImplementedError


class BootstrapDcf(_Bootstrap):
    """Bootstrap of the DCF at a threshold."""

    judged = unc.DCF(THRESHOLD, POINT, normalize=False)

    def metric(self, tar, non):
        return 0.1 * np.mean(tar < THRESHOLD) + 0.99 * np.mean(non >= THRESHOLD)


class BootstrapMinDcf(_Bootstrap):
    """Bootstrap of minDCF."""

    judged = unc.MinDCF(PRIOR, normalize=False)

    def metric(self, tar, non):
        pmiss, pfa = _rates(tar, non)
        return min((PRIOR * pmiss + (1 - PRIOR) * pfa).min(), PRIOR)


class BootstrapEer(_Bootstrap):
    """Bootstrap of the EER; the loop takes the steppy one, which is less work."""

    judged = unc.EER()

    def metric(self, tar, non):
        pmiss, pfa = _rates(tar, non)
        return pmiss[np.argmin(np.abs(pmiss - pfa))]


class BootstrapPrimaryCost(_operation.Operation):
    """Bootstrap of the mean minimum cost of two points, of four weighted conditions."""

    params = ((10**4, 10**5), ("speaker", "iid"))
    param_names = ("scores", "method")
    plain_name = "a minDCF for each point"
    points = bp.OperatingPoint(0.01), bp.OperatingPoint(0.005)

    def setup(self, n_scores, method):
        n_models, n_segments = _operation.SHAPES[n_scores]
        rng = np.random.default_rng(0)
        models, segments = (np.char.mod("%d", np.arange(n)) for n in (n_models, n_segments))
        speakers = models.astype(int) % 50, segments.astype(int) % 50
        same = speakers[0][:, None] == speakers[1]
        self.key = bp.Key(models, segments, same, ~same)
        self.scores = bp.Scores(rng.normal(3.0 * same), models, segments)
        part = rng.integers(0, 4, same.shape)
        self.conditions = bp.Conditions({"ABCD"[i]: part == i for i in range(4)})
        self.options = {"method": method, "replications": 1000, "rng": 2}
        if method == "speaker":
            self.options["speakers"] = tuple(
                dict(zip(*map(np.ndarray.tolist, pair), strict=True))
                for pair in zip((models, segments), speakers, strict=True)
            )

    def call(self, *_):
        cost = unc.MinDCF(self.points)
        return unc.bootstrap_scores(
            self.scores, self.key, cost, conditions=self.conditions, **self.options
        )

    def plain(self, *_):
        return [
            unc.bootstrap_scores(self.scores, self.key, unc.MinDCF(point), **self.options)
            for point in self.points
        ]


class TwoLayerDcf(_operation.Operation):
    """Two-layer bootstrap of the DCF at the size of Wu et al. 2016."""

    params = ((TAR_SETS[0] * TAR_SETS[1] + NON_SETS[0] * NON_SETS[1],),)
    plain_name = "numpy loop"
    plain_share = float(REPLICATIONS)

    def setup(self, _):
        self.rng = rng = np.random.default_rng(0)
        self.tar = rng.normal(3.0, 1.0, TAR_SETS) + 0.5 * rng.normal(size=(TAR_SETS[0], 1))
        self.non = rng.normal(0.0, 1.0, NON_SETS) + 0.5 * rng.normal(size=(NON_SETS[0], 1))
        self.sets = {
            "tar_sets": np.repeat(np.arange(TAR_SETS[0]), TAR_SETS[1]),
            "non_sets": np.repeat(np.arange(NON_SETS[0]), NON_SETS[1]),
        }

    def call(self):
        return unc.bootstrap(
            self.tar.ravel(),
            self.non.ravel(),
            unc.DCF(THRESHOLD, POINT, normalize=False),
            method="two-layer",
            replications=REPLICATIONS,
            rng=2,
            **self.sets,
        )

    def _picked(self, scores):
        n_sets, size = scores.shape
        rows = self.rng.integers(0, n_sets, n_sets)
        return scores[rows[:, None], self.rng.integers(0, size, scores.shape)]

    def plain(self):
        tar, non = self._picked(self.tar), self._picked(self.non)
        return 0.1 * np.mean(tar < THRESHOLD) + 0.99 * np.mean(non >= THRESHOLD)


class StandardErrorDistribution(TwoLayerDcf):
    """The two-layer bootstrap of the DCF 500 times over."""

    plain_share = 500.0 * REPLICATIONS

    def call(self):
        return unc.standard_error_distribution(
            self.tar.ravel(),
            self.non.ravel(),
            unc.DCF(THRESHOLD, POINT, normalize=False),
            method="two-layer",
            rng=2,
            **self.sets,
        )


class DeLong(_operation.Operation):
    """Areas under the ROC of two systems, with their covariance."""

    plain_name = "numpy.sort(non) of one"

    def setup(self, n_scores):
        self.tar, self.non = _operation.gaussian_scores(n_scores, 2)

    def call(self):
        return unc.delong(self.tar, self.non)

    def plain(self):
        return np.sort(self.non[0])
