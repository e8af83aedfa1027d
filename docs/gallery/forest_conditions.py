"""Forest plot of conditions.

The EER of each condition, of all trials pooled, and of equalised conditions, by the jackknife.
See conditions.
"""

import numpy as np

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
# How sure a countermeasure is that the segment is no spoof, in three equal parts.
low, high = np.quantile(test.quality.values, [1 / 3, 2 / 3])
parts = np.array(["1st third", "2nd third", "3rd third"])[
    np.digitize(test.quality.values[0], [low, high])
]
key = test.key.with_columns(countermeasure=("segment", parts))
conditions, speakers = ("gender", "countermeasure"), ("model", "speaker")
found = bp.evaluate(llrs, key, conditions=conditions, speakers=speakers)
figure = found.plot("forest", system="system", title="By gender and countermeasure").figure
