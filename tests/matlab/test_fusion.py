"""The toolkit's linear fusion and its analysis, against its recorded runs, and on files."""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import logging
from pathlib import Path

import numpy as np
import pytest

import bosaris_py.matlab as b
from bosaris_py.errors import InvalidInputError, TrialMismatchError

FOLDER = Path(__file__).parents[1] / "reference" / "oracle"

with np.load(FOLDER / "fusion_linear.npz") as _file:
    LINEAR = {name: _file[name] for name in _file.files}
RUNS = sorted(name.removesuffix("_w") for name in LINEAR if name.endswith("_w"))


# With three systems, some runs of brier end where hard decisions are best.
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConvergenceWarning")
@pytest.mark.parametrize("run", RUNS)
def test_train_linear_fuser(run: str) -> None:
    """No worse than the toolkit, and weights to 1e-6 of the exact ones."""
    n_systems, objective, prior, cstep, zeros = run.split("_")
    labels = LINEAR[f"{n_systems}_classf{'_zeros' if zeros == 'zeros1' else ''}"]
    f, nxe, w = b.train_linear_fuser(
        LINEAR[f"{n_systems}_train"],
        labels,
        float(prior.removeprefix("p")) / 1000,
        cstep == "cstep1",
        True,
        100,
        b.make_objective_function_from_name(objective),
    )
    test = LINEAR[f"{n_systems}_test"]
    np.testing.assert_allclose(f(test), b.linear_fuser(w, test), rtol=1e-9, atol=1e-9)
    # The toolkit's fused scores follow from its weights.
    if f"{run}_fusedtest" in LINEAR:
        fused = b.linear_fuser(LINEAR[f"{run}_w"], test)
        np.testing.assert_allclose(fused, LINEAR[f"{run}_fusedtest"], rtol=1e-12, atol=1e-12)
    assert nxe <= LINEAR[f"{run}_nxe"] + 2e-8
    if f"{run}_w_exact" in LINEAR:
        np.testing.assert_allclose(w, LINEAR[f"{run}_w_exact"], rtol=1e-6, atol=1e-6)


def test_recorded_helpers() -> None:
    helpers = np.load(FOLDER / "fusion_helpers.npz")
    scores, labels = helpers["scores"], helpers["classf"][np.newaxis]
    key = b.Key(["m"], [f"s{number:03d}" for number in range(labels.size)], labels > 0, labels < 0)
    for result, name in (
        (b.estimate_target_proportions(scores, 0.08), "prop_008"),
        (b.estimate_target_proportions(scores, 0.5), "prop_05"),
        (b.kldivergence_of_systems(scores, 0.08), "kl_unsup_008"),
        (b.kldivergence_of_systems(scores, 0.08, key), "kl_sup_008"),
        (b.evalAll(scores, key, 0.1), "evalall_p01"),
        (b.make_initial_fusion_weights(3), "initw3"),
        (b.make_classf_from_key(key), "classf"),
    ):
        np.testing.assert_allclose(
            result, helpers[name], rtol=0, atol=1e-12, strict=True, err_msg=name
        )


def test_recorded_fusion_of_dev_and_eval(quality_record, dev, evaluation):
    """Fused scores within 3e-3, the README's bound of the toolkit's early stop."""
    fused = b.linear_fusion_dev_eval(
        *dev, evaluation[0].to_ndx(), evaluation[1], 0.1, 100, [], True, True
    )
    for scores, part in zip(fused, ("dev", "eval"), strict=True):
        mask = quality_record[f"lin_{part}_mask"] > 0
        np.testing.assert_array_equal(scores.scoremask, mask)
        expected = quality_record[f"lin_{part}"][mask]
        np.testing.assert_allclose(scores.scoremat[mask], expected, rtol=0, atol=3e-3)
    flin, wlin = b.train_linear_fusion_function(*dev, 0.1, [], 100, True, True)
    np.testing.assert_allclose(wlin, quality_record["wlin"], rtol=0, atol=1.7e-3)
    assert b.apply_linear_fusion_function(*dev, flin) == fused[0]
    # The toolkit's weights give its fused scores.
    stack = b.stackScores(*dev)
    np.testing.assert_array_equal(stack, quality_record["stack_scores"])
    np.testing.assert_array_equal(b.make_classf_from_key(dev[0]), quality_record["classf"])
    exact = b.assemble_scr(b.linear_fuser(quality_record["wlin"], stack), dev[0])
    mask = quality_record["lin_dev_mask"] > 0
    expected = quality_record["lin_dev"][mask]
    np.testing.assert_allclose(exact.scoremat[mask], expected, rtol=0, atol=1e-12)


def test_from_files(dev, evaluation, tmp_path, caplog):
    ndx = evaluation[0].to_ndx()
    items = (dev[0], ndx, *dev[1], *evaluation[1])
    paths = [tmp_path / f"{number}.h5" for number in range(8)]
    for item, path in zip(items, paths, strict=False):
        item.save(path)
    key, index, *scores = paths[:6]
    out = paths[6:]
    b.linear_fusion_scores_from_files(key, scores[:2], out[0], 0.1, 100, [], True, True)
    assert b.Scores.read(out[0]) == b.linear_fusion_scores(*dev, 0.1, 100, [], True, True)
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        b.linear_fusion_dev_eval_from_files(
            key, scores[:2], index, scores[2:], *out, 0.1, 100, [], True, True
        )
    both = b.linear_fusion_dev_eval(*dev, ndx, evaluation[1], 0.1, 100, [], True, True)
    assert tuple(b.Scores.read(path) for path in out) == both
    assert f"loading {scores[0]}, {scores[1]}" in caplog.messages


def test_refused(dev: tuple[b.Key, list[b.Scores]]) -> None:
    key, systems = dev
    lacking = b.Scores(systems[0].scoremat, key.modelset, key.segset, systems[0].scoremat > 0)
    for call in (
        lambda: b.stackScores(key, [systems[0], lacking]),
        lambda: b.linear_fusion_dev_eval(key, systems, key, systems, 0.1, 9, [], True, True),
        # Arguments in the order of another function.
        lambda: b.linear_fusion_scores(key, systems, 100, 0.1, [], True, True),
        lambda: b.make_initial_fusion_weights(0),
    ):
        with pytest.raises((InvalidInputError, TrialMismatchError)):
            call()
