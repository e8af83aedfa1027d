"""DET plot of conditions: Each, pooled and equalised. See understand/conditions."""

import bosaris_py as bp

test = bp.load_example("asvspoof2019_la").eval
found = bp.evaluate(test.scores, test.key, conditions="gender")
figure = found.plot("det", system="xvector").figure
