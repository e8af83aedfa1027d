"""The plans of known evaluations, as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosaris_py._notes import warn_caller
from bosaris_py._validation import describe, invalid, list_some
from bosaris_py.errors import UncertainPlanWarning
from bosaris_py.evaluation.plans.evaluation_plan import (
    EvaluationPlan,
    PartitionFactor,
    PlanCollection,
)
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials.key import Key

_GENDER = PartitionFactor("gender", ("male", "female"))
_ENROLMENT = PartitionFactor("num_enroll_segs", ("1", "3"))
# Non-target trials from the same telephone number do not count.
_PHONE = PartitionFactor("phone_num_match", ("Y", "N"), target_only=("Y",))
_CMN2_FACTORS = (_ENROLMENT, _PHONE, _GENDER, PartitionFactor("source_type", ("pstn", "voip")))
_SRE16_FACTORS = (PartitionFactor("language"), PartitionFactor("gender"), _ENROLMENT, _PHONE)
_MATCH_FACTORS = (
    _GENDER,
    PartitionFactor("source_type_match", ("Y", "N")),
    PartitionFactor("language_match", ("Y", "N")),
)
_KNOWN_SPEAKER = PartitionFactor(
    "nontarget_speaker", ("known", "unknown"), classes="non", weights=(0.5, 0.5)
)

_SRE18_SCORER = "NIST SRE scoring software, version 4.3 of SRE18"
_HYPERION = "Hyperion recipe, https://github.com/hyperion-ml/hyperion"

_SOURCES = {
    "SRE08": "NIST Year 2008 Speaker Recognition Evaluation Plan",
    "SRE10": "NIST Year 2010 Speaker Recognition Evaluation Plan, "
    "https://fdocuments.in/document/nist-sre-2010-plan-de-evaluacion.html",
    "SRE12": "NIST Year 2012 Speaker Recognition Evaluation Plan, https://pdfslide.net/documents/"
    "the-nist-year-2012-speaker-recognition-evaluation-plan-2015-08-27-the-nist.html",
    "IVECTOR14": "NIST i-vector Machine Learning Challenge: min(P_miss + 100 P_fa)",
    "SRE16": "NIST 2016 Speaker Recognition Evaluation Plan",
    "SRE18-CMN2": _SRE18_SCORER,
    "SRE18-VAST": _SRE18_SCORER,
    "SRE18": _SRE18_SCORER,
    "SRE19-CTS": _HYPERION,
    "SRE19-AV": _HYPERION,
    "SRE20-CTS": _HYPERION,
    "SRE21": "NIST 2021 Speaker Recognition Evaluation Plan, https://www.readkong.com/page/"
    f"nist-2021-speaker-recognition-evaluation-plan-6906130; {_HYPERION}",
    "SRE24": "NIST 2024 Speaker Recognition Evaluation Plan, among the documents of 2024-06-11 "
    f"on nist.gov; {_HYPERION}",
    "VoxSRC": "VoxSRC 2023 kit, https://github.com/JaesungHuh/VoxSRC2023",
    "SdSV": "SdSV Challenge 2020: Large-Scale Evaluation of Short-Duration Speaker Verification, "
    "https://www.readkong.com/page/sdsv-challenge-2020-large-scale-evaluation-of-6729108",
    "ASVspoof5-1": "ASVspoof 5 evaluation package, https://github.com/asvspoof-challenge/asvspoof5",
    "ASVspoof5-2": "H. Shim et al., a-DCF, Odyssey 2024; X. Wang et al., ASVspoof 5, 2024",
    "SASV2022": "J. Jung et al., SASV 2022: the first spoofing-aware speaker verification "
    "challenge, Interspeech 2022",
    "ASVspoof2019-LA": "T. Kinnunen et al., t-DCF, Odyssey 2018; ASVspoof 2019 evaluation kit, "
    "https://www.asvspoof.org",
    "ASVspoof2021-LA": "T. Kinnunen et al., IEEE/ACM TASLP 28, 2020; ASVspoof 2021 evaluation "
    "package, https://github.com/asvspoof-challenge/2021",
    "WildSpoof": "WildSpoof Challenge Evaluation Plan, https://arxiv.org/abs/2508.16858; "
    "H. Shim et al., a-DCF, Odyssey 2024",
    "ESDD": "ESDD 2026 Challenge Evaluation Plan, https://arxiv.org/abs/2508.04529",
    "CNSRC": "https://aishelltech.com/CNSRC_2022; WeSpeaker recipe of CN-Celeb",
}

_COMMON_CONDITIONS = (
    "The plan judges each common condition by itself. Give them as conditions: they are the "
    "partitions of the result, and the overall cost, which the plan does not have, equalises them."
)

_FROM_MEMORY = "The partitions are known from memory only: compare them with the source."
_BY_UTTERANCE = (
    "The kit counts each utterance of the countermeasure once, this plan each trial. "
    "t_dcf(asv=..., cm=(bona_fide, spoof)) takes utterances."
)
_OF_CM = "cm_eer is the EER of the countermeasure, the secondary metric."

_NOTES: dict[str, str | tuple[str, ...]] = {
    "SRE08": _COMMON_CONDITIONS,
    "SRE10": _COMMON_CONDITIONS,
    "SRE12": (
        "P_fa = P_known P_fa(known) + (1 - P_known) P_fa(unknown), with P_known = 0.5; "
        "a column `nontarget_speaker` must say of each non-target whether its speaker is "
        "known or unknown to the system.",
        "Each common condition is judged by itself: select its trials first.",
        _FROM_MEMORY,
    ),
    "IVECTOR14": "The challenge gives the factor 100, not a prior; only their product matters.",
    "SRE16": (
        "Gender and language are not in the trial key but in other tables of the corpus; "
        "add them as columns.",
        _FROM_MEMORY,
    ),
    "SRE19-CTS": "The key's column `test_set` tells trials of the progress set, prog, from those "
    "of the evaluation, eval; evolve(select={'test_set': 'eval'}) judges the latter.",
    "SRE19-AV": "Sources disagree whether trials are pooled, as here, or divided by gender.",
    "SRE20-CTS": "The challenge's server divides the trials into subsets that were never "
    "published; here they are pooled.",
    "SRE21": (
        "Sources disagree on further partitions: Hyperion divides the trials of the audio "
        "track, not of the audio-visual one, by phone_num_match as well.",
        _FROM_MEMORY,
    ),
    "VoxSRC": 'The kit\'s EER is eer(tar, non, definition="interpolated"), which '
    '`evaluate(..., plan="VoxSRC")` gives; '
    "`primary_cost` has that of the convex hull.",
    "ASVspoof5-1": (
        "Bona fide speech is the target. EER, Cllr and actual cost are further figures.",
        'The kit\'s EER is eer(tar, non, definition="step"), which '
        '`evaluate(..., plan="ASVspoof5-1")` gives; '
        "`primary_cost` has that of the convex hull.",
    ),
    "ASVspoof5-2": "Systems were ranked by the minimum a-DCF. t_dcf and t_eer judge two detectors "
    "in tandem.",
    "SASV2022": "Systems were ranked by the SASV-EER, whose mix of impostors and spoofs is that of "
    "the protocol.",
    "ASVspoof2019-LA": (_BY_UTTERANCE, _OF_CM),
    "ASVspoof2021-LA": (_BY_UTTERANCE, _OF_CM),
    "WildSpoof": (
        "The macro a-DCF is the mean over the data sets that the column `dataset` names, not the "
        "a-DCF of their pooled trials; evolve(sets=...) takes another column.",
        "Priors and costs are those of ASVspoof 5, from memory.",
    ),
    "ESDD": "Both tracks are judged by the EER; recorded sound is the target, and every "
    "non-target is generated.",
    "CNSRC": "The retrieval task is judged by mean average precision, which is not here.",
}


def _preset(name: str, title: str, points: tuple[Any, ...], **details: Any) -> EvaluationPlan:
    """Make a plan, with its source and its notes."""
    return EvaluationPlan(
        name=name,
        title=title,
        operating_points=points,
        source=_SOURCES.get(name, ""),
        notes=_NOTES.get(name, ()),
        **details,
    )


# Costs of a miss and of a false alarm are 10 and 1 in SRE08 and SdSV.
_COSTLY_MISS = OperatingPoint(0.01, c_miss=10, c_fa=1)
# The prior of spoofs is 0.05, and to accept one costs ten times as much as a rejection.
_RARE_SPOOF = OperatingPoint(0.95, c_miss=1, c_fa=10)
_COSTLY_ALARM = OperatingPoint(0.5, c_miss=1, c_fa=100)

_SRE18_CMN2 = _preset(
    "SRE18-CMN2",
    "NIST SRE 2018, telephone (Call My Net 2)",
    (0.01, 0.005),
    factors=_CMN2_FACTORS,
    select={"data_source": "cmn2"},
)
_SRE18_VAST = _preset(
    "SRE18-VAST",
    "NIST SRE 2018, sound of internet video (VAST)",
    (0.05,),
    select={"data_source": "vast"},
)
_SRE18 = _preset(
    "SRE18", "NIST SRE 2018, mean over both data sets", (), parts=(_SRE18_CMN2, _SRE18_VAST)
)

_SRE10 = "NIST SRE 2010, core and extended tests"
_SRE19 = "NIST SRE 2019, telephone challenge"
_VOXSRC = "VoxCeleb Speaker Recognition Challenge 2020-2023"
_SDSV = "Short-duration Speaker Verification Challenge 2020, 2021"
_ASVSPOOF5 = "ASVspoof 5 challenge, track 1: detection of spoofs"
_ROBUST = "ASVspoof 5 challenge, track 2: spoofing-robust speaker verification"
_SASV = "Spoofing-Aware Speaker Verification Challenge 2022"
_EERS_OF_SPOOFS = ("sv_eer", "spf_eer", "sasv_eer")
_A_DCF: dict[str, Any] = {
    "figures": ("a_dcf", "act_a_dcf", *_EERS_OF_SPOOFS),
    "spoof_costs": "ASVspoof5",
    "eer": "step",
}
_LA19 = "ASVspoof 2019 challenge, logical access: verifier and countermeasure in tandem"
_LA21 = "ASVspoof 2021 challenge, logical access: verifier and countermeasure in tandem"
# What the kits of ASVspoof and SASV compute.
_STEP: dict[str, Any] = {"eer": "step"}
_TANDEM: dict[str, Any] = {"figures": ("min_t_dcf", "cm_eer"), "spoof_costs": "ASVspoof5", **_STEP}
_WILD = "WildSpoof Challenge 2026, spoofing-robust speaker verification"
_ESDD = "Environmental Sound Deepfake Detection Challenge 2026"
_CNSRC = "CN-Celeb Speaker Recognition Challenge 2022, verification"
_IVECTOR = "NIST i-vector machine learning challenge 2013-2014"
_BY_MINIMUM = {"ranked_by": "minimum"}

# What stands for no attack; trials whose kind is not known have it, too.
_BONA_FIDE = ("bonafide", "bona-fide", "-", "")


def _attacks(first: int, last: int) -> dict[str, Any]:
    return {"attacks": [f"A{number:02}" for number in range(first, last + 1)]}


# Attacks of training and dev, then those of eval; the data of 2021 and of SASV are those of 2019.
_LA19_ATTACKS, _LA21_ATTACKS, _ATTACKS5 = _attacks(1, 19), _attacks(7, 19), _attacks(1, 32)
_OF_LA19: dict[str, Any] = {"tandem_form": "legacy", **_TANDEM, **_LA19_ATTACKS}
_OF_SASV: dict[str, Any] = {"figures": _EERS_OF_SPOOFS, **_STEP, **_LA19_ATTACKS}

PLANS = PlanCollection(
    (
        _preset("SRE08", "NIST SRE 2008", (_COSTLY_MISS,), by_condition=True),
        _preset("SRE10", _SRE10, (0.001,), by_condition=True),
        _preset("SRE12", "NIST SRE 2012", (0.01, 0.001), factors=(_KNOWN_SPEAKER,)),
        _preset("IVECTOR14", _IVECTOR, (_COSTLY_ALARM,), **_BY_MINIMUM),
        _preset("SRE16", "NIST SRE 2016", (0.01, 0.005), factors=_SRE16_FACTORS),
        _SRE18_CMN2,
        _SRE18_VAST,
        _SRE18,
        _preset("SRE19-CTS", _SRE19, (0.01, 0.005), factors=_CMN2_FACTORS),
        _preset("SRE19-AV", "NIST SRE 2019, audio-visual", (0.05,)),
        _preset("SRE20-CTS", "NIST 2020 CTS challenge", (0.05,)),
        _preset("SRE21", "NIST SRE 2021", (0.01, 0.05), factors=_MATCH_FACTORS),
        _preset("SRE24", "NIST SRE 2024", (0.01, 0.05), factors=_MATCH_FACTORS),
        _preset("VoxSRC", _VOXSRC, (0.05,), eer="interpolated", **_BY_MINIMUM),
        _preset("SdSV", _SDSV, (_COSTLY_MISS,), **_BY_MINIMUM),
        _preset("ASVspoof2019-LA", _LA19, (), **_OF_LA19, **_BY_MINIMUM),
        _preset("ASVspoof2021-LA", _LA21, (), **_TANDEM, **_LA21_ATTACKS, **_BY_MINIMUM),
        _preset("ASVspoof5-1", _ASVSPOOF5, (_RARE_SPOOF,), **_STEP, **_BY_MINIMUM),
        _preset("ASVspoof5-2", _ROBUST, (), **_A_DCF, **_ATTACKS5, **_BY_MINIMUM),
        _preset("SASV2022", _SASV, (), **_OF_SASV, **_BY_MINIMUM),
        _preset("WildSpoof", _WILD, (), sets="dataset", **_A_DCF, **_BY_MINIMUM),
        _preset("ESDD", _ESDD, (), figures=("cm_eer",), **_BY_MINIMUM),
        _preset("CNSRC", _CNSRC, (0.01,), **_BY_MINIMUM),
    )
)


def plan_of_two_classes(plan: object) -> EvaluationPlan:
    """Return a plan that has a primary cost; one of three classes is an error."""
    chosen = find_plan(plan)
    if chosen.figures:
        hint = f"evaluate(..., plan={chosen.name!r}) gives its figures."
        raise invalid("plan", "have a primary cost of two classes", repr(chosen.name), hint)
    return chosen


def refuse_spoofs(key: Key, plan: EvaluationPlan | None) -> None:
    """Raise if a key has spoofs, and a plan does not know the third class."""
    if key.n_spoof and (plan is None or not plan.figures):
        hint = 'For instance "ASVspoof5-2". Without spoofs judge key.bona_fide().'
        got = f"{'none' if plan is None else plan.name}, and {key.n_spoof} spoofs"
        raise invalid("plan", "be one of three classes where trials are spoofs", got, hint)


def warn_of_attacks(plan: EvaluationPlan, key: Key) -> None:
    """Warn of spoofs by attacks that the data of a plan do not have: they are of another one."""
    if not plan.attacks or "attack" not in key.columns:
        return
    attack = key.columns.factor("attack")
    found = attack.codes[key.labels == -2] if key.n_spoof else attack.codes
    used = attack.levels[np.unique(found)].tolist()
    strange = [name for name in used if name not in (*plan.attacks, *_BONA_FIDE)]
    if strange:
        n_trials = int(np.isin(attack.values(), strange).sum())
        message = (
            f"{n_trials} trials are of attacks that the data of {plan.name} do not have "
            f"({list_some(strange)}): these are {plan.attacks[0]} to {plan.attacks[-1]}."
        )
        warn_caller(message, UncertainPlanWarning, "Is it the plan of these data?")


def find_plan(plan: object) -> EvaluationPlan:
    """Return a plan given by itself or by its name."""
    if isinstance(plan, EvaluationPlan):
        return plan
    if not isinstance(plan, str):
        raise invalid("plan", "be the name of a plan or an EvaluationPlan", describe(plan))
    return PLANS[plan]
