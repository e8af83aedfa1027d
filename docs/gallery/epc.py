"""Expected performance curves.

What two systems cost on the test set where the dev set chooses their thresholds, over the share of
the false-alarm rate; dotted, their own minimum. Speakers of both sets are drawn. See transfer.
"""

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
options = {"speakers": ("model", "speaker"), "replications": 300, "rng": 1}
transfers = {
    name: bp.transfer((dev.scores[name], dev), (test.scores[name], test), **options)
    for name in test.scores
}
figure = bp.plot_epc(transfers, minimum=True).figure
