"""Each figure that a caution concerns has a sign, which a footnote explains, in every form."""

from collections.abc import Sequence

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py._notes import Caution
from bosaris_py._tables import AnnotatedTable
from bosaris_py.errors import FewErrorsWarning, FewSpeakersWarning
from bosaris_py.trials.conditions import as_conditions
from tests.forms import described


@attrs.frozen
class Rates(AnnotatedTable):
    """Two figures, the first of which every caution concerns."""

    cautions: tuple[Caution, ...]
    facts: str = "rates"

    def records(self) -> list[dict[str, str]]:
        return []

    def _plain_texts(self) -> list[list[str]]:
        return [["name", "rate"], ["a", "1.00"], ["b", "22.00"]]

    def _concerned(self, caution: Caution, heads: Sequence[str]) -> list[tuple[int, int]]:
        return [(0, 1)]


SPEAKERS = [f"p{i}" for i in range(12)]


@pytest.fixture(scope="module")
def trials() -> tuple[dict[str, bp.Scores], bp.Key, bp.Conditions]:
    """Two systems for two utterances each of twelve speakers, in two blocks of segments."""
    rng = np.random.default_rng(5)
    segments = [f"{name}-{take}" for name in SPEAKERS for take in (0, 1)]
    same = np.array([[s.startswith(f"{m}-") for s in segments] for m in SPEAKERS])
    key = bp.Key(SPEAKERS, segments, same, ~same)
    habits = rng.normal(size=(12, 1))
    systems = {
        name: bp.Scores(3.0 * same + habits + rng.normal(size=same.shape), SPEAKERS, segments)
        for name in "AB"
    }
    takes = [segment.rsplit("-", 1)[1] for segment in segments]
    metadata = described(key, segment_columns={"take": takes})
    return systems, key, as_conditions("take", metadata)


def forms_of(table: AnnotatedTable) -> dict[str, str]:
    return {
        "text": str(table),
        "markdown": table.to_markdown().replace("\\", ""),
        "latex": table.to_latex(),
        "html": table._repr_html_(),
    }


def of_person(segment: str) -> str:
    return segment.split("-")[0]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_few_speakers_are_said_once_without_a_sign(trials) -> None:
    systems, key, conditions = trials
    table = bp.evaluate(
        {"A": systems["A"]}, key, prior=0.1, conditions=conditions, speakers=of_person
    ).table
    assert any(each.category is FewSpeakersWarning for each in table.cautions)
    plain = forms_of(attrs.evolve(table, cautions=()))
    for name, text in forms_of(table).items():
        assert text.count("12 speakers: a kind of speaker as common as") == 1, name
        assert "]*" not in text
        assert "speakers: a kind" not in plain[name]


def of_counts(*counts: float | None) -> Rates:
    return Rates(tuple(Caution(FewErrorsWarning, "", "", (), count) for count in counts))


def test_the_range_of_counts_is_said_once() -> None:
    assert of_counts(4.0, None, 9.0).footnotes == [
        "+ 4 to 9 errors of a class, fewer than 30: rates approximate"
    ]


def test_heads_end_where_the_digits_below_them_end() -> None:
    assert of_counts(9.0)._laid_out().splitlines() == [
        "name   rate",
        "------------",
        "a      1.00+",
        "b     22.00",
    ]
