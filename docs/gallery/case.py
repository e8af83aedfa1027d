"""The LLR of one case.

The LLRs of the reference set, and that of the case with its interval and the bounds. See calibrate.
"""

import bosaris_py as bp

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
figure = case.plot(results).figure
