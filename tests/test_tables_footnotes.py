"""Each figure that a caution concerns has a sign, which a footnote explains, in every form."""

import re
from collections.abc import Sequence

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py._cautions import Caution
from bosaris_py._tables import AnnotatedTable
from bosaris_py.errors import FewSpeakersWarning


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
    metadata = bp.TrialMetadata(key, segment_columns={"take": takes})
    return systems, key, metadata.conditions("take")


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
class TestFewSpeakers:
    def check(self, table: AnnotatedTable, caution: str, n_signs: int) -> None:
        """The footnote stands in each form once, and so many figures have its sign."""
        assert any(each.category is FewSpeakersWarning for each in table.cautions)
        for name, text in forms_of(table).items():
            assert text.count(caution) == 1, name
            assert len(re.findall(r"\]\*", text)) == n_signs, name
        plain = forms_of(attrs.evolve(table, cautions=()))
        assert not any("effective speakers" in text for text in plain.values())

    def test_of_conditions(self, trials) -> None:
        systems, key, conditions = trials
        table = bp.evaluate(
            {"A": systems["A"]}, key, prior=0.1, conditions=conditions, replications=40, rng=1,
            speakers=of_person,
        ).table  # fmt: skip
        # Five figures of two conditions, pooled and equalised; all have at most twelve speakers.
        self.check(table, "interval approximate", 20)

    def test_of_comparisons(self, trials) -> None:
        systems, key, _ = trials
        table = unc.compare_systems(systems, key, unc.EER(), speakers=of_person)
        self.check(table, "interval approximate", 1)
        assert table.records()[0]["first"] == "A"


def test_what_is_about_a_system_stands_beside_its_name(trials) -> None:
    systems, key, _ = trials
    some = dict(zip("abc", [*systems.values(), systems["A"]], strict=True))
    with pytest.warns(bp.errors.BosarisWarning):
        table = unc.compare_systems(some, key, unc.EER(), speakers=of_person)
    about = attrs.evolve(table.cautions[0], about=(("system", "b"),))
    lines = str(attrs.evolve(table, cautions=(about,))).splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["a", "b*"], ["a", "c"], ["b*", "c"]]


def of_counts(*counts: float | None) -> Rates:
    return Rates(tuple(Caution(FewSpeakersWarning, "", "", (), count) for count in counts))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((4.7, 9.0), "4.7 to 9 effective speakers"),
        ((4.7, None), "4.7 effective speakers or one speaker makes most of the variance"),
    ],
)
def test_that_one_speaker_dominates_is_said_only_where_it_does(counts, words) -> None:
    """Of one who dominates, a caution has no count."""
    assert of_counts(*counts).footnotes == [f"* {words}: interval approximate"]


def test_heads_end_where_the_digits_below_them_end() -> None:
    assert of_counts(9.0)._laid_out().splitlines() == [
        "name   rate",
        "------------",
        "a      1.00*",
        "b     22.00",
    ]
