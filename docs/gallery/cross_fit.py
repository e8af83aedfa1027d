"""Cross-fitting.

The maps of the folds beside the map of all trials, with 20 made-up speakers. A trial gets its LLR
from the map that neither of its speakers had a part in. See calibrate.
"""

import numpy as np

import bosaris_py as bp

ids = [f"speaker{speaker:02d}/{take}" for speaker in range(20) for take in range(4)]
same = np.arange(80)[:, None] // 4 == np.arange(80) // 4
noise = np.random.default_rng(1).normal(0, 4, same.shape)
scores = bp.Scores(10 * same + noise, ids, ids)
key = bp.Key(ids, ids, np.triu(same, 1), np.triu(~same, 1))
fitted = bp.cross_fit(
    bp.LinearCalibration, scores, key, speakers=lambda id: id.split("/")[0], rng=1
)
figure = fitted.plot(scores, key).figure
