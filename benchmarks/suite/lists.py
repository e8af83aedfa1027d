"""Lists of trials, of which few models and segments meet: against the sort of the scores."""

import tempfile
from pathlib import Path

import h5py
import numpy as np

import bosaris_py as bp
from suite import _operation


class _Lists(_operation.Operation):
    """An operation on trials scattered over as many models and segments as need be."""

    plain_name = "sort of its scores"

    def setup(self, n_scores):
        n_ids = self.n_ids = max(100, n_scores // 100)
        lines = np.arange(n_scores)
        # Steps without common factors: each trial once.
        models, segments = lines * 7 % n_ids, (lines // n_ids * 79 + lines * 31) % n_ids
        rng = np.random.default_rng(0)
        is_target = rng.random(n_scores) < 0.01
        names = [f"speaker-{i:06d}" for i in range(n_ids)], [f"utt-{j:08d}" for j in range(n_ids)]
        values = rng.normal(size=n_scores) + 3.0 * is_target
        self.trials = np.array(names[0])[models], np.array(names[1])[segments]
        self.scores = bp.Scores.from_trials(*self.trials, values)
        self.key = bp.Key.from_trials(*self.trials, is_target)

    def plain(self):
        return np.sort(self.scores.values)


class ResultsOfList(_Lists):
    """Results of a list and a key with the same trials, with EER, Cllr and minCllr."""

    def call(self):
        return repr(bp.Results.from_scores(self.scores, self.key))


class ResultsOfLongerList(ResultsOfList):
    """The same where a tenth of the scores are of trials that the key does not have."""

    def setup(self, n_scores):
        super().setup(n_scores)
        self.key = self.key.take(np.random.default_rng(1).random(n_scores) < 0.9)


class ResultsOfShuffledList(ResultsOfList):
    """The same with models and segments in another order than in the key."""

    def setup(self, n_scores):
        super().setup(n_scores)
        key, rng = self.key, np.random.default_rng(1)
        rows, cols = (rng.permutation(ids.size) for ids in key.ids)
        models, segments = key.trial_positions()
        places = np.argsort(rows)[models], np.argsort(cols)[segments]
        ids = key.modelset[rows], key.segset[cols]
        self.key = bp.Key._from_positions(ids, *places, key.labels, "labels")


class OrderList(_Lists):
    """Making a list of trials that come in random order."""

    def setup(self, n_scores):
        super().setup(n_scores)
        self.lines = np.random.default_rng(1).permutation(n_scores)

    def call(self):
        models, segments = (ids[self.lines] for ids in self.trials)
        return bp.Scores.from_trials(models, segments, self.lines + 0.0)


class ReadList(_Lists):
    """Reading HDF5, against reading its data sets with h5py."""

    plain_name = "h5py"

    def setup(self, n_scores):
        super().setup(n_scores)
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "scores.h5")
        self.scores.save(self.path)

    def teardown(self, *_):
        self.folder.cleanup()

    def call(self):
        return bp.Scores.read(self.path)

    def plain(self):
        with h5py.File(self.path) as file:
            names = ("trials/scores", "trials/models", "trials/segments", "ID/row_ids")
            return [file[name][()] for name in (*names, "ID/column_ids")]
