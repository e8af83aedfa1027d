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
    "actualdcf": "norm_act_dcf(tar, non, prior)",
    "computeactualdcf": "norm_act_dcf(tar, non, prior)",
    "cllrmin": "min_cllr(tar, non)",
    "mintdcf": "t_dcf",
    "mincost": "norm_min_dcf(tar, non, prior)",
    "mindcfcost": "norm_min_dcf(tar, non, prior)",
    "bayeserrorrate": "act_dcf(tar, non, prior)",
    "rocaucscore": "auc(tar, non)",
    "roccurve": "ROC.from_scores(tar, non)",
    "detcurve": "ROC.from_scores(tar, non), or plot_det",
    "logisticregression": "LinearCalibration.fit(tar, non)",
    "logisticcalibration": "LinearCalibration.fit(tar, non)",
    "plattcalibration": "LinearCalibration.fit(tar, non)",
    "plattscaling": "LinearCalibration.fit(tar, non)",
    "isotonicregression": "PAVCalibration.fit(tar, non)",
    "isotoniccalibration": "PAVCalibration.fit(tar, non)",
    "pav": "PAVCalibration.fit(tar, non)",
    "calibrate": "LinearCalibration.fit_scores(scores, key)",
    "fuse": "LinearFusion.fit_scores(systems, key)",
    "bootstrap": "bootstrap_scores, by speaker, or uncertainty.bootstrap, by trial",
    "bootstrapci": "bootstrap_scores(scores, key, statistic)",
    "ci": "bootstrap_scores(scores, key, statistic)",
    "confidenceinterval": "bootstrap_scores(scores, key, statistic)",
    "bca": 'bootstrap(..., interval="bca")',
    "ttest": "speaker_z_test, or compare_systems",
    "pairedttest": "speaker_z_test, or compare_systems",
    "det": "plot_det",
    "plotroc": "plot_det, or ROC.from_scores(tar, non)",
    "tippett": "plot_tippett",
    "metrics": "Results(tar, non).metrics(prior)",
    "read": "read_scores, read_key or read_trials",
    "load": "read_scores, read_key, or read_model for a trained map",
    "loadscores": "read_scores(path)",
    "loadkey": "read_key(path)",
    "loadmodel": "read_model(path)",
    "quality": "QualityMeasures",
    "segquality": "SegmentQuality",
    "normdcfplot": "BayesPlot",
    **dict.fromkeys(
        ("pfa", "far", "fmr", "fpr"),
        "uncertainty.FMR(threshold), a statistic, or error_rates_at(tar, non, threshold)",
    ),
    **dict.fromkeys(
        ("pmiss", "frr", "fnmr", "fnr"),
        "uncertainty.FNMR(threshold), a statistic, or error_rates_at(tar, non, threshold)",
    ),
    "bosaris": "matlab, the module bosaris_py.matlab",
    "sidekit": "matlab, the module bosaris_py.matlab",
}

_CHECKED = "nothing is needed: objects are sorted and checked when they are made"
_CSV = "here it is save(path), of a path that ends in .csv"
_LEFT_OUT = "start and stop are left out when a file is read"
_NOT_KEPT = "nothing is kept: hold the arrays that set_system was given"
_TRAINED = "here it is fit(tar, non), then apply(scores)"
_DRAWN = "here it is plot_det, plot_bayes or another plot, of {name: results}"
_STEPS = "here it is roc, which has pmiss and pfa"
_LISTS = "here it is sample.lists, of both classes"
# Methods and fields of SIDEKIT's objects and first guesses, by name as above: what to say of an
# object that has this name.
_MEMBERS: Mapping[str, Mapping[str, str]] = {
    "write": {"save": "here it is save(path)"},
    "writetxt": {"save_txt": "here it is save_txt(path)"},
    "writematlab": {"save": "here it is save(path), of a path that ends in .mat"},
    "readmatlab": {"read": "here it is read(path), of a path that ends in .mat"},
    "tocsv": {"save": _CSV},
    "load": {"read": "here it is read(path)"},
    "create": {"from_trials": "here it is the constructor: Key(models, segments, tar, non)"},
    "getscore": {"get_scores": "here it is get_scores(Ndx([model], [segment]))[0]"},
    "sort": dict.fromkeys(("modelset", "leftids", "ids"), _CHECKED),
    "validate": dict.fromkeys(("modelset", "leftids", "ids"), _CHECKED),
    "createfigure": {"figure": "nothing is needed: a plot has its figure from the beginning"},
    "start": {"leftids": _LEFT_OUT},
    "stop": {"leftids": _LEFT_OUT},
    "split": {"leftids": "here it is IdMap(left, right) of the parts of numpy.array_split"},
    "set": {"leftids": "here it is the constructor: IdMap(left, right)"},
    "__tar__": {"set_system": _NOT_KEPT},
    "__non__": {"set_system": _NOT_KEPT},
    "__figure__": {"figure": "here it is figure, and the file is written by save(path)"},
    "targets": {"tar": "here it is tar, a mask; get_tar_non has the scores"},
    "nontargets": {"non": "here it is non, a mask; get_tar_non has the scores"},
    "tarmask": {"tar": "here it is tar"},
    "labels": {"trial_labels": "here it is trial_labels()", "metadata": "here it is key"},
    "trials": {"trial_mask": "here it is trial_mask; records() lists them"},
    "ntargets": {"n_tar": "here it is n_tar"},
    "nnontargets": {"n_non": "here it is n_non"},
    "models": {"modelset": "here it is modelset"},
    **{name: {"segset": "here it is segset"} for name in ("segments", "segs", "tests")},
    **{
        name: {"scoremat": "here it is scoremat, or get_scores(key) for the trials of a key"}
        for name in ("values", "matrix", "data", "array")
    },
    "scores": {"scoremat": "here it is scoremat", "sample": _LISTS},
    **{name: {"sample": _LISTS} for name in ("tar", "non")},
    **{
        name: {"to_frame": "here it is to_frame()"}
        for name in ("topandas", "todataframe", "dataframe", "frame", "df")
    },
    "slope": {"scale": "here it is scale"},
    "coef": {"scale": "here it is scale"},
    "intercept": {"offset": "here it is offset"},
    **{
        name: {"apply": "here it is apply(scores)"}
        for name in ("predict", "transform", "decisionfunction")
    },
    "predictproba": {"apply": "here it is posterior(map.apply(scores), prior)"},
    "fittransform": {"fit": _TRAINED},
    "summary": {"metrics": "here it is metrics(prior)", "table": "here it is what print shows"},
    "rocauc": {"auc": "here it is auc"},
    "plotdet": {"det": "here it is det()", "rocch": _DRAWN},
    "plot": {"rocch": _DRAWN},
    "det": {"rocch": _DRAWN},
    "tippett": {"bayes": "here it is plot_tippett(evaluation)"},
    **{name: {"roc": _STEPS} for name in ("thresholds", "fpr", "tpr", "fnr")},
    "systems": {"results": "here it is results, by name"},
    "save": {"report": "here it is report(path), to_csv(path) and the like"},
    "rows": {"records": "here it is records()"},
    "style": {"to_frame": "here it is to_frame().style"},
}


def _plain(name: str) -> str:
    """Return a name in lower case without underscores."""
    return name.replace("_", "").lower()


def meant_by(name: str, known: Collection[str]) -> str:
    """Return what to add to the message of an unknown name: the name that was meant, if any."""
    plain = _plain(name)
    same = sorted(real for real in known if _plain(real) == plain)
    found = same or difflib.get_close_matches(name, sorted(known), n=1)
    told = " or ".join(same) or _ELSEWHERE.get(plain) or " or ".join(found)
    return f"; did you mean {told}?" if told else ""


def instead_of(name: str, having: object) -> str:
    """Return what to add to the message of an attribute that an object does not have, if known."""
    remarks = _MEMBERS.get(name) or ({} if name.startswith("_") else _MEMBERS.get(_plain(name), {}))
    if not remarks and name.startswith("_"):
        return ""
    known = dir(having)
    same = [real for real in known if real[0] != "_" and _plain(real) == _plain(name)]
    told = [remark for real, remark in remarks.items() if real in known]
    told += [f"did you mean {real}?" for real in same]
    return f"; {told[0]}" if told else ""
