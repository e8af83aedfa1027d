"""Expected performance curves: Dev chooses the threshold. See howto/choose_interval."""

from matplotlib import pyplot as plt

import bosaris_py as bp

labels = {"xlabel": "weight of false alarms", "ylabel": "cost on the eval set"}
sets, (figure, axes) = bp.load_example("asvspoof2019_la"), plt.subplots(subplot_kw=labels)
for name in ("xvector", "ecapa"):
    alphas, both = [i / 20 for i in range(1, 20)], [(s.scores[name], s.key) for s in sets]
    how = {"rule": "min-cost", "normalize": False}
    costs = [bp.uncertainty.transfer(*both, prior=1 - a, **how).cost for a in alphas]
    axes.plot(alphas, costs, label=name)
axes.legend()
