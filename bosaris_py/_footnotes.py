"""Signs at the figures of a table that cautions concern, and footnotes that explain the signs."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import attrs

from bosaris_py._cautions import Caution, cautions
from bosaris_py._tables import Table, WithInterval, joined_notes, text_table
from bosaris_py.errors import (
    ConditionWarning,
    DegenerateReplicatesWarning,
    FewErrorsWarning,
    FewSpeakersWarning,
    MissingTrialsWarning,
    SuspectScoresWarning,
    UncertainPlanWarning,
)
from bosaris_py.numerics.roc import FEWEST_ERRORS

# The sign of what cautions of each kind are about; all others have the last one.
_SIGNS: dict[type[Warning], str] = {
    FewSpeakersWarning: "*",
    FewErrorsWarning: "+",
    SuspectScoresWarning: "#",
    DegenerateReplicatesWarning: "~",
    Warning: "^",
}

# What cautions mean of which there is nothing to count.
_MEANINGS: dict[type[Warning], str] = {
    SuspectScoresWarning: "scores are hardly log-likelihood-ratios",
    MissingTrialsWarning: "trials without a score do not count",
    ConditionWarning: "a condition of one class has no metrics",
    UncertainPlanWarning: "the cost may not be the published one",
}

Asked = ParamSpec("Asked")
Made = TypeVar("Made", bound="AnnotatedTable")


class AnnotatedTable(Table):
    """A table with footnotes for the cautions that were given while it was made."""

    __slots__ = ()

    cautions: tuple[Caution, ...]

    @property
    def footnotes(self) -> list[str]:
        """What the signs in the table mean."""
        lines = []
        for kind, sign in _SIGNS.items():
            if found := self._of_kind(kind):
                lines.append(f"{sign} {_words_of(kind, found)}")
        return lines

    @property
    @abc.abstractmethod
    def facts(self) -> str:
        """What the figures are, in words."""

    @property
    def _note(self) -> str:
        return joined_notes(self.facts, *self.footnotes)

    @property
    def _below(self) -> list[str]:
        return [f"({self.facts})", *self.footnotes]

    @abc.abstractmethod
    def _plain_texts(self) -> list[list[str]]:
        """Return the printed cells without signs: the head, then the rows."""

    @abc.abstractmethod
    def _concerned(self, caution: Caution, heads: Sequence[str]) -> Iterable[tuple[int, int]]:
        """Return row and column, both from 0, of the cells that a caution concerns."""

    def _texts(self) -> list[list[str]]:
        lines = self._plain_texts()
        for (number, column), sign in self._signs(lines[0]).items():
            cell = lines[number + 1][column]
            if isinstance(cell, WithInterval):
                value, interval = cell.parts
                lines[number + 1][column] = WithInterval(value, interval + sign)
            else:
                lines[number + 1][column] = cell + sign
        return lines

    def _laid_out(self, rules: Sequence[int] = (1,)) -> str:
        """Return the table alone, as text."""
        lines = self._plain_texts()
        signs = self._signs(lines[0])
        # Digits stay below digits, with a sign or without.
        for column in {column for _, column in signs}:
            width = max(len(sign) for (_, where), sign in signs.items() if where == column)
            for number, line in enumerate(lines[1:]):
                line[column] += signs.get((number, column), "").ljust(width)
            if column not in self._left:
                lines[0][column] += " " * width
        return "\n".join(map(str.rstrip, text_table(lines, left=self._left, rules=rules)))

    def _signs(self, heads: Sequence[str]) -> Mapping[tuple[int, int], str]:
        found: dict[tuple[int, int], dict[str, None]] = {}
        for kind, sign in _SIGNS.items():
            for caution in self._of_kind(kind):
                for cell in self._concerned(caution, heads):
                    found.setdefault(cell, {})[sign] = None
        return {where: "".join(signs) for where, signs in found.items()}

    def _of_kind(self, kind: type[Warning]) -> list[Caution]:
        """Return the cautions whose category has the sign of a kind."""
        return [
            caution
            for caution in self.cautions
            if (caution.category if caution.category in _SIGNS else Warning) is kind
        ]


def annotated(call: Callable[Asked, Made]) -> Callable[Asked, Made]:
    """Let a function give its warnings at the end, and keep them with the table it returns."""

    @functools.wraps(call)
    def annotate(*args: Asked.args, **kwargs: Asked.kwargs) -> Made:
        with cautions() as heard:
            table = call(*args, **kwargs)
        changed: Any = attrs.evolve(table, cautions=tuple(heard))  # type: ignore[misc]
        return changed  # type: ignore[no-any-return]

    return annotate


def _words_of(kind: type[Warning], found: Sequence[Caution]) -> str:
    """Say what cautions of a kind mean for figures, with the least and the largest count."""
    counts = [caution.count for caution in found if caution.count is not None]
    ends = [f"{end(counts):.2g} " for end in (min, max)] if counts else []
    range_ = "to ".join(dict.fromkeys(ends))
    if kind is FewSpeakersWarning:
        few = [f"{range_}effective speakers"] if counts else []
        few += ["one speaker makes most of the variance"] if len(counts) < len(found) else []
        return f"{' or '.join(few)}: interval approximate"
    if kind is FewErrorsWarning:
        return f"{range_}errors of a class, fewer than {FEWEST_ERRORS}: rates approximate"
    if kind is DegenerateReplicatesWarning:
        return f"no value in {range_}of the replicates"
    meanings = (_MEANINGS.get(caution.category, "see the cautions") for caution in found)
    return ", ".join(dict.fromkeys(meanings))
