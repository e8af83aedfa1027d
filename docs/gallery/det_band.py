"""DET plot with bands: Two verifiers and their fusion, by speaker. See understand/confidence."""

from matplotlib import rc_context

import bosaris_py as bp

(dev, test), draw = bp.load_example("asvspoof2019_la"), bp.uncertainty.bootstrap_bands
fused = bp.LinearFusion.fit_scores(dev.scores, dev.key).apply(test.scores, test.key)
scores, who = {**test.scores, "fusion": fused}, ("model", "speaker")
bands = {name: draw(each, test.key, speakers=who, rng=1) for name, each in scores.items()}
with rc_context({"font.size": 14.0, "figure.figsize": (6.0, 6.0)}):
    figure = bp.evaluate(scores, test.key).plot("det", bands=bands, marks=("eer",)).figure
if __name__ == "__main__":
    figure.savefig("det_band.svg")
