"""All text formats by name."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from bosaris_py._validation import describe, invalid
from bosaris_py.storage.formats import asvspoof, bob, csv, kaldi, nist, sdsv, toolkits, voxceleb
from bosaris_py.storage.formats.trial_format import TrialFormat

__all__ = ["FORMATS", "find_format"]


def _by_name(formats: Iterable[TrialFormat]) -> Mapping[str, TrialFormat]:
    return MappingProxyType({item.name: item for item in formats})


FORMATS = _by_name(
    (
        *nist.FORMATS,
        *kaldi.FORMATS,
        *voxceleb.FORMATS,
        *toolkits.FORMATS,
        *sdsv.FORMATS,
        *asvspoof.FORMATS,
        *bob.FORMATS,
        *csv.FORMATS,
    )
)


def find_format(name: str, owner: str) -> TrialFormat:
    """Return a format by name, or say which there are."""
    if not isinstance(name, str):
        raise invalid("format", owner, "be a name", describe(name))
    found = FORMATS.get(name)
    if found is None:
        raise invalid("format", owner, f"be one of {', '.join(FORMATS)}", describe(name))
    return found
