"""Trials of the third class: refused, counted as non-targets, dropped or kept."""

import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError

LINES = """\
LA_0001 LA_E_1 - bonafide target
LA_0001 LA_E_2 - bonafide nontarget
LA_0001 LA_E_3 - A07 spoof
"""


@pytest.fixture
def protocol(tmp_path):
    path = tmp_path / "protocol.trl"
    path.write_text(LINES.replace(" - ", " "))
    return path


def test_spoofs_are_refused_unless_asked_for(protocol):
    with pytest.raises(FileFormatError, match="can be dropped, kept, or count as non-targets"):
        bp.read_key(protocol)


def test_kept_spoofs_have_a_kind_and_all_other_columns(protocol):
    key, metadata = bp.read_key(protocol, spoof="keep")
    assert (key.n_tar, key.n_non) == (1, 2)
    assert metadata.factor("kind").values().tolist() == ["target", "nontarget", "spoof"]
    assert metadata.factor("attack").values().tolist() == ["bonafide", "bonafide", "A07"]
    as_before, others = bp.read_key(protocol, spoof="nontarget")
    assert as_before == key
    assert set(metadata.names) == {*others.names, "kind"}


def test_kept_is_kept_in_files(protocol, tmp_path):
    _, metadata = bp.read_key(protocol, spoof="keep")
    metadata.save(tmp_path / "trials.h5")
    again = bp.TrialMetadata.read(tmp_path / "trials.h5")
    assert again.factor("kind").values().tolist() == ["target", "nontarget", "spoof"]


def test_a_file_without_spoofs_has_kinds_too(tmp_path):
    path = tmp_path / "key.txt"
    path.write_text("m s1 target\nm s2 nontarget\n")
    _, metadata = bp.read_key(path, spoof="keep")
    assert metadata.factor("kind").values().tolist() == ["target", "nontarget"]


def test_trials_keep_their_kind(protocol):
    table = bp.storage.formats.read_table(protocol, spoof="keep")
    assert table.columns["kind"].values().tolist() == ["target", "nontarget", "spoof"]
