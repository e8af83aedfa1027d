"""The LLR of one case.

The LLRs of the reference set, and that of the case with its interval and the bounds. See calibrate.
"""

import bosaris_py as bp
from bosaris_py import plots

reference = bp.load_example("forensic").eval
scores = reference.scores["system"]
case = bp.case_llr(
    4.0,
    scores,
    reference,
    propositions=("the suspect speaks", "another man speaks"),
    reference="60 simulated speakers",
    speakers=("reference_speaker", "speaker"),
    replications=200,
    rng=1,
)
results = bp.Results.from_scores(case.calibration.apply(scores), reference.key)
axes = plots.plot_histogram(results, title=f"log10 LR of the case: {case.log10_lr:.2f}")
text = f"case, {case.confidence:.0%} interval"
axes.axvspan(case.low, case.high, color="C2", alpha=0.3, lw=0)
axes.axvline(case.llr, color="C2", label=text)
for bound in (case.bounds.low, case.bounds.high):
    axes.axvline(bound, color="C3", ls=":", label="bounds" if bound > 0 else None)
axes.set_xlabel("LLR")
axes.legend(loc="upper left")
figure = axes.figure
