"""What is asked of one system is extracted and sorted once."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.trials import scores as trial_scores

N_SPEAKERS, N_MODELS, N_SEGMENTS = 12, 2, 4
# Of each class; no other array of this evaluation has as many items.
SIZES = {96: "targets", 1056: "non-targets", 1152: "both classes"}


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_an_evaluation_with_all_that_is_asked_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rng: np.random.Generator
) -> None:
    models, segments = (np.repeat(np.arange(N_SPEAKERS), n) for n in (N_MODELS, N_SEGMENTS))
    same = models[:, np.newaxis] == segments
    ids = [f"m{i}" for i in range(models.size)], [f"s{i}" for i in range(segments.size)]
    systems = {
        name: bp.Scores(4.0 * same - 2.0 + rng.normal(size=same.shape), *ids) for name in "ab"
    }
    key = bp.Key(*ids, same, ~same)
    speakers = tuple(
        bp.IdMap(names, [f"p{i}" for i in of])
        for names, of in zip(ids, (models, segments), strict=True)
    )
    done: Counter[str] = Counter()

    def count(owner: Any, name: str, *, of_sizes: bool = False) -> None:
        function = getattr(owner, name)

        def counted(first: Any, *args: Any, **options: Any) -> Any:
            if not of_sizes:
                done[name] += 1
            elif np.size(first) in SIZES and np.asarray(first).dtype.kind == "f":
                done[f"sorts of {SIZES[np.size(first)]}"] += 1
            return function(first, *args, **options)

        monkeypatch.setattr(owner, name, counted)

    for name in ("sort", "argsort", "unique", "lexsort", "partition", "argpartition", "histogram"):
        count(np, name, of_sizes=True)
    count(trial_scores, "class_scores")
    once = {"class_scores": 2, "sorts of targets": 2, "sorts of non-targets": 2}
    evaluation = bp.evaluate(systems, key, prior=0.05, speakers=speakers)
    figures = {"eer", "min_dcf(0.05)", "act_dcf(0.05)", "min_cllr", "cllr"}
    assert figures <= evaluation.records()[0].keys()
    assert done == once
    assert evaluation.records()[0]["min_cllr_low"] > 0.0
    evaluation.report(tmp_path / "report.html")
    # Scores of both classes are merged for the curves of llrs, each system's once.
    assert done == once | {"sorts of both classes": 2}
