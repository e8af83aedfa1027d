"""DET plot: Misses against false alarms; dots are equal error rates. See understand/det."""

import bosaris_py as bp

test = bp.load_example("asvspoof2019_la").eval
figure = bp.evaluate(test.scores, test.key).plot("det", marks=("eer",)).figure
