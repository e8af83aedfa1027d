"""Calibration maps: Trained on the same 60 targets. See howto/choose_calibration."""

from matplotlib import pyplot as plt

import bosaris_py as bp

dev, (figure, axes) = bp.load_example("asvspoof2019_la").dev, plt.subplots()
tar, non = dev.scores["xvector"].get_tar_non(dev.key)
for name in ("LinearCalibration", "GaussianCalibration", "PAVCalibration", "BoundedCalibration"):
    found = getattr(bp, name).fit(tar[::24][:60], non[::9][:600])
    axes.plot(range(-30, 50), found.apply(range(-30, 50)), label=name)
axes.legend()
