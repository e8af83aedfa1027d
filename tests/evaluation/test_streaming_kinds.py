"""Trials of three kinds in files: the digits are those of memory."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation.streaming import StreamedSample

FIGURES = ("a_dcf", "act_a_dcf", "sv_eer", "spf_eer", "sasv_eer")
PLAN = bp.EvaluationPlan(name="all", figures=FIGURES, spoof_costs="ASVspoof5")

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


def write(folder, *, form, by="trial", missing=0.0, mixed=False):
    """Trials of 12 models with ties, in files; return scores, key, metadata and the names."""
    rng = np.random.default_rng(3)
    models = [f"m{i:02}" for i in range(12)]
    # Spoofs lie here and there among the segments.
    segments = [f"u{j:03}" for j in range(60)]
    spoofed = rng.random(60) < 0.3
    rows, cols = (side.ravel() for side in np.indices((12, 60)))
    kinds = np.where(spoofed[cols], "spoof", np.where(cols % 12 == rows, "target", "nontarget"))
    if mixed:
        # A recording that is a spoof of one person, and an impostor to the others.
        at = np.flatnonzero(kinds == "nontarget")[0]
        kinds[at] = "spoof"
    scores = np.round(2.0 * rng.normal(size=kinds.size) + 4.0 * (kinds == "target") - 2.0, 1)
    ids = np.array(models)[rows], np.array(segments)[cols]
    key = bp.FlatKey.from_trials(*ids, kinds == "target")
    if by == "trial":
        metadata = bp.TrialMetadata.from_trials(*ids, {"kind": kinds}, key)
    else:
        words = bp.Factor.from_values(np.where(spoofed, "spoof", "bona fide"))
        metadata = bp.TrialMetadata(key, segment_columns={"kind": words})
    has = rng.random(kinds.size) >= missing
    system = bp.FlatScores.from_trials(ids[0][has], ids[1][has], scores[has])
    if form == "dense":
        key, system = key.to_dense(), system.to_dense()
    whole = bp.TrialMetadata.from_trials(*ids, {"kind": kinds}, key)
    metadata = metadata.for_trials(key)
    system.save(folder / "scores.h5")
    key.save(folder / "key.h5")
    return system, (key, whole), metadata, (folder / "scores.h5", folder / "key.h5")


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
@pytest.mark.parametrize("form", ["flat", "dense"])
@pytest.mark.parametrize(
    "case", [{}, {"by": "segment"}, {"missing": 0.2}, {"mixed": True}, {"missing": 0.01}], ids=str
)
def test_files_give_the_digits_of_memory(tmp_path, form, case):
    system, pair, metadata, (scores, key) = write(tmp_path, form=form, **case)
    (expected,) = bp.evaluate({"a": system}, pair, plan=PLAN).records()
    found = bp.evaluate_files({"a": scores}, key, plan=PLAN, metadata=metadata)
    (record,) = found.records()
    for name in ("n_tar", "n_non", *FIGURES):
        assert record[name] == expected[name]
    assert "minDCF" not in str(found)


@pytest.mark.parametrize("block_rows", [1, 5, None])
@pytest.mark.parametrize("workers", [1, 2])
def test_blocks_and_workers_change_nothing(tmp_path, block_rows, workers):
    _, _, metadata, files = write(tmp_path, form="dense")
    whole = StreamedSample.of_kinds(*files, metadata, block_rows=block_rows, workers=workers)
    again = StreamedSample.of_kinds(*files, metadata)
    for shares in ((0.2, 0.8), (1.0, 0.0), (0.0, 1.0)):
        one, other = whole.with_shares(*shares), again.with_shares(*shares)
        assert (one.hull.eer, one.cllr) == (other.hull.eer, other.cllr)
        limits = np.array([-0.55, 0.1])
        np.testing.assert_array_equal(one.error_rates(limits), other.error_rates(limits))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"plan": "VoxSRC"}, "`plan` must be of one score, three classes and one data set"),
        ({"plan": "WildSpoof"}, "`plan` must be of one score, three classes and one data set"),
        ({"conditions": "kind"}, "`conditions` must be left out with the plan"),
        ({"metadata": None}, "`metadata` must be given, for the kinds of trials"),
    ],
)
def test_bad_options(tmp_path, given, message):
    _, _, metadata, (scores, key) = write(tmp_path, form="flat")
    options = {"plan": PLAN, "metadata": metadata, **given}
    with pytest.raises(InvalidInputError, match=message):
        bp.evaluate_files({"a": scores}, key, **options)


def test_bad_kinds(tmp_path):
    _, (key, _), metadata, files = write(tmp_path, form="flat")
    with pytest.raises(InvalidInputError, match="`metadata` must have the column 'kind'; got no"):
        StreamedSample.of_kinds(*files, bp.TrialMetadata(key))
    kinds = metadata.factor("kind").values()
    none = bp.TrialMetadata(key, {"kind": np.where(kinds == "spoof", "nontarget", kinds)})
    with pytest.raises(InvalidInputError, match="`key_file` must have spoofs with scores"):
        StreamedSample.of_kinds(*files, none)
    all_of_them = bp.TrialMetadata(key, {"kind": np.full(kinds.size, "spoof")})
    with pytest.raises(InvalidInputError, match="have zero-effort impostors with scores"):
        StreamedSample.of_kinds(*files, all_of_them)
    clash = np.where(kinds == "target", "spoof", kinds)
    clash[np.flatnonzero(kinds == "target")[0]] = "target"
    with pytest.raises(InvalidInputError, match="`metadata` must describe as spoofs only non-tar"):
        StreamedSample.of_kinds(*files, bp.TrialMetadata(key, {"kind": clash}))


def test_scores_that_are_no_llrs_are_told_of(tmp_path):
    system, _, metadata, (_, key) = write(tmp_path, form="flat")
    (system.transform(lambda x: x * 40)).save(tmp_path / "far.h5")
    with pytest.warns(bp.errors.SuspectScoresWarning):
        bp.evaluate_files({"a": tmp_path / "far.h5"}, key, plan=PLAN, metadata=metadata)
