"""Figures of a validation.

The figures of a validation report, each with its interval by speaker. See tutorials/forensic.
"""

from matplotlib.figure import Figure

import bosaris_py as bp

dev, test = bp.load_example("forensic")
calibration = bp.LinearCalibration.fit_scores(dev.scores["system"], dev.key)
llrs = calibration.apply(test.scores["system"])
speakers = ("reference_speaker", "speaker")
validation: bp.Validation = bp.validate_scores(
    llrs, test, speakers=speakers, replications=200, rng=1
)
names = {
    "cllr": "Cllr",
    "min_cllr": "minimum Cllr",
    "brier": "Brier score",
    "misleading_tar": "targets with LR < 1",
    "misleading_non": "non-targets with LR > 1",
}
figure = Figure(figsize=(6, 3), layout="constrained")
axes = figure.subplots()
for row, field in enumerate(names):
    value, (low, high) = getattr(validation, field), validation.intervals[field]
    axes.errorbar(value, row, xerr=[[value - low], [high - value]], fmt="oC0", capsize=4)
axes.set(xlabel="value and 95 % interval by speaker", xlim=(0, None))
axes.set_yticks(range(len(names)), names.values())
axes.invert_yaxis()
axes.grid(axis="x", alpha=0.3)
