"""Trial lists of the Short-duration and Text-dependent Speaker Verification challenges."""

from bosaris_py.storage.formats.trial_format import MODEL, SEGMENT, TrialFormat

__all__ = ["FORMATS"]

FORMATS = (
    TrialFormat(
        name="sdsv-trials",
        description="model segment below a header that begins with model-id: SdSVC, TdSVC",
        variants=((MODEL, SEGMENT),),
        first_word="model-id",
        first_line="model-id evaluation-file-id",
    ),
)
