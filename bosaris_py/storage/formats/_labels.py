"""Words of labels as classes of trials."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import describe, invalid, list_some
from bosaris_py.errors import FileFormatError
from bosaris_py.storage._tokens import LineNumbers, show
from bosaris_py.storage.formats._collectors import CodeColumn
from bosaris_py.storage.formats.trial_format import VOCABULARIES, TrialClass, Vocabulary

__all__ = ["LabelReader", "Labels", "as_vocabularies", "classes_after_policy"]

Labels = Mapping[str, bool | str | None]

# A column with more other words is no column of labels, so the rest need not be read.
_STRANGERS_ENOUGH = 20
_TOLD = {
    True: TrialClass.TARGET,
    False: TrialClass.NONTARGET,
    "target": TrialClass.TARGET,
    "nontarget": TrialClass.NONTARGET,
    "spoof": TrialClass.SPOOF,
    None: TrialClass.DROPPED,
}


def as_vocabularies(
    labels: Labels | None, usual: tuple[Vocabulary, ...], owner: str
) -> tuple[Vocabulary, ...]:
    """Return the words that the caller tells, or the usual ones."""
    if labels is None:
        return usual
    if not isinstance(labels, Mapping):
        raise invalid("labels", owner, "be a mapping of words", describe(labels))
    if not labels:
        expected = 'map words to True, False, "spoof" or None'
        raise invalid("labels", owner, expected, describe(labels))
    classes = {}
    for word, meaning in labels.items():
        # 1 == True, but whoever writes 1 may mean the word.
        is_told = meaning is None or isinstance(meaning, (bool, str))
        if not is_told or meaning not in _TOLD:
            expected = 'map each word to True, False, "spoof" or None (to leave the line out)'
            raise invalid("labels", owner, expected, f"{meaning!r} for {word!r}")
        classes[str(word).lower()] = _TOLD[meaning]
    return (Vocabulary("|".join(classes), classes),)


@attrs.define(eq=False)
class LabelReader:
    """The column of labels of a file."""

    column: CodeColumn
    vocabularies: Sequence[Vocabulary]

    def add(self, block: Any, numbers: LineNumbers) -> None:
        """Take the labels of a block; raise if these cannot be labels."""
        self.column.add(block)
        known: set[str] = set().union(*(words.classes for words in self.vocabularies))
        if len(self.column.ids) > _STRANGERS_ENOUGH + len(known):
            raise self._error(known, numbers)

    def words(self) -> list[str]:
        """Return the words in the order of their codes, in lower case."""
        return [name.decode(errors="replace").lower() for name in self.column.ids.ids]

    def classes(self, numbers: LineNumbers) -> npt.NDArray[np.uint8]:
        """Return the class of each line.

        Raises
        ------
        FileFormatError
            If a word is not known, or two ways of writing labels are mixed.
        """
        words = self.words()
        chosen = next((item for item in self.vocabularies if set(words) <= set(item.classes)), None)
        if chosen is None:
            overlaps = [len(set(words) & set(item.classes)) for item in self.vocabularies]
            best = self.vocabularies[int(np.argmax(overlaps))]
            raise self._error(set(best.classes), numbers)
        of_code = np.array([chosen.classes[word] for word in words], dtype=np.uint8)
        classes: npt.NDArray[np.uint8] = of_code[self.column.codes()]
        return classes

    def _error(self, known: set[str], numbers: LineNumbers) -> FileFormatError:
        """Return the error that lists the words that are not known."""
        codes = self.column.codes()
        counts = np.bincount(codes, minlength=len(self.column.ids.ids))
        words = self.words()
        strangers = [code for code, word in enumerate(words) if word not in known]
        present, lines = np.unique(codes, return_index=True)
        firsts = dict(zip(present.tolist(), lines.tolist(), strict=True))
        in_order = sorted(strangers, key=firsts.__getitem__)[:_STRANGERS_ENOUGH]
        found = list_some(
            f"{show(self.column.ids.ids[code])} ({_lines(int(counts[code]))}, first "
            f"{numbers[firsts[code]]})"
            for code in in_order
        )
        expected = " or ".join(item.name for item in self.vocabularies)
        text = f"labels must be {expected}; found {found}"
        found_words = {words[code] for code in strangers}
        others = [item.name for item in VOCABULARIES if found_words <= set(item.classes)]
        if others and others[0] not in expected:
            text += f". These look like {others[0]}: is it another format?"
        elif all(map(_is_number, found_words)):
            text += ". Are these scores?"
        else:
            text += ". Words of your own are told by `labels`"
        return numbers.error(firsts[in_order[0]], text)


def _lines(count: int) -> str:
    """Return a number of lines in words."""
    return "1 line" if count == 1 else f"{count} lines"


def _is_number(word: str) -> bool:
    """Tell whether a word looks like a score."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def classes_after_policy(
    classes: npt.NDArray[np.uint8], spoof: str, numbers: LineNumbers
) -> npt.NDArray[np.uint8]:
    """Make of spoofs what the caller wants."""
    is_spoof = classes == TrialClass.SPOOF
    if not is_spoof.any():
        return classes
    if spoof == "error":
        text = (
            f"the trial is a spoof ({_lines(int(np.count_nonzero(is_spoof)))} in all), neither "
            'target nor non-target; pass spoof="nontarget" or spoof="drop"'
        )
        raise numbers.error(int(np.argmax(is_spoof)), text)
    meaning = TrialClass.NONTARGET if spoof == "nontarget" else TrialClass.DROPPED
    return np.where(is_spoof, np.uint8(meaning), classes)
