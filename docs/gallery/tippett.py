"""Tippett plot: Shares of trials with at least each LLR. See tutorials/forensic."""

import bosaris_py as bp

(dev, test), who = bp.load_example("forensic"), ("reference_speaker", "speaker")
llrs = bp.LinearCalibration.fit_scores(dev.scores["system"], dev.key).apply(test.scores["system"])
band = bp.uncertainty.bootstrap_bands(llrs, test.key, kind="tippett", speakers=who, rng=1)
figure = bp.evaluate(llrs, test.key).plot("tippett", bands={"system": band}).figure
