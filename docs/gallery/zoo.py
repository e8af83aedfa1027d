"""Speakers in a zoo plot.

Mean target and non-target score of each speaker. The extremes have names. See plots.
"""

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py.evaluation import SpeakerZoo

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
tar, non = llrs.get_tar_non(test.key)
# A non-target counts for the speaker of its model, who gives the model its name.
models, is_target = test.metadata.column("model").values(), test.key.trial_labels()
zoo = SpeakerZoo.from_trials(tar, non, models[is_target], models[~is_target])
figure = plots.plot_zoo(zoo).figure
