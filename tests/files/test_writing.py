"""What cannot be written, and tables that are put in order first."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.files.columns import Factor, Table
from bosaris_py.files.text import read_table
from bosaris_py.files.writing import write_table

IDS = st.text("abc\u00e9_-/.0", min_size=1, max_size=30)


@given(
    trials=st.lists(
        st.tuples(IDS, IDS, st.booleans(), st.floats(allow_nan=False)), min_size=1, max_size=50
    ),
    format=st.sampled_from(["wespeaker-scores", "speechbrain-scores", "csv"]),
)
def test_any_ids_and_numbers_are_read_back(trials, format, tmp_path_factory):
    models, segments, is_target, scores = zip(*trials, strict=True)
    ids = Factor.from_values(list(models)), Factor.from_values(list(segments))
    table = Table(*ids, np.array(is_target), np.array(scores))
    path = tmp_path_factory.mktemp("written") / "a.txt"
    write_table(path, table, format)
    back = read_table(path, format)
    assert back.models == table.models
    assert back.segments == table.segments
    np.testing.assert_array_equal(back.is_target, table.is_target)
    np.testing.assert_array_equal(back.scores, table.scores)


def table_of(**changes: Any) -> Table:
    fields: dict[str, Any] = {"is_target": [True, False], "scores": [1.5, -2.0], **changes}
    ids = fields.pop("models", ["m1", "m1"]), ["s1", "s2"]
    fields |= {n: np.asarray(fields[n]) for n in ("is_target", "scores") if fields[n] is not None}
    return Table(*map(Factor.from_values, ids), **fields)


def words(*texts: str) -> dict[str, Factor]:
    return {texts[0]: Factor.from_values(texts[1:])}


BAD: list[tuple[str, Table, dict[str, Any]]] = [
    ("kaldi-scores", table_of(scores=None), {}),
    ("asvspoof2019-cm-scores", table_of(), {}),
    ("asvspoof5-cm-key", table_of(is_target=None), {}),
    ("voxceleb-scores", table_of(scores=[1.0, float("nan")]), {}),
    ("kaldi-scores", table_of(), {"number_format": "%d %d"}),
    ("kaldi-scores", table_of(), {"number_format": "%d"}),
    ("sre", table_of(), {}),
    ("nist", table_of(columns=words("", "u", "v")), {}),
    ("kaldi-scores", table_of(models=["m 1", "m"]), {}),
    ("hyperion", table_of(models=["m,1", "m"]), {}),
    ("bob-4", table_of(columns=words("real", "m1", "m1")), {}),
]


@pytest.mark.parametrize(("format", "table", "options"), BAD)
def test_nothing_is_written(format, table, options, tmp_path):
    with pytest.raises(InvalidInputError):
        write_table(tmp_path / "a.txt", table, format, **options)
    assert not list(tmp_path.iterdir())


def test_sides_are_written_where_a_format_does_not_know_them(tmp_path: Path) -> None:
    sides = Factor.from_values(["a", "b"])
    table = table_of(is_target=None)
    table = attrs.evolve(table, columns={"cm-score": np.ones(2), "asv-score": np.ones(2)})
    table = attrs.evolve(table, columns={**table.columns, "side": sides})
    write_table(tmp_path / "a.tsv", table, "asvspoof5-sasv-scores")
    assert read_table(tmp_path / "a.tsv").columns["side"] == sides


def test_extra_columns_may_be_called_like_what_a_format_has(tmp_path: Path) -> None:
    extra = {name: Factor.from_values(["u", "v"]) for name in ("label", "model", "score", "side")}
    table = attrs.evolve(table_of(), columns=extra)
    write_table(tmp_path / "a.tsv", table, "nist")
    assert (tmp_path / "a.tsv").read_text().splitlines()[0].split("\t") == [
        *("modelid", "segmentid", "side", "targettype", "LLR", "label", "model", "score")
    ]
    back = read_table(tmp_path / "a.tsv")
    assert {name: back.columns[name] for name in extra} == extra


def test_labels_of_three_classes_are_kept_where_a_format_has_two(tmp_path: Path) -> None:
    labels = Factor.from_values(["target", "spoof"])
    table = attrs.evolve(table_of(), columns={"label": labels})
    write_table(tmp_path / "a.tsv", table, "nist")
    back = read_table(tmp_path / "a.tsv")
    assert back.columns == table.columns
    assert back.is_target.tolist() == [True, False]
