"""Map of crossed conditions.

The EER of each pair of model's and segment's condition, with the number of targets.
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


def lengths(ids, part):
    """Return for each id whether its speech is short."""
    frames = bp.SegmentQuality.read(f"{folder}{part}_frames.h5").align_with_ids(ids).values[0]
    middle = sorted(frames)[frames.size // 2]
    return ["short" if count < middle else "long" for count in frames]


metadata = bp.TrialMetadata(
    key,
    model_columns={"enrolment": lengths(key.modelset, "model")},
    segment_columns={"test": lengths(key.segset, "eval")},
)
table = condition_table(llrs, key, metadata.conditions("enrolment", "test"))
figure = plots.plot_condition_map(table, title="By length").figure
