"""Marks on a DET plot: EER, 30 errors, minimum and actual cost. See understand/det."""

import bosaris_py as bp

test, marks = bp.load_example("asvspoof2019_la").eval, ("eer", "dr30", "min", "act")
figure = bp.evaluate(test.scores["xvector"], test.key, prior=0.05).plot("det", marks=marks).figure
