"""Names of other toolkits and first guesses, and what they are called here."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping

# By name in lower case without underscores: what to write. SIDEKIT, PyBOSARIS, PYLLR, scikit-learn
# and others have these names.
_ELSEWHERE: Mapping[str, str] = {
    "plotwindow": "DETWindow",
    "logiteffectiveprior": "OperatingPoint(p_target, c_miss, c_fa).plo",
    "fastmindcf": "min_dcf(tar, non, prior), or fast_minDCF of bosaris_py.matlab",
    "fastactdcf": "act_dcf(tar, non, prior), or fast_actDCF of bosaris_py.matlab",
    "rocch2eer": "eer(tar, non), or rocch2eer of bosaris_py.matlab",
    "computeeer": "eer(tar, non)",
    "equalerrorrate": "eer(tar, non)",
    "calculateeer": "eer(tar, non)",
    "computemindcf": "norm_min_dcf(tar, non, prior)",
    "mincost": "norm_min_dcf(tar, non, prior)",
    "mindcfcost": "norm_min_dcf(tar, non, prior)",
    "bayeserrorrate": "act_dcf(tar, non, prior)",
    "rocaucscore": "auc(tar, non)",
    "roccurve": "ROC.from_scores(tar, non)",
    "detcurve": "ROC.from_scores(tar, non), or plot_det",
    "logisticregression": "LinearCalibration.fit(tar, non)",
    "plattscaling": "LinearCalibration.fit(tar, non)",
    "isotonicregression": "PAVCalibration.fit(tar, non)",
    "pav": "PAVCalibration.fit(tar, non)",
    "calibrate": "LinearCalibration.fit_scores(scores, key)",
    "fuse": "LinearFusion.fit_scores(systems, key)",
    "bootstrap": "uncertainty.bootstrap or uncertainty.bootstrap_scores",
    "confidenceinterval": "uncertainty.bootstrap_scores(scores, key, statistic)",
    "comparesystems": "uncertainty.compare_systems(systems, key, statistic)",
    "read": "read_scores, read_key or read_trials",
    "load": "read_scores, read_key, or read_model for a trained map",
    "loadscores": "read_scores(path)",
    "loadkey": "read_key(path)",
    "loadmodel": "read_model(path)",
    "quality": "QualityMeasures",
    "segquality": "SegmentQuality",
    "normdcfplot": "BayesPlot",
}


def meant_by(name: str, known: Collection[str]) -> str:
    """Return what to add to the message of an unknown name: the name that was meant, if any."""
    plain = name.replace("_", "").lower()
    same = sorted(real for real in known if real.replace("_", "").lower() == plain)
    found = same or difflib.get_close_matches(name, sorted(known), n=1)
    told = " or ".join(same) or _ELSEWHERE.get(plain) or " or ".join(found)
    return f"; did you mean {told}?" if told else ""
