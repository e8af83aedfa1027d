"""Expected performance curves: Dev chooses the threshold. See howto/choose_interval."""

from matplotlib import pyplot as plt

import bosaris_py as bp

figure, axes = plt.subplots(subplot_kw={"xlabel": "weight of false alarms", "ylabel": "cost"})
sets, how = bp.load_example("asvspoof2019_la"), {"rule": "min-cost", "normalize": False}
for name in ("xvector", "ecapa"):
    alphas, both = [i / 20 for i in range(1, 20)], [(s.scores[name], s.key) for s in sets]
    costs = [bp.uncertainty.transfer(*both, prior=1 - a, **how).cost for a in alphas]
    axes.plot(alphas, costs, label=name)
axes.legend()
