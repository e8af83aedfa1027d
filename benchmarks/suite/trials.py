"""Score matrices and their files: against the sort of the scores, plain h5py and numpy.loadtxt."""

import tempfile
from pathlib import Path

import h5py
import numpy as np

import bosaris_py as bp
from suite import _operation


class _Matrices(_operation.Operation):
    """An operation on a matrix of scores, of which one in a hundred is a target's."""

    plain_name = "sort of its scores"

    def setup(self, n_scores):
        shape = n_models, n_segments = _operation.SHAPES[n_scores]
        rng = np.random.default_rng(0)
        models = [f"speaker-{i:05d}" for i in range(n_models)]
        segments = [f"segment-{j:07d}" for j in range(n_segments)]
        tar = rng.random(shape) < 0.01
        self.scores = bp.Scores(rng.normal(size=shape) + 3.0 * tar, models, segments)
        self.key = bp.Key(models, segments, tar, ~tar)

    def plain(self):
        return np.sort(self.scores.scoremat, axis=None)


class ResultsFromScores(_Matrices):
    """Results of a matrix and a key, with EER, Cllr and minCllr."""

    def call(self):
        return repr(bp.Results.from_scores(self.scores, self.key))


class ResultsOfShuffled(_Matrices):
    """The same with models in another order than in the key."""

    def setup(self, n_scores):
        super().setup(n_scores)
        scores = self.scores
        self.scores = bp.Scores(scores.scoremat[::-1], scores.modelset[::-1], scores.segset)

    def call(self):
        return repr(bp.Results.from_scores(self.scores, self.key))


class TarNon(_Matrices):
    """Target and non-target scores of a matrix."""

    plain_name = "copy of its scores"

    def call(self):
        return self.scores.get_tar_non(self.key)

    def plain(self):
        return self.scores.scoremat.copy()


class Align(_Matrices):
    """Aligning a matrix with all ids in another order."""

    plain_name = "copy of its scores"

    def setup(self, n_scores):
        super().setup(n_scores)
        rng = np.random.default_rng(1)
        self.ndx = bp.Ndx(
            rng.permutation(self.scores.modelset), rng.permutation(self.scores.segset)
        )

    def call(self):
        return self.scores.align_with_ndx(self.ndx)

    def plain(self):
        return self.scores.scoremat.copy()


class _Files(_Matrices):
    """An operation on a file of scores."""

    extension = ".h5"

    def setup(self, n_scores):
        super().setup(n_scores)
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, f"scores{self.extension}")
        self.scores.save(self.path)

    def teardown(self, *_):
        self.folder.cleanup()


class ReadHdf5(_Files):
    """Reading HDF5, against reading its data sets with h5py."""

    plain_name = "h5py"

    def call(self):
        return bp.Scores.read(self.path)

    def plain(self):
        with h5py.File(self.path) as file:
            names = ("scores", "score_mask", "ID/row_ids", "ID/column_ids")
            return [file[name][()] for name in names]


class SaveHdf5(ReadHdf5):
    """Writing HDF5, against reading its data sets with h5py."""

    plain_name = "h5py's reading"

    def call(self):
        return self.scores.save(self.path)


class ReadText(_Files):
    """Reading a list of scores, against numpy.loadtxt with a structured type."""

    params = ((10**4, 10**5, 10**6),)
    extension = ".txt"
    plain_name = "numpy.loadtxt"

    def call(self):
        return bp.Scores.read(self.path)

    def plain(self):
        kind = [("model", "U16"), ("segment", "U16"), ("score", "f8")]
        return np.loadtxt(self.path, dtype=kind)


class SaveText(ReadText):
    """Writing a list of scores, against reading it with numpy.loadtxt."""

    plain_name = "numpy.loadtxt"

    def call(self):
        return self.scores.save(self.path)
