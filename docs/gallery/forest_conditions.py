"""Forest plot of conditions.

The EER of each speaker's models with its number of targets; the line is the pooled EER.
See conditions.
"""

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py.evaluation import condition_table

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
dev, test = (bp.Scores.read(f"{folder}{part}_scores_cosine.h5") for part in ("dev", "eval"))
calibration = bp.LinearCalibration.fit_scores(dev, bp.Key.read(folder + "dev_key.h5"), prior=0.1)
llrs = calibration.apply(test)
speaker = [name.split("-")[0] for name in key.modelset]
metadata = bp.TrialMetadata(key, model_columns={"speaker": speaker})
table = condition_table(llrs, key, metadata.conditions("speaker"))
figure = plots.plot_forest(table, "eer", title="EER by speaker of the model").figure
