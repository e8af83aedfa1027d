"""Text tables: alignment, rules, and the head."""

from bosaris_py._tables import text_table

ROWS = [("name", "n", "verdict"), ("a", "10", "yes"), ("long name", "5", "no")]


def test_names_stand_left_and_numbers_right():
    assert text_table(ROWS) == [
        "name        n  verdict",
        "a          10      yes",
        "long name   5       no",
    ]


def test_columns_to_the_left_are_padded():
    assert text_table(ROWS, left=(0, 2)) == [
        "name        n  verdict",
        "a          10  yes    ",
        "long name   5  no     ",
    ]


def test_rules_are_as_wide_as_the_table():
    lines = text_table(ROWS, rules=(1, 2))
    assert lines[1] == lines[3] == "-" * len(lines[0])
    assert [lines[i] for i in (0, 2, 4)] == text_table(ROWS)


def test_head_alone():
    assert text_table([("a", "b")]) == ["a  b"]
