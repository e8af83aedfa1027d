"""Cost over the prior of spoofs.

Two fusions of a verifier and a countermeasure, made for 5 % and for 0.5 % of spoofs. Where spoofs
are rarer or more frequent, the best and the Bayes threshold cost so much. See spoofing.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots

kinds = "target", "nontarget", "spoof"
lists = []
for part in bp.load_example("asvspoof2019_la"):
    labels = part.trials.columns["label"].values()
    systems = [part.trials.columns[name] for name in ("ecapa", "aasist")]
    lists.append([[np.asarray(scores)[labels == kind] for kind in kinds] for scores in systems])
(dev_asv, dev_cm), (asv, cm) = lists
verifier = bp.LinearCalibration.fit(dev_asv[0], dev_asv[1], ridge="weak")
bona = np.concatenate(dev_cm[:2])
countermeasure = bp.LinearCalibration.fit(bona, dev_cm[2], ridge="weak")
fusions = {}
for prior in (0.05, 0.005):
    share = bp.SpoofCosts((1 - prior) * 0.99, (1 - prior) * 0.01, prior).spoof_share
    fusion = bp.SASVFusion(asv=verifier, cm=countermeasure, spoof_share=share)
    fused = [fusion.apply(asv=asv[kind], cm=cm[kind]) for kind in range(3)]
    fusions[f"for {100 * prior:g} %"] = fused
figure = plots.plot_a_dcf(fusions).figure
