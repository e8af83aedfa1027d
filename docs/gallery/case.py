"""The LLR of one case.

The LLRs of the reference set, and that of the case with its interval and the bounds. See calibrate.
"""

import bosaris_py as bp
from bosaris_py import plots

folder = "examples/japanese_vowels/"
scores = bp.Scores.read(folder + "eval_scores_gaussian.h5")
key = bp.Key.read(folder + "eval_key.h5")
speakers = tuple(bp.IdMap.read(f"{folder}{side}_speakers.h5") for side in ("model", "segment"))
case = bp.case_llr(
    1.5,
    scores,
    key,
    propositions=("the suspect speaks", "another man speaks"),
    reference="9 men, Japanese vowels",
    speakers=speakers,
    replications=200,
    rng=1,
)
reference = bp.Results.from_scores(case.calibration.apply(scores), key)
axes = plots.plot_histogram(reference, title=f"log10 LR of the case: {case.log10_lr:.2f}")
text = f"case, {case.confidence:.0%} interval"
axes.axvspan(case.low, case.high, color="C2", alpha=0.3, lw=0)
axes.axvline(case.llr, color="C2", label=text)
for bound in (case.bounds.low, case.bounds.high):
    axes.axvline(bound, color="C3", ls=":", label="bounds" if bound > 0 else None)
axes.set_xlabel("LLR")
axes.legend(loc="upper left")
figure = axes.figure
