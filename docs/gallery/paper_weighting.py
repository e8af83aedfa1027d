"""Systems pooled and weighted (van Leeuwen, Figure 3).

DET curves of two systems: on the left all trials are pooled, on the right both sexes have the same
weight. See papers.
"""

from matplotlib.figure import Figure

import bosaris_py as bp

test = bp.load_example("asvspoof2019_la").eval
sexes = bp.Conditions.from_columns(test.key, "gender")
figure = Figure(figsize=(9, 4.5))
for axes, title, conditions in zip(
    figure.subplots(1, 2), ("pooled", "equal weights"), (None, sexes), strict=True
):
    found = {
        name: bp.Results.from_scores(scores, test.key, conditions)
        for name, scores in test.scores.items()
    }
    bp.plot_det(found, window="old", ax=axes, title=title)
figure.tight_layout()
