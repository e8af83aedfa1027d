"""Figures of a validation.

The figures of a validation report, each with its interval by speaker. See tutorials/forensic.
"""

import bosaris_py as bp

dev, test = bp.load_example("forensic")
calibration = bp.LinearCalibration.fit_scores(dev.scores["system"], dev.key)
llrs = calibration.apply(test.scores["system"])
speakers = ("reference_speaker", "speaker")
validation: bp.Validation = bp.validate_scores(
    llrs, test, speakers=speakers, replications=200, rng=1
)
figure = validation.plot().figure
