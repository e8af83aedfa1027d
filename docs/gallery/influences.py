"""Who makes the errors.

Each speaker's influence on the EER. Speakers above the band make more of it than chance explains.
See uncertainty.
"""

import bosaris_py as bp
from bosaris_py import uncertainty as unc

test = bp.load_example("asvspoof2019_la").eval
influences = unc.speaker_influences(
    test.scores["xvector"], test, unc.EER(), speakers=("model", "speaker")
)
figure = influences.plot(title="x-vectors").figure
