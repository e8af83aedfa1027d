"""Lines of the README, the cookbook and the tutorials, as a user with a type checker writes them.

Nothing here runs: `test_typing.py` gives it to mypy, and to pyright where it is installed. Where a
line of the pages unpacks a dictionary of options, or takes a name twice for different things, it is
written out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import bosaris_py as bp
from bosaris_py import uncertainty as unc

# The README, and tutorials/fusion.
dev, test = bp.load_example("asvspoof2019_la")
lines = {
    name: bp.LinearCalibration.fit_scores(raw, dev.key, prior=0.05, ridge="weak")
    for name, raw in dev.scores.items()
}
llrs = {name: line.apply(test.scores[name]) for name, line in lines.items()}
fusion = bp.LinearFusion.fit_scores(dev.scores, dev.key, prior=0.05, ridge="weak")
llrs["fusion"] = fusion.apply(test.scores, test.key)
table = bp.evaluate(llrs, test, priors=0.05)
speakers = ("model", "speaker")
xvector, ecapa = llrs["xvector"], llrs["ecapa"]
results = bp.Results.from_scores(xvector, test.key)
tar, non = xvector.get_tar_non(test.key)

# The cookbook: numbers and tables.
bp.evaluate({"ecapa": ecapa}, test, priors=0.01, eer="step")
bp.evaluate({**llrs, "again": ecapa}, test, priors=0.05)
bp.evaluate("submissions/*.txt", "key.txt", progress=True, workers=4)
bp.evaluate(Path("submissions").glob("*.txt"), Path("key.txt"))
ranked = bp.evaluate(llrs, test, priors=0.05, speakers=speakers, replications=200, rng=1)
groups = ranked.compare().groups()
epoch = bp.Results.from_labels(np.array([True, False]), np.array([1.0, 0.0])).metrics(0.05)
best = min(epoch["eer"], 1.0)
part = xvector.filter(xvector.modelset[:40], xvector.segset, keep=True)
missing = bp.compare_trials(part, test.key)

# The cookbook: systems, tests, rates, groups.
worse = unc.speaker_z_test(
    ecapa, xvector, test, unc.EER(), speakers=speakers, alternative="greater"
)
assert worse.p_value > 0.01, worse
fitted = bp.cross_fit(bp.LinearFusion, llrs, test, speakers=speakers, rng=1)
bp.evaluate({**llrs, "fusion": fitted.scores}, test, priors=0.05)
threshold = results.threshold_at(pfa=1e-3)
print(f"{threshold:.3f}: false alarms {threshold.pfa:.5f}, misses {threshold.pmiss:.3f}")
rate = unc.speaker_interval(xvector, test, unc.FMR(float(threshold)), speakers=speakers)
limits = rate.low, rate.high
by_gender = bp.Conditions.from_labels(test.key, test.metadata.factor("gender"))
for name in by_gender.names:
    pair = by_gender.select(test.key, name), test.metadata
    unc.speaker_interval(xvector, pair, unc.FMR(float(threshold)), speakers=speakers)
seconds = np.random.default_rng(1).uniform(1, 12, test.key.segset.size)
bins = np.array(["01-03 s", "03-08 s", "08-12 s"])[np.digitize(seconds, [3, 8])]
metadata = bp.TrialMetadata(test.key, segment_columns={"duration": bins})
bp.evaluate({"ecapa": ecapa}, (test.key, metadata), priors=0.05, conditions="duration")
kind = test.trials.factor("label").values()
score = np.asarray(test.trials.columns["ecapa"])
kinds = (score[kind == "target"], score[kind == "nontarget"], score[kind == "spoof"])
cost = round(bp.a_dcf(*kinds, "ASVspoof5"), 3)

# The cookbook: likelihood-ratios, and tutorials/forensic.
bounds = bp.llr_bounds(tar, non)
case = bp.case_llr(6.0, test.scores["xvector"], test, speakers=speakers, replications=100, rng=1)
log10_lr = case.log10_lr + case.log10_low - case.log10_high
median_of_h1 = np.median(tar / np.log(10))
calibration = bp.LinearCalibration.fit(tar, non, prior=bp.OperatingPoint(0.01))
one: float = calibration.apply(2.5)
many = calibration.apply([2.5, 3.5])
total = many.sum() + one
calibration.save("line.json")
model = bp.read_model("line.json")

# The pages on uncertainty and comparison.
shown = unc.bootstrap_scores(xvector, test, unc.EER(), speakers=speakers, replications=200, rng=1)
half = (shown.high - shown.low) / 2
several = unc.bootstrap_scores(xvector, test, [unc.EER(), unc.Cllr()], speakers=speakers, rng=1)
widths = [found.high - found.low for found in several]
pairwise = unc.compare_systems(llrs, test, unc.MinDCF(0.05), speakers=speakers)
costs = bp.min_dcf(tar, non, [0.01, 0.05], normalize=True) / bp.act_dcf(tar, non, 0.05)
worst = costs.max()
picture = ranked.det()
picture.save("det.pdf")

# Tables of the user.
frame = bp.from_frame({"model": ["a"], "segment": ["s"], "label": ["target"], "llr": [1.0]})
bp.evaluate(frame.scores, frame, priors=0.05)
