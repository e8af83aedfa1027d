"""Calibration by condition.

A line for each condition, of 40 simulated speakers. It is drawn towards the line of all trials, the
more the fewer its own targets are. See calibrate.
"""

import numpy as np

import bosaris_py as bp

ids, same = [f"speaker {i}" for i in range(40)], np.eye(40, dtype=bool)
rng = np.random.default_rng(4)
noise = np.digitize(np.arange(40), [24, 36])
scores = bp.Scores(3.0 * same + 1.5 * noise + rng.normal(size=(40, 40)), ids, ids)
names = ("quiet, 24 targets", "street, 12 targets", "car, 4 targets")
masks = {name: np.tile(noise == level, (40, 1)) for level, name in enumerate(names)}
key, conditions = bp.Key(ids, ids, same, ~same), bp.Conditions(masks)
fitted = bp.ConditionCalibration.fit_scores(scores, key, conditions, strengths=(3.0,), ridge=1e-3)
figure = fitted.plot(scores, key).figure
