"""Who makes the errors: Points of EER that speakers add. See howto/choose_interval."""

from matplotlib import pyplot as plt

import bosaris_py as bp

test, who = bp.load_example("asvspoof2019_la").eval, {"speakers": ("model", "speaker")}
eer = bp.speaker_interval(test.scores["xvector"], test.key, bp.uncertainty.EER(), **who)
figure, axes = plt.subplots(subplot_kw={"xlabel": "points of EER that the speaker adds"})
most = sorted(eer.deviations.items(), key=lambda item: item[1])[-10:]
axes.barh([name for name, _ in most], [100 * points for _, points in most])
