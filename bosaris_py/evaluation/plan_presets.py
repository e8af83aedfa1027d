"""The plans of known evaluations."""

from bosaris_py._validation import describe, invalid
from bosaris_py.evaluation.plans import EvaluationPlan, PartitionFactor, PlanCollection
from bosaris_py.numerics.priors import OperatingPoint

_NIST_SCORER = "NIST SRE scoring software"

_SCORER_SOURCE = f"{_NIST_SCORER}, version 4.3 of SRE18"

_SRE10_PLAN = (
    "NIST Year 2010 Speaker Recognition Evaluation Plan, "
    "https://fdocuments.in/document/nist-sre-2010-plan-de-evaluacion.html"
)

_HYPERION = "Hyperion recipe, https://github.com/hyperion-ml/hyperion"

_GENDER = PartitionFactor("gender", ("male", "female"))

_ENROLMENT = PartitionFactor("num_enroll_segs", ("1", "3"))

# Non-target trials from the same telephone number do not count.
_PHONE = PartitionFactor("phone_num_match", ("Y", "N"), target_only=("Y",))

_SOURCE_TYPE = PartitionFactor("source_type", ("pstn", "voip"))

_SOURCE_MATCH = PartitionFactor("source_type_match", ("Y", "N"))

_LANGUAGE_MATCH = PartitionFactor("language_match", ("Y", "N"))

_CMN2_FACTORS = (_ENROLMENT, _PHONE, _GENDER, _SOURCE_TYPE)

_COMMON_CONDITIONS = (
    "The plan judges each common condition by itself. Give them as `conditions`: they are the "
    "partitions of the result, and the overall cost, which the plan does not have, equalises them."
)

_SRE18_CMN2 = EvaluationPlan(
    name="SRE18-CMN2",
    title="NIST SRE 2018, telephone (Call My Net 2)",
    operating_points=(0.01, 0.005),
    factors=_CMN2_FACTORS,
    select={"data_source": "cmn2"},
    official_scorer=_NIST_SCORER,
    points_evidence="V",
    partitions_evidence="V",
    source=_SCORER_SOURCE,
)

_SRE18_VAST = EvaluationPlan(
    name="SRE18-VAST",
    title="NIST SRE 2018, sound of internet video (VAST)",
    operating_points=(0.05,),
    select={"data_source": "vast"},
    official_scorer=_NIST_SCORER,
    points_evidence="V",
    partitions_evidence="V",
    source=_SCORER_SOURCE,
)

PLANS = PlanCollection(
    (
        EvaluationPlan(
            name="SRE08",
            title="NIST SRE 2008",
            operating_points=(OperatingPoint(0.01, c_miss=10, c_fa=1),),
            points_evidence="V",
            partitions_evidence="V",
            source="NIST Year 2008 Speaker Recognition Evaluation Plan",
            notes=(_COMMON_CONDITIONS,),
        ),
        EvaluationPlan(
            name="SRE10",
            title="NIST SRE 2010, core and extended tests",
            operating_points=(0.001,),
            points_evidence="V",
            partitions_evidence="V",
            source=_SRE10_PLAN,
            notes=(_COMMON_CONDITIONS,),
        ),
        EvaluationPlan(
            name="SRE12",
            title="NIST SRE 2012",
            operating_points=(0.01, 0.001),
            factors=(
                PartitionFactor(
                    "nontarget_speaker", ("known", "unknown"), classes="non", weights=(0.5, 0.5)
                ),
            ),
            points_evidence="V",
            partitions_evidence="M",
            source=(
                "NIST Year 2012 Speaker Recognition Evaluation Plan, https://pdfslide.net/documents/"
                "the-nist-year-2012-speaker-recognition-evaluation-plan-2015-08-27-the-nist.html"
            ),
            notes=(
                "P_fa = P_known P_fa(known) + (1 - P_known) P_fa(unknown), with P_known = 0.5; "
                "a column `nontarget_speaker` must say of each non-target whether its speaker is "
                "known or unknown to the system.",
                "Each common condition is judged by itself: select its trials first.",
            ),
        ),
        EvaluationPlan(
            name="IVECTOR14",
            title="NIST i-vector machine learning challenge 2013-2014",
            operating_points=(OperatingPoint(0.5, c_miss=1, c_fa=100),),
            ranked_by="minimum",
            points_evidence="V",
            partitions_evidence="V",
            source="NIST i-vector Machine Learning Challenge: min(P_miss + 100 P_fa)",
            notes=("The challenge gives the factor 100, not a prior; only their product matters.",),
        ),
        EvaluationPlan(
            name="SRE16",
            title="NIST SRE 2016",
            operating_points=(0.01, 0.005),
            factors=(PartitionFactor("language"), PartitionFactor("gender"), _ENROLMENT, _PHONE),
            official_scorer=_NIST_SCORER,
            points_evidence="V",
            partitions_evidence="M",
            source="NIST 2016 Speaker Recognition Evaluation Plan",
            notes=(
                "Gender and language are not in the trial key but in other tables of the corpus; "
                "add them as columns.",
            ),
        ),
        _SRE18_CMN2,
        _SRE18_VAST,
        EvaluationPlan(
            name="SRE18",
            title="NIST SRE 2018, mean over both data sets",
            parts=(_SRE18_CMN2, _SRE18_VAST),
            official_scorer=_NIST_SCORER,
            points_evidence="V",
            partitions_evidence="V",
            source=_SCORER_SOURCE,
        ),
        EvaluationPlan(
            name="SRE19-CTS",
            title="NIST SRE 2019, telephone challenge",
            operating_points=(0.01, 0.005),
            factors=_CMN2_FACTORS,
            official_scorer=_NIST_SCORER,
            points_evidence="V",
            partitions_evidence="V",
            source=_HYPERION,
            notes=(
                "The key's column `test_set` tells trials of the progress set, prog, from those of "
                "the evaluation, eval; evolve(select={'test_set': 'eval'}) judges the latter.",
            ),
        ),
        EvaluationPlan(
            name="SRE19-AV",
            title="NIST SRE 2019, audio-visual",
            operating_points=(0.05,),
            official_scorer=_NIST_SCORER,
            points_evidence="S",
            partitions_evidence="S",
            source=_HYPERION,
            notes=("Sources disagree whether trials are pooled, as here, or divided by gender.",),
        ),
        EvaluationPlan(
            name="SRE20-CTS",
            title="NIST 2020 CTS challenge",
            operating_points=(0.05,),
            points_evidence="S",
            partitions_evidence="S",
            source=_HYPERION,
            notes=(
                "The challenge's server divides the trials into subsets that were never "
                "published; here they are pooled.",
            ),
        ),
        EvaluationPlan(
            name="SRE21",
            title="NIST SRE 2021",
            operating_points=(0.01, 0.05),
            factors=(_GENDER, _SOURCE_MATCH, _LANGUAGE_MATCH),
            official_scorer=_NIST_SCORER,
            points_evidence="S",
            partitions_evidence="M",
            source=(
                "NIST 2021 Speaker Recognition Evaluation Plan, https://www.readkong.com/page/"
                "nist-2021-speaker-recognition-evaluation-plan-6906130; " + _HYPERION
            ),
            notes=(
                "Sources disagree on further partitions: Hyperion divides the trials of the audio "
                "track, not of the audio-visual one, by phone_num_match as well.",
            ),
        ),
        EvaluationPlan(
            name="SRE24",
            title="NIST SRE 2024",
            operating_points=(0.01, 0.05),
            factors=(_GENDER, _SOURCE_MATCH, _LANGUAGE_MATCH),
            official_scorer=_NIST_SCORER,
            points_evidence="S",
            partitions_evidence="S",
            source=(
                "NIST 2024 Speaker Recognition Evaluation Plan, among the documents of 2024-06-11 "
                "on nist.gov; " + _HYPERION
            ),
        ),
        EvaluationPlan(
            name="VoxSRC",
            title="VoxCeleb Speaker Recognition Challenge 2019-2023",
            operating_points=(0.05,),
            ranked_by="minimum",
            points_evidence="V",
            partitions_evidence="V",
            source="VoxSRC 2023 kit, https://github.com/JaesungHuh/VoxSRC2023",
            notes=("The EER is the second figure.",),
        ),
        EvaluationPlan(
            name="SdSV",
            title="Short-duration Speaker Verification Challenge 2020, 2021",
            operating_points=(OperatingPoint(0.01, c_miss=10, c_fa=1),),
            ranked_by="minimum",
            points_evidence="S",
            partitions_evidence="S",
            source=(
                "SdSV Challenge 2020: Large-Scale Evaluation of Short-Duration Speaker "
                "Verification, https://www.readkong.com/page/"
                "sdsv-challenge-2020-large-scale-evaluation-of-6729108"
            ),
        ),
        EvaluationPlan(
            name="CNSRC",
            title="CN-Celeb Speaker Recognition Challenge 2022, verification",
            operating_points=(0.01,),
            ranked_by="minimum",
            points_evidence="S",
            partitions_evidence="S",
            source="https://aishelltech.com/CNSRC_2022; WeSpeaker recipe of CN-Celeb",
            notes=("The retrieval task is judged by mean average precision, which is not here.",),
        ),
    )
)


def find_plan(plan: object) -> EvaluationPlan:
    """Return a plan given by itself or by its name.

    Parameters
    ----------
    plan : EvaluationPlan or str
        A plan, or the name of one in `PLANS`.

    Returns
    -------
    EvaluationPlan
    """
    if isinstance(plan, EvaluationPlan):
        return plan
    if not isinstance(plan, str):
        expected = "be the name of a plan or an EvaluationPlan"
        raise invalid("plan", expected, describe(plan))
    return PLANS[plan]
