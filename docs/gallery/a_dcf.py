"""Cost over the prior of spoofs: With and without fusion. See tutorials/challenge."""

import numpy as np

import bosaris_py as bp

test = bp.load_example("asvspoof2019_la").eval
key = test.key_with_spoofs
llr = 27.25 * test.scores["ecapa"].get_scores(key) - 12.34  # a calibrated verifier
both = ("verifier", llr), ("fusion", -np.logaddexp(-llr, -key.columns["aasist"]) - np.log(0.5))
systems = {name: [s[key.labels == n] for n in (1, -1, -2)] for name, s in both}
figure = bp.plot_a_dcf(systems, costs="ASVspoof5").figure
