"""Calibration maps: Trained on the same 60 targets. See howto/choose_calibration."""

from matplotlib import pyplot as plt

import bosaris_py as bp

figure, axes = plt.subplots(subplot_kw={"xlabel": "score", "ylabel": "LLR"})
dev, grid = bp.load_example("asvspoof2019_la").dev, [i / 10 for i in range(-300, 501)]
tar, non = dev.scores["xvector"].get_tar_non(dev.key)
for name in ("LinearCalibration", "GaussianCalibration", "PAVCalibration", "BoundedCalibration"):
    axes.plot(grid, getattr(bp, name).fit(tar[::24][:60], non[::9][:600]).apply(grid), label=name)
axes.legend()
