"""Paired differences: The EER of one system less another's. See howto/compare."""

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
fusion, who = bp.LinearFusion.fit_scores(dev.scores, dev.key), ("model", "speaker")
systems = {**test.scores, "fusion": fusion.apply(test.scores, test.key)}
table = bp.compare_systems(systems, test.key, bp.uncertainty.EER(), speakers=who)
figure = bp.plot_forest(table, percent=True, xlabel="difference of EERs (points)").figure
