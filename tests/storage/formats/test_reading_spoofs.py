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


# What the files of each challenge say of three trials: kinds and the columns beside.
_THREE = ["target", "nontarget", "spoof"]
_PROTOCOLS = {
    "ASVspoof 2019, and SASV 2022": (
        "LA_1 LA_E_1 bonafide target\nLA_1 LA_E_2 bonafide nontarget\nLA_1 LA_E_3 A07 spoof\n",
        {"attack": ["bonafide", "bonafide", "A07"]},
    ),
    "ASVspoof 2021": (
        "LA_1 LA_E_1 alaw ita_tx bonafide target notrim eval\n"
        "LA_1 LA_E_2 none loc_tx bonafide nontarget notrim eval\n"
        "LA_1 LA_E_3 none loc_tx A07 spoof notrim eval\n",
        {
            "attack": ["bonafide", "bonafide", "A07"],
            "codec": ["alaw", "none", "none"],
            "transmission": ["ita_tx", "loc_tx", "loc_tx"],
        },
    ),
    "ASVspoof 5, track 2": (
        "E_1 E_01 F bonafide target\nE_1 E_02 F bonafide nontarget\nE_1 E_03 F A17 spoof\n",
        {"attack": ["bonafide", "bonafide", "A17"], "gender": ["F", "F", "F"]},
    ),
    "SpoofCeleb, and WildSpoof": (
        "speakerID,flac_file_name,label\n"
        "id1,a00/1.flac,target\nid1,a00/2.flac,nontarget\nid1,a11/3.flac,spoof\n",
        {},
    ),
}


@pytest.mark.parametrize("reader", [bp.read_key, bp.read_trials])
@pytest.mark.parametrize("name", _PROTOCOLS)
def test_protocols_of_the_challenges_keep_kinds_and_columns(reader, name, tmp_path):
    text, columns = _PROTOCOLS[name]
    path = tmp_path / "trials.txt"
    path.write_text(text)
    trials, metadata = reader(path, spoof="keep")
    assert trials.n_trials == 3
    assert metadata.factor("kind").values().tolist() == _THREE
    for column, values in columns.items():
        assert metadata.factor(column).values().tolist() == values


@pytest.mark.parametrize(
    ("text", "attacks"),
    [
        ("S_1 U_1 - - bonafide\nS_1 U_2 - A07 spoof\n", ["-", "A07"]),
        (
            "S_1 U_1 F C05 2 U_3 - bonafide bonafide -\nS_1 U_2 F - - - AC1 A11 spoof -\n",
            ["bonafide", "A11"],
        ),
    ],
    ids=["ASVspoof 2019", "ASVspoof 5, track 1"],
)
def test_a_countermeasure_accepts_bona_fide_speech(text, attacks, tmp_path):
    """Its protocols have two classes, so spoofs are what must be rejected."""
    path = tmp_path / "cm.txt"
    path.write_text(text)
    for spoof in ("error", "keep"):
        key, metadata = bp.read_key(path, spoof=spoof)
        assert key.trial_labels().tolist() == [True, False]
        assert metadata.factor("attack").values().tolist() == attacks
        assert metadata.factor("speaker").values().tolist() == ["S_1", "S_1"]


def test_environments_of_2019_are_no_genders(tmp_path):
    path = tmp_path / "pa.txt"
    path.write_text("m s1 aaa bonafide target\nm s2 f BC spoof\n")
    _, metadata = bp.read_key(path, spoof="keep")
    assert metadata.factor("environment").values().tolist() == ["aaa", "f"]


@pytest.mark.parametrize(
    ("column", "expected"),
    [("cm-score", [0.5, 1.5]), ("asv-score", [2.5, None]), ("sasv-score", [0.25, -2.0])],
)
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_each_column_of_three_scores_can_be_read(column, expected, tmp_path):
    path = tmp_path / "score.tsv"
    lines = ["spk filename cm-score asv-score sasv-score", "m s1 0.5 2.5 0.25", "m s2 1.5 - -2"]
    path.write_text("\n".join(line.replace(" ", "\t") for line in lines) + "\n")
    scores = bp.read_scores(path, format="asvspoof5-sasv-scores", columns={"score": column})
    present = [value for value in expected if value is not None]
    assert scores.get_scores(bp.read_trials(path)[0].filter(*scores.ids, keep=True)).tolist() == (
        present
    )


def test_columns_of_two_scores_without_a_header(tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("m s1 0.5 2.5\nm s2 1.5 -2\n")
    asv = bp.read_scores(path, columns="model segment score -")
    cm = bp.read_scores(path, columns="model segment - score")
    ndx, _ = bp.read_trials(path, columns="model segment - -")
    assert asv.get_scores(ndx).tolist() == [0.5, 1.5]
    assert cm.get_scores(ndx).tolist() == [2.5, -2.0]
