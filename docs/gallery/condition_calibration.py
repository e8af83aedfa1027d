"""Calibration by condition.

A line for each condition, of 40 simulated speakers. It is drawn towards the line of all trials, the
more the fewer its own targets are. See calibrate.
"""

import numpy as np
from matplotlib.figure import Figure

import bosaris_py as bp

ids, same = [f"speaker {i}" for i in range(40)], np.eye(40, dtype=bool)
rng = np.random.default_rng(4)
noise = np.digitize(np.arange(40), [24, 36])
scores = bp.Scores(3.0 * same + 1.5 * noise + rng.normal(size=(40, 40)), ids, ids)
names = ("quiet, 24 targets", "street, 12 targets", "car, 4 targets")
masks = {name: np.tile(noise == level, (40, 1)) for level, name in enumerate(names)}
key, conditions = bp.Key(ids, ids, same, ~same), bp.Conditions(masks)
fitted = {
    strength: bp.ConditionCalibration.fit_scores(
        scores, key, conditions, strengths=(strength,), ridge=1e-3
    )
    for strength in (0.0, 3.0)
}
figure = Figure(figsize=(6, 4.5), layout="constrained")
axes = figure.subplots()
values = np.linspace(-3, 8, 2)
for number, name in enumerate(names):
    for strength, style in ((0.0, ":"), (3.0, "-")):
        label = name if strength else None
        line = fitted[strength].lines[name]
        axes.plot(values, line.scale * values + line.offset, style, color=f"C{number}", label=label)
line = fitted[3.0].pooled
axes.plot(values, line.scale * values + line.offset, "k--", label="all trials")
axes.plot([], [], ":", color="0.5", label="own trials only")
axes.set(xlabel="score", ylabel="LLR", ylim=(-12, 12))
axes.grid(alpha=0.3)
axes.legend()
