"""Zoo plot: Mean scores of each model; goats lie below. See understand/confidence."""

from matplotlib import pyplot as plt

import bosaris_py as bp

test = bp.load_example("asvspoof2019_la").eval
scores = test.scores["xvector"].align_with_ndx(test.key).scoremat
figure, axes = plt.subplots(subplot_kw={"xlabel": "non-target mean", "ylabel": "target mean"})
axes.scatter(*((scores * mask).sum(1) / mask.sum(1) for mask in (test.key.non, test.key.tar)))
