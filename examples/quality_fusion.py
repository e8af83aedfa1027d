"""Segment qualities to fusion: section 12 of the toolkit's manual, on real speech.

Two systems scored the utterances of nine speakers (``examples/japanese_vowels``). A short utterance
tells less about its speaker than a long one, and what its score means depends on that. Here the
number of frames of an utterance is its quality measure: for the test segments their own, for the
models that of their enrolment. Both sides together make quality measures of trials, and the fusion
learns from dev what to add to each score.

Written with the toolkit's own names. The native ones are shorter::

    fusion = QualityFusion.fit_scores(systems, [quality], key, prior=0.1)
    fused = fusion.apply(systems, [quality], ndx)

Run with ``python examples/quality_fusion.py --output FOLDER``.
"""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import argparse
import logging
from pathlib import Path

import numpy as np

import bosaris_py.matlab as b

DATA = Path(__file__).parent / "japanese_vowels"
SYSTEMS = ("gaussian", "cosine")
PRIOR = 0.1


def quality_of(part: str) -> b.Quality:
    """Return the quality measure of the trials of dev or eval: log numbers of frames."""
    models = b.Seg_Quality.read(DATA / "model_frames.h5")
    segments = b.Seg_Quality.read(DATA / f"{part}_frames.h5")
    # Twice as many frames shall mean the same, whether there are few or many.
    logs = [b.Seg_Quality(frames.ids, np.log(frames.values)) for frames in (models, segments)]
    return b.seg_qual_to_qual(*logs)


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)

    key_dev, key_eval = (b.Key.read(DATA / f"{part}_key.h5") for part in ("dev", "eval"))
    ndx_eval = b.Ndx.read(DATA / "eval_ndx.h5")
    dev, evaluation = (
        b.load_score_files([DATA / f"{part}_scores_{name}.h5" for name in SYSTEMS])
        for part in ("dev", "eval")
    )
    quality_dev, quality_eval = quality_of("dev"), quality_of("eval")
    print(f"dev: {quality_dev!r}")
    print(f"eval: {quality_eval!r}")

    # One measure, taken as it is.
    qtrans = np.eye(1)
    dev_lin, eval_lin, dev_qual, eval_qual = b.linear_and_quality_fusion_dev_eval(
        key_dev, dev, [quality_dev], qtrans,
        ndx_eval, evaluation, [quality_eval],
        PRIOR, 100, b.make_objective_function_from_name("cllr"), True, True,
    )  # fmt: skip

    # The toolkit prints its analysis; here it is logged.
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    b.analyse_dev_lin_and_qual_fusion(key_dev, dev, dev_lin, dev_qual, PRIOR)
    b.analyse_eval_lin_and_qual_fusion(
        key_dev, ndx_eval, dev, evaluation, dev_lin, eval_lin, dev_qual, eval_qual
    )

    print(f"\n{'eval':16s}    EER   Cllr  min. Cllr  act. DCF  min. DCF at {PRIOR}")
    plot = b.Det_Plot("old", "Japanese Vowels, eval set")
    for name, scr, style in (("linear fusion", eval_lin, "b"), ("quality fusion", eval_qual, "r")):
        results = b.Results(scr, key_eval)
        print(
            f"{name:16s}{100 * results.get_eer():6.2f} %{results.cllr:7.4f}{results.min_cllr:11.4f}"
            f"{results.get_norm_act_dcf(PRIOR):10.4f}{results.get_norm_min_dcf(PRIOR):10.4f}"
        )
        plot.set_system_from_scores(scr, key_eval, name)
        plot.plot_steppy_det([style, "LineWidth", 1.5], "steps")
        plot.plot_mindcf_point(PRIOR, f"{style}*", "minimum DCF")
        scr.save(output / f"{name.replace(' ', '_')}.h5")
    plot.display_legend()
    plot.save_as_pdf(output / "quality_fusion.png")
    print(f"Scores and plot are in {output.resolve()}")


if __name__ == "__main__":
    main()
