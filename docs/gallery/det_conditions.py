"""DET plot of conditions.

One curve for each condition, one for all trials pooled, one equalised. See conditions.
"""

import bosaris_py as bp

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
dev, test = (bp.Scores.read(f"{folder}{part}_scores_cosine.h5") for part in ("dev", "eval"))
calibration = bp.LinearCalibration.fit_scores(dev, bp.Key.read(folder + "dev_key.h5"), prior=0.1)
llrs = calibration.apply(test)
frames = bp.SegmentQuality.read(folder + "eval_frames.h5").align_with_ids(key.segset)
length = ["short" if count < 12 else "long" for count in frames.values[0]]
metadata = bp.TrialMetadata(key, segment_columns={"length": length})
plot = bp.DETPlot("auto", "Cosine, by length of the segment")
plot.plot_conditions(llrs, key, metadata.conditions("length"))
plot.label_curves()
figure = plot.figure
