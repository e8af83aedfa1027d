"""Cross-fitting.

The maps of the folds beside the map of all trials, with 20 made-up speakers. A trial gets its LLR
from the map that neither of its speakers had a part in. See calibrate.
"""

import numpy as np
from matplotlib.figure import Figure

import bosaris_py as bp

ids = [f"speaker{speaker:02d}/{take}" for speaker in range(20) for take in range(4)]
same = np.arange(80)[:, None] // 4 == np.arange(80) // 4
noise = np.random.default_rng(1).normal(0, 4, same.shape)
scores = bp.Scores(10 * same + noise, ids, ids)
key = bp.Key(ids, ids, np.triu(same, 1), np.triu(~same, 1))
fitted = bp.cross_fit(
    bp.LinearCalibration, scores, key, speakers=lambda id: id.split("/")[0], rng=1
)
figure = Figure(figsize=(6, 4.5), layout="constrained")
axes = figure.subplots()
values = np.linspace(-10, 20, 2)
for number, fold in enumerate(fitted.folds.values()):
    axes.plot(
        values,
        fold.apply(values),
        "C0",
        lw=1,
        label=None if number else "without the speakers of two folds",
    )
axes.plot(values, fitted.final.apply(values), "k--", label="all trials, for new ones")
axes.set(xlabel="score", ylabel="LLR")
axes.grid(alpha=0.3)
axes.legend()
