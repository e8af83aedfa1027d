"""By speaker and by trial: The second are too short. See understand/confidence."""

import bosaris_py as bp

test, metric = bp.load_example("asvspoof2019_la").eval, bp.uncertainty.MinCllr()
rows, who = {}, ("model", "speaker")
for name, each in test.scores.items():
    rows[f"{name}, by speaker"] = bp.speaker_interval(each, test.key, metric, speakers=who)
    rows[f"{name}, by trial"] = bp.bootstrap_scores(each, test.key, metric, method="iid", rng=1)
figure = bp.plot_forest(rows, xlabel="minCllr").figure
