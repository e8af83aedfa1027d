"""Mistakes that a type checker must find, each on a line that names its code."""

from __future__ import annotations

import bosaris_py as bp
from bosaris_py import uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
scores = test.scores["ecapa"]
results = bp.Results.from_scores(scores, test.key)

bp.evaluate(test.scores, test.key, eer="stepped")  # arg-type: no such definition
bp.LinearCalibration.fit_scores(test.key, scores)  # arg-type: scores and key changed places
print(results.eer())  # operator: a number, not a method
print(unc.bootstrap_scores(scores, test.key, [unc.EER()]).low)  # attr-defined: a list of results
bp.min_dcf([1.0], [0.0], 0.05).mean()  # attr-defined: one prior, one float
unc.bootstrap_scores(scores, test.key, unc.EER(), replicates=100)  # call-overload: a wrong name
bp.evaluate(test.scores, test.key, replicates=100)  # call-arg: a wrong name
print(test.key.tars)  # attr-defined: no such field
