"""Speakers in a zoo plot.

Mean target and non-target score of each speaker. The extremes have names. See plots.
"""

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py.evaluation import SpeakerZoo

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
dev, test = (bp.Scores.read(f"{folder}{part}_scores_cosine.h5") for part in ("dev", "eval"))
calibration = bp.LinearCalibration.fit_scores(dev, bp.Key.read(folder + "dev_key.h5"), prior=0.1)
llrs = calibration.apply(test)
tar, non = llrs.get_tar_non(key)
# The id of a model begins with the speaker; a non-target counts for the speaker of its model.
tar_rows, non_rows = (mask.nonzero()[0] for mask in (key.tar, key.non))
speaker = [name.split("-")[0] for name in key.modelset]
zoo = SpeakerZoo.from_trials(
    tar, non, [speaker[row] for row in tar_rows], [speaker[row] for row in non_rows]
)
figure = plots.plot_zoo(zoo).figure
