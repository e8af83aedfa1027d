"""Scores and keys, dense and flat, against plain dicts under any sequence of operations."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bosaris_py import Key, Ndx, Scores
from bosaris_py.errors import TrialMismatchError
from tests.forms import as_list, as_matrix
from tests.strategies import id_lists, names

trial_ids = st.tuples(names(), names())
# Sums and products of these by whole numbers are exact in float64.
values = st.sampled_from([0.0, -1.5, 2.0, 1e-300, 7.25, np.inf, -np.inf])
scored = st.dictionaries(trial_ids, st.tuples(values, st.booleans()), min_size=1, max_size=8)
LAYOUTS = {"dense": ("h5", "mat", "txt"), "flat": ("h5", "txt")}
Trials = dict[tuple[str, str], tuple[float, bool]]


class TrialMachine(RuleBasedStateMachine):
    """One set of scored trials, held as both layouts and as a dict of (score, is target)."""

    @initialize(trials=scored)
    def start(self, trials: Trials) -> None:
        self.trials = trials
        self.held = {name: self.made(name, trials) for name in LAYOUTS}

    def made(self, layout: str, trials: Trials) -> tuple[object, object]:
        models, segments = map(list, zip(*trials, strict=True))
        scores, labels = map(list, zip(*trials.values(), strict=True))
        pair = (
            Scores.from_trials(models, segments, scores),
            Key.from_trials(models, segments, labels),
        )
        return tuple(map(as_matrix, pair)) if layout == "dense" else pair

    def change(self, change) -> None:
        """Replace scores and key of both layouts."""
        self.held = {name: change(name, *pair) for name, pair in self.held.items()}

    @rule(more=scored)
    def merge(self, more: Trials) -> None:
        overlap = more.keys() & self.trials.keys()
        if overlap:
            for name, (scores, _) in self.held.items():
                with pytest.raises(TrialMismatchError, match="two scores"):
                    scores.merge(self.made(name, more)[0])
        more = {trial: value for trial, value in more.items() if trial not in overlap}
        if more:
            other = {name: self.made(name, more) for name in LAYOUTS}
            self.change(lambda name, s, k: (s.merge(other[name][0]), k.merge(other[name][1])))
            self.trials = {**self.trials, **more}

    @rule(models=id_lists(), segments=id_lists(), keep=st.booleans())
    def filter(self, models: list[str], segments: list[str], *, keep: bool) -> None:
        left = {
            t: v for t, v in self.trials.items() if (t[0] in models) == (t[1] in segments) == keep
        }
        if left:
            self.change(lambda _, *pair: tuple(x.filter(models, segments, keep) for x in pair))
            self.trials = left

    @rule(factor=st.sampled_from([-1.0, 2.0]))
    def transform(self, factor: float) -> None:
        self.change(lambda _, s, k: (s.transform(lambda x: factor * x), k))
        self.trials = {trial: (factor * s, label) for trial, (s, label) in self.trials.items()}

    @rule(data=st.data())
    def save_and_read(self, data: st.DataObject) -> None:
        def read_back(name: str, *pair: object) -> tuple[object, ...]:
            ending = data.draw(st.sampled_from(LAYOUTS[name]))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"x.{ending}"
                again = []
                for item in pair:
                    item.save(path)
                    again.append(type(item).read(path))
            return tuple(again)

        self.change(read_back)

    @rule()
    def swap_layouts(self) -> None:
        dense, flat = self.held["dense"], self.held["flat"]
        self.held = {
            "dense": tuple(as_matrix(item) for item in flat),
            "flat": tuple(as_list(item) for item in dense),
        }

    @rule(wanted=st.sets(trial_ids, min_size=1, max_size=6), data=st.data())
    def align(self, wanted: set[tuple[str, str]], data: st.DataObject) -> None:
        """Missing trials get a score and become non-targets, those that are not wanted go."""
        wanted |= set(data.draw(st.lists(st.sampled_from(sorted(self.trials)), min_size=1)))
        models, segments = map(list, zip(*sorted(wanted), strict=True))
        listed = Ndx.from_trials(models, segments)
        ndx = {"dense": as_matrix(listed), "flat": listed}
        filled = {trial: self.trials.get(trial, (3.0, False)) for trial in wanted}
        labels = {name: self.made(name, filled)[1] for name in LAYOUTS}
        if wanted <= self.trials.keys():
            self.change(lambda name, s, _: (s.align_with_ndx(ndx[name]), labels[name]))
        else:
            self.change(lambda name, s, _: (s.set_missing_to_value(ndx[name], 3.0), labels[name]))
        self.trials = filled

    @invariant()
    def layouts_equal_the_dict(self) -> None:
        scores_expected = {trial: score for trial, (score, _) in self.trials.items()}
        labels_expected = {trial: label for trial, (_, label) in self.trials.items()}
        for scores, key in self.held.values():
            assert by_trial(scores, "score") == scores_expected
            assert by_trial(key, "target") == labels_expected
            tar, non = scores.get_tar_non(key)
            assert sorted(tar) == sorted(s for s, label in self.trials.values() if label)
            assert sorted(non) == sorted(s for s, label in self.trials.values() if not label)


def by_trial(item: Scores | Key, column: str) -> dict[tuple[str, str], object]:
    records = item.records()
    found = {(record["model"], record["segment"]): record[column] for record in records}
    assert len(found) == len(records)
    return found


TestTrials = TrialMachine.TestCase
TestTrials.settings = settings(stateful_step_count=12)
# Some made lists lack trials, and some hold a pair in both orders.
TestTrials.pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.DuplicateTrialWarning"),
]
