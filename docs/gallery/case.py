"""The LR of one case: With the reference set and its bounds. See tutorials/forensic."""

import bosaris_py as bp

test, said = bp.load_example("forensic").eval, ("he speaks", "another man speaks")
who = {"speakers": ("reference_speaker", "speaker"), "reference": "60 men"}
case = bp.case_llr(4.0, test.scores["system"], test.key, propositions=said, **who)
llrs = case.calibration.apply(test.scores["system"])
plot = bp.evaluate(llrs, test.key).plot("histogram", prior=[])
plot.ax.set(xlabel="LLR", title="line: the case; grey: the bounds of the reference set")
plot.ax.axvspan(case.bounds.low, case.bounds.high, color="0.9", zorder=0)
figure = plot.ax.axvline(case.llr, color="black").figure
