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
    "pfa": "FMR(threshold), a statistic, or error_rates_at(threshold) of Results",
    "pmiss": "FNMR(threshold), a statistic, or error_rates_at(threshold) of Results",
    "bosaris": "matlab, the module bosaris_py.matlab",
    "sidekit": "matlab, the module bosaris_py.matlab",
}

_CHECKED = "nothing is needed: objects are sorted and checked when they are made"
# Methods and fields of SIDEKIT's objects and first guesses, by name as above: a remark.
_MEMBERS: Mapping[str, str] = {
    "write": "here it is save(path)",
    "writetxt": "here it is save_txt(path)",
    "writematlab": "here it is save(path), of a path that ends in .mat",
    "readmatlab": "here it is read(path), of a path that ends in .mat",
    "tocsv": "here it is save(path), of a path that ends in .csv",
    "load": "here it is read(path)",
    "create": "here it is the constructor: Key(models, segments, tar, non)",
    "getscore": "here it is get_scores(Ndx([model], [segment]))[0]",
    "sort": _CHECKED,
    "validate": _CHECKED,
    "createfigure": "nothing is needed: a plot has its figure from the beginning",
    "start": "start and stop are left out when a file is read",
    "stop": "start and stop are left out when a file is read",
    "split": "here it is IdMap(left, right) of the parts of numpy.array_split",
    "set": "here it is the constructor: IdMap(left, right)",
    "__tar__": "nothing is kept: hold the arrays that set_system was given",
    "__non__": "nothing is kept: hold the arrays that set_system was given",
    "__figure__": "here it is figure, and the file is written by save(path)",
    "targets": "here it is tar, a mask; get_tar_non has the scores",
    "values": "here it is scoremat, or get_scores(key) for the trials of a key",
}


def meant_by(name: str, known: Collection[str]) -> str:
    """Return what to add to the message of an unknown name: the name that was meant, if any."""
    plain = name.replace("_", "").lower()
    same = sorted(real for real in known if real.replace("_", "").lower() == plain)
    found = same or difflib.get_close_matches(name, sorted(known), n=1)
    told = " or ".join(same) or _ELSEWHERE.get(plain) or " or ".join(found)
    return f"; did you mean {told}?" if told else ""


def instead_of(name: str) -> str:
    """Return what to add to the message of an attribute that an object does not have, if known."""
    told = _MEMBERS.get(name) or _MEMBERS.get(name.replace("_", "").lower())
    return f"; {told}" if told else ""
