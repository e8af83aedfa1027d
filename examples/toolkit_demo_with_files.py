"""The toolkit's demo_with_files: dev and eval scores of two systems, fused from file to file.

As toolkit_demo_main.py, but with scores of 100 models in the toolkit's ``.mat`` files, as another
program may have written them. Written with the toolkit's own names.

Run with ``python examples/toolkit_demo_with_files.py --output FOLDER``.
"""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import argparse
import tempfile
from pathlib import Path

import numpy as np

import bosaris_py.matlab as b

N_MODELS = 100
N_DEV = (10_000, 10_000)
N_EVAL = (5_000, 15_000)
# Mean and standard deviation of targets; those of non-targets are 0 and 1.
SYSTEMS = ((5.0, 2.0), (3.0, 1.0))


def demo_make_score_files(
    rng: np.random.Generator, folder: Path, part: str, n_tar: int, n_non: int
) -> None:
    """Write the key, the index, and the scores of each system of one part."""
    n_segments = (n_tar + n_non) // N_MODELS
    models = [f"enrol{i}" for i in range(1, N_MODELS + 1)]
    segments = [f"test{j}" for j in range(1, n_segments + 1)]

    def as_matrix(vector: np.ndarray) -> np.ndarray:
        # MATLAB's reshape: column by column.
        return vector.reshape((N_MODELS, n_segments), order="F")

    is_target = as_matrix(np.arange(n_tar + n_non) < n_tar)
    key = b.Key(models, segments, is_target, ~is_target)
    key.save(folder / f"{part}_key.mat")
    key.to_ndx().save(folder / f"{part}_ndx.mat")
    for number, of_targets in enumerate(SYSTEMS, start=1):
        scores = np.concatenate((rng.normal(*of_targets, n_tar), rng.standard_normal(n_non)))
        scr = b.Scores(as_matrix(scores), models, segments)
        scr.save(folder / f"{part}_scores{number}.mat")


def demo_plots(folder: Path, output: Path, prior: float) -> None:
    """Draw the Bayes error-rates of the fusion, and the DET curves of all on eval."""
    b.dcfplot(
        folder / "dev_key.mat",
        folder / "eval_key.mat",
        folder / "dev_fused.mat",
        folder / "eval_fused.mat",
        output / "files_dcf.png",
        "Fusion, dev and eval",
        *(-6, 4, 0, 0.4),
        prior,
    )
    key = b.Key.read(folder / "eval_key.mat")
    plot = b.Det_Plot("old", "Two systems and their fusion, from files")
    for name, file, colour in (
        ("system 1", "eval_scores1", "b"),
        ("system 2", "eval_scores2", "r"),
        ("fusion", "eval_fused", "g"),
    ):
        plot.set_system_from_scores(b.Scores.read(folder / f"{file}.mat"), key, name)
        plot.plot_steppy_det([colour, "LineWidth", 1.5], "steps")
        plot.plot_mindcf_point(prior, f"{colour}*", "minimum DCF")
    plot.plot_DR30_both("k-.", "k:")
    plot.display_legend()
    plot.save_as_pdf(output / "files_det.png")
    b.detplot(
        folder / "eval_fused.mat",
        folder / "eval_key.mat",
        output / "files_det_fusion.png",
        prior,
        "Fusion, in the window of NIST's evaluation of 2010",
        "steps",
    )


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2011)
    prior = b.effective_prior(0.04, 10, 1)

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for part, counts in (("dev", N_DEV), ("eval", N_EVAL)):
            demo_make_score_files(rng, folder, part, *counts)
        print(f"Fusing from file to file, at an effective prior of {prior:.3f}")
        b.linear_fusion_dev_eval_from_files(
            folder / "dev_key.mat",
            [folder / "dev_scores1.mat", folder / "dev_scores2.mat"],
            folder / "eval_ndx.mat",
            [folder / "eval_scores1.mat", folder / "eval_scores2.mat"],
            folder / "dev_fused.mat",
            folder / "eval_fused.mat",
            prior,
            100,
            b.make_objective_function_from_name("cllr"),
            True,
            True,
        )
        print(f"{'':10s}  act. DCF   min. DCF   PRBEP      EER")
        key = b.Key.read(folder / "eval_key.mat")
        for name, file in (
            ("system 1", "eval_scores1"),
            ("system 2", "eval_scores2"),
            ("fusion", "eval_fused"),
        ):
            tar, non = b.Scores.read(folder / f"{file}.mat").get_tar_non(key)
            actdcf, mindcf, prbep, eer = b.fastEval(tar, non, prior)
            figures = f"{100 * actdcf:7.2f} %  {100 * mindcf:7.2f} %  {prbep:6.1f}"
            print(f"{name:10s} {figures}  {100 * eer:6.3f} %")
        demo_plots(folder, output, prior)
    print(f"Plots are in {output.resolve()}")


if __name__ == "__main__":
    main()
