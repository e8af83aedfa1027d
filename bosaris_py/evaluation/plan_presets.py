"""The plans of known evaluations, as data."""

from typing import Any

from bosaris_py._validation import describe, invalid
from bosaris_py.evaluation.plans import EvaluationPlan, PartitionFactor, PlanCollection
from bosaris_py.numerics.priors import OperatingPoint

_GENDER = PartitionFactor("gender", ("male", "female"))
_ENROLMENT = PartitionFactor("num_enroll_segs", ("1", "3"))
# Non-target trials from the same telephone number do not count.
_PHONE = PartitionFactor("phone_num_match", ("Y", "N"), target_only=("Y",))
_CMN2_FACTORS = (_ENROLMENT, _PHONE, _GENDER, PartitionFactor("source_type", ("pstn", "voip")))
_MATCH_FACTORS = (
    _GENDER,
    PartitionFactor("source_type_match", ("Y", "N")),
    PartitionFactor("language_match", ("Y", "N")),
)
_KNOWN_SPEAKER = PartitionFactor(
    "nontarget_speaker", ("known", "unknown"), classes="non", weights=(0.5, 0.5)
)

_NIST_SCORER = "NIST SRE scoring software"
_SCORER_SOURCE = f"{_NIST_SCORER}, version 4.3 of SRE18"
_HYPERION = "Hyperion recipe, https://github.com/hyperion-ml/hyperion"
_COMMON_CONDITIONS = (
    "The plan judges each common condition by itself. Give them as `conditions`: they are the "
    "partitions of the result, and the overall cost, which the plan does not have, equalises them."
)


def _preset(
    name: str,
    title: str,
    points: tuple[float | OperatingPoint, ...],
    evidence: str,
    source: str,
    **details: Any,
) -> EvaluationPlan:
    """Make a plan; `evidence` grades first its operating points, then its partitions."""
    return EvaluationPlan(
        name=name,
        title=title,
        operating_points=points,
        points_evidence=evidence[0],
        partitions_evidence=evidence[1],
        source=source,
        **details,
    )


_SRE18_CMN2 = _preset(
    "SRE18-CMN2",
    "NIST SRE 2018, telephone (Call My Net 2)",
    (0.01, 0.005),
    "VV",
    _SCORER_SOURCE,
    factors=_CMN2_FACTORS,
    select={"data_source": "cmn2"},
    official_scorer=_NIST_SCORER,
)

_SRE18_VAST = _preset(
    "SRE18-VAST",
    "NIST SRE 2018, sound of internet video (VAST)",
    (0.05,),
    "VV",
    _SCORER_SOURCE,
    select={"data_source": "vast"},
    official_scorer=_NIST_SCORER,
)

PLANS = PlanCollection(
    (
        _preset(
            "SRE08",
            "NIST SRE 2008",
            (OperatingPoint(0.01, c_miss=10, c_fa=1),),
            "VV",
            "NIST Year 2008 Speaker Recognition Evaluation Plan",
            notes=_COMMON_CONDITIONS,
        ),
        _preset(
            "SRE10",
            "NIST SRE 2010, core and extended tests",
            (0.001,),
            "VV",
            "NIST Year 2010 Speaker Recognition Evaluation Plan, "
            "https://fdocuments.in/document/nist-sre-2010-plan-de-evaluacion.html",
            notes=_COMMON_CONDITIONS,
        ),
        _preset(
            "SRE12",
            "NIST SRE 2012",
            (0.01, 0.001),
            "VM",
            "NIST Year 2012 Speaker Recognition Evaluation Plan, https://pdfslide.net/documents/"
            "the-nist-year-2012-speaker-recognition-evaluation-plan-2015-08-27-the-nist.html",
            factors=(_KNOWN_SPEAKER,),
            notes=(
                "P_fa = P_known P_fa(known) + (1 - P_known) P_fa(unknown), with P_known = 0.5; "
                "a column `nontarget_speaker` must say of each non-target whether its speaker is "
                "known or unknown to the system.",
                "Each common condition is judged by itself: select its trials first.",
            ),
        ),
        _preset(
            "IVECTOR14",
            "NIST i-vector machine learning challenge 2013-2014",
            (OperatingPoint(0.5, c_miss=1, c_fa=100),),
            "VV",
            "NIST i-vector Machine Learning Challenge: min(P_miss + 100 P_fa)",
            ranked_by="minimum",
            notes="The challenge gives the factor 100, not a prior; only their product matters.",
        ),
        _preset(
            "SRE16",
            "NIST SRE 2016",
            (0.01, 0.005),
            "VM",
            "NIST 2016 Speaker Recognition Evaluation Plan",
            factors=(PartitionFactor("language"), PartitionFactor("gender"), _ENROLMENT, _PHONE),
            official_scorer=_NIST_SCORER,
            notes="Gender and language are not in the trial key but in other tables of the corpus; "
            "add them as columns.",
        ),
        _SRE18_CMN2,
        _SRE18_VAST,
        _preset(
            "SRE18",
            "NIST SRE 2018, mean over both data sets",
            (),
            "VV",
            _SCORER_SOURCE,
            parts=(_SRE18_CMN2, _SRE18_VAST),
            official_scorer=_NIST_SCORER,
        ),
        _preset(
            "SRE19-CTS",
            "NIST SRE 2019, telephone challenge",
            (0.01, 0.005),
            "VV",
            _HYPERION,
            factors=_CMN2_FACTORS,
            official_scorer=_NIST_SCORER,
            notes="The key's column `test_set` tells trials of the progress set, prog, from those "
            "of the evaluation, eval; evolve(select={'test_set': 'eval'}) judges the latter.",
        ),
        _preset(
            "SRE19-AV",
            "NIST SRE 2019, audio-visual",
            (0.05,),
            "SS",
            _HYPERION,
            official_scorer=_NIST_SCORER,
            notes="Sources disagree whether trials are pooled, as here, or divided by gender.",
        ),
        _preset(
            "SRE20-CTS",
            "NIST 2020 CTS challenge",
            (0.05,),
            "SS",
            _HYPERION,
            notes="The challenge's server divides the trials into subsets that were never "
            "published; here they are pooled.",
        ),
        _preset(
            "SRE21",
            "NIST SRE 2021",
            (0.01, 0.05),
            "SM",
            "NIST 2021 Speaker Recognition Evaluation Plan, https://www.readkong.com/page/"
            "nist-2021-speaker-recognition-evaluation-plan-6906130; " + _HYPERION,
            factors=_MATCH_FACTORS,
            official_scorer=_NIST_SCORER,
            notes="Sources disagree on further partitions: Hyperion divides the trials of the "
            "audio track, not of the audio-visual one, by phone_num_match as well.",
        ),
        _preset(
            "SRE24",
            "NIST SRE 2024",
            (0.01, 0.05),
            "SS",
            "NIST 2024 Speaker Recognition Evaluation Plan, among the documents of 2024-06-11 "
            "on nist.gov; " + _HYPERION,
            factors=_MATCH_FACTORS,
            official_scorer=_NIST_SCORER,
        ),
        _preset(
            "VoxSRC",
            "VoxCeleb Speaker Recognition Challenge 2019-2023",
            (0.05,),
            "VV",
            "VoxSRC 2023 kit, https://github.com/JaesungHuh/VoxSRC2023",
            ranked_by="minimum",
            notes="The EER is the second figure.",
        ),
        _preset(
            "SdSV",
            "Short-duration Speaker Verification Challenge 2020, 2021",
            (OperatingPoint(0.01, c_miss=10, c_fa=1),),
            "SS",
            "SdSV Challenge 2020: Large-Scale Evaluation of Short-Duration Speaker Verification, "
            "https://www.readkong.com/page/sdsv-challenge-2020-large-scale-evaluation-of-6729108",
            ranked_by="minimum",
        ),
        _preset(
            "CNSRC",
            "CN-Celeb Speaker Recognition Challenge 2022, verification",
            (0.01,),
            "SS",
            "https://aishelltech.com/CNSRC_2022; WeSpeaker recipe of CN-Celeb",
            ranked_by="minimum",
            notes="The retrieval task is judged by mean average precision, which is not here.",
        ),
    )
)


def find_plan(plan: object) -> EvaluationPlan:
    """Return a plan given by itself or by its name."""
    if isinstance(plan, EvaluationPlan):
        return plan
    if not isinstance(plan, str):
        raise invalid("plan", "be the name of a plan or an EvaluationPlan", describe(plan))
    return PLANS[plan]
