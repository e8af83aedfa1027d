"""One small file of each format, written by hand: what is read, and that it is written back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.files.columns import Factor
from bosaris_py.files.formats import FORMATS
from bosaris_py.files.text import Table, detect_format, read_table
from bosaris_py.files.writing import write_table

DATA = Path(__file__).parent / "data"
PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
NAN = float("nan")


def contents(table: Table) -> dict[str, Any]:
    """What a table holds, for comparison."""
    columns = {"model": table.models, "segment": table.segments, "score": table.scores}
    held = {**columns, "target": table.is_target, **{f"- {n}": c for n, c in table.columns.items()}}
    return {
        name: [str(v) for v in (c.values() if isinstance(c, Factor) else c).tolist()]
        for name, c in held.items()
        if c is not None
    }


@attrs.frozen
class Case:
    """What a file holds, line by line."""

    file: str
    format: str
    models: str
    segments: str
    labels: tuple[bool, ...] | None = None
    scores: tuple[float, ...] | None = None
    columns: Mapping[str, Any] = attrs.field(factory=dict)
    options: Mapping[str, Any] = attrs.field(factory=dict)
    # What is found if nobody names the format; some files look alike.
    detected: str = ""

    @property
    def table(self) -> Table:
        columns = {
            name: Factor.from_values(values.split())
            if isinstance(values, str)
            else np.array(values, dtype=float)
            for name, values in self.columns.items()
        }
        return Table(
            Factor.from_values(self.models.split()),
            Factor.from_values(self.segments.split()),
            None if self.labels is None else np.array(self.labels),
            None if self.scores is None else np.array(self.scores),
            columns,
        )


SPOOFS = {"spoof": "nontarget"}
T, F = True, False

CASES = [
    Case(
        "nist_trials.tsv",
        "nist",
        "9001_demo 9001_demo 9002_demo",
        "qaaa_demo.sph qbbb_demo.sph qaaa_demo.sph",
        columns={"side": "a a a"},
    ),
    Case(
        "nist_key.tsv",
        "nist",
        "9001_demo 9001_demo 9002_demo",
        "qaaa_demo.sph qbbb_demo.sph qaaa_demo.sph",
        (T, F, F),
        columns={
            "side": "a a a",
            "num_enroll_segs": "1 1 3",
            "phone_num_match": "Y N N",
            "gender": "female female male",
            "source_type": "pstn voip pstn",
        },
    ),
    Case(
        "nist_output.tsv",
        "nist",
        "9001_demo 9001_demo 9002_demo",
        "qaaa_demo.sph qbbb_demo.sph qaaa_demo.sph",
        scores=(3.25, -4.78, -0.1),
        columns={"side": "a a a"},
    ),
    Case("hyperion_key.csv", "hyperion", "rec-01 rec-01", "utt-1 utt-2", (T, F)),
    Case(
        "hyperion_scores.csv",
        "hyperion",
        "rec-01 rec-01",
        "utt-1 utt-2",
        scores=(1.5, -2.0),
        columns={"q1": "0.25 0.5"},
    ),
    Case("kaldi_trials.txt", "kaldi-trials", "anna anna bert", "utt-1 utt-2 utt-1", (T, F, F)),
    Case("kaldi_unlabelled.txt", "kaldi-trials", "anna anna bert", "utt-1 utt-2 utt-1"),
    Case(
        "kaldi_unlabelled.txt",
        "voxceleb-trials",
        "anna anna bert",
        "utt-1 utt-2 utt-1",
        detected="kaldi-trials",
    ),
    Case(
        "kaldi_scores.txt",
        "kaldi-scores",
        "anna anna bert",
        "utt-1 utt-2 utt-1",
        scores=(21.01163, NAN, -3.5),
    ),
    Case("kaldi_eer.txt", "kaldi-eer", "all all", "1 2", (T, F), (21.01163, -3.5)),
    Case(
        "voxceleb_trials.txt",
        "voxceleb-trials",
        "idA/vid1/00001.wav idA/vid1/00001.wav",
        "idA/vid2/00008.wav idB/vid1/00002.wav",
        (T, F),
    ),
    Case(
        "voxceleb_scores.txt",
        "voxceleb-scores",
        "idA/vid1/00001.wav idA/vid1/00001.wav",
        "idA/vid2/00008.wav idB/vid1/00002.wav",
        scores=(0.567, -0.02),
    ),
    Case(
        "cnceleb_trials.lst",
        "cnceleb-trials",
        "idA-enroll idA-enroll",
        "test/idA-singing-01.wav test/idB-speech-01.wav",
        (T, F),
    ),
    Case(
        "wespeaker_scores.txt",
        "wespeaker-scores",
        "idA/1.wav idA/1.wav",
        "idA/2.wav idB/1.wav",
        (T, F),
        (0.61234, 0.01),
    ),
    Case(
        "wespeaker_normalised.txt",
        "wespeaker-normalised",
        "idA/1.wav idA/1.wav",
        "idA/2.wav idB/1.wav",
        (T, F),
        (5.5, -0.5),
        {
            "model_magnitude": (11.0, 11.0),
            "segment_magnitude": (12.5, 9.5),
            "model_mean": (0.125, 0.125),
            "segment_mean": (0.25, 0.5),
        },
    ),
    Case(
        "speechbrain_scores.txt",
        "speechbrain-scores",
        "idA/1 idA/1",
        "idA/2 idB/1",
        (T, F),
        (0.612345, -0.001),
    ),
    Case("dca_plda_key.txt", "dca-plda-key", "e1 e1", "t1 t9", (T, F)),
    Case("sdsv_trials.txt", "sdsv-trials", "model_01 model_01 model_02", "evl_018 evl_002 evl_018"),
    Case(
        "asvspoof2015_cm_key.txt",
        "asvspoof2015-cm-key",
        "bonafide bonafide bonafide",
        "D1_1 D1_2 D2_1",
        (T, F, F),
        columns={"speaker": "D1 D1 D2", "attack": "human S3 S5"},
    ),
    Case(
        "asvspoof2017_cm_key.txt",
        "asvspoof2017-cm-key",
        "bonafide bonafide",
        "T_1.wav T_2.wav",
        (T, F),
        columns={
            "speaker": "M0015 M0001",
            "phrase": "S02 S01",
            "environment": "- E03",
            "playback": "- P05",
            "recording": "- R02",
        },
    ),
    Case(
        "asvspoof2019_cm_key.txt",
        "asvspoof2019-cm-key",
        "bonafide bonafide bonafide",
        "UTT_1 UTT_2 UTT_3",
        (T, F, F),
        columns={"speaker": "SPK_1 SPK_1 SPK_2", "environment": "- - aab", "attack": "- A07 AC"},
    ),
    Case(
        "asvspoof2019_cm_scores.txt",
        "asvspoof2019-cm-scores",
        "bonafide bonafide",
        "UTT_1 UTT_2",
        (T, F),
        (3.5, -4.58),
        {"attack": "- A07"},
    ),
    Case(
        "asvspoof2019_la_asv_key.txt",
        "asvspoof2019-asv-key",
        "SPK_1 SPK_1 SPK_1",
        "UTT_1 UTT_2 UTT_3",
        (T, F, F),
        columns={"attack": "bonafide bonafide A07", "label": "target nontarget spoof"},
        options=SPOOFS,
    ),
    Case(
        "asvspoof2019_pa_asv_key.txt",
        "asvspoof2019-asv-key",
        "SPK_1 SPK_1 SPK_1",
        "UTT_1 UTT_2 UTT_3",
        (T, F, F),
        columns={
            "environment": "aaa aab aaa",
            "attack": "bonafide bonafide BC",
            "label": "target nontarget spoof",
        },
        options=SPOOFS,
    ),
    Case(
        "asvspoof2019_asv_scores.txt",
        "asvspoof2019-asv-scores",
        "all all all",
        "1 2 3",
        (T, F, F),
        (36.78, -39.1, -1.83),
        {"attack": "bonafide bonafide A07", "label": "target nontarget spoof"},
        options=SPOOFS,
    ),
    Case(
        "asvspoof2021_cm_scores.txt",
        "asvspoof2021-cm-scores",
        "bonafide bonafide",
        "UTT_1 UTT_2",
        scores=(3.25, -4.7268171310424805),
    ),
    Case(
        "asvspoof2021_asv_scores.txt",
        "kaldi-scores",
        "SPK_1 SPK_1",
        "UTT_1 UTT_2",
        scores=(0.1234, -0.5),
    ),
    Case(
        "asvspoof2021_la_key.txt",
        "asvspoof2021-la-key",
        "bonafide bonafide",
        "UTT_1 UTT_2",
        (T, F),
        columns={
            "speaker": "SPK_1 SPK_1",
            "codec": "none alaw",
            "transmission": "loc_tx ita_tx",
            "attack": "bonafide A07",
            "trim": "notrim notrim",
            "subset": "eval eval",
        },
    ),
    Case(
        "asvspoof2021_la_asv_key.txt",
        "asvspoof2021-la-asv-key",
        "SPK_1 SPK_1 SPK_1",
        "UTT_1 UTT_4 UTT_2",
        (T, F, F),
        columns={
            "codec": "none none alaw",
            "transmission": "loc_tx loc_tx ita_tx",
            "attack": "bonafide bonafide A07",
            "trim": "notrim notrim notrim",
            "subset": "eval eval eval",
            "label": "target nontarget spoof",
        },
        options=SPOOFS,
    ),
    Case(
        "asvspoof2021_pa_key.txt",
        "asvspoof2021-pa-key",
        "bonafide bonafide",
        "UTT_1 UTT_2",
        (T, F),
        columns={
            "speaker": "SPK_1 SPK_1",
            "room": "R3 R3",
            "microphone": "M3 M3",
            "distance": "D4 d4",
            "attacker_room": "- r1",
            "attacker_microphone": "- m1",
            "replay_device": "- s4",
            "attacker_distance": "- c4",
            "trim": "notrim notrim",
            "subset": "eval eval",
        },
    ),
    Case(
        "asvspoof2021_df_key.txt",
        "asvspoof2021-df-key",
        "bonafide bonafide",
        "UTT_1 UTT_2",
        (T, F),
        columns={
            "speaker": "SPK_1 SPK_2",
            "codec": "nocodec low_mp3",
            "source": "asvspoof vcc2018",
            "attack": "- A14",
            "trim": "notrim notrim",
            "subset": "progress eval",
            "vocoder": "bonafide traditional_vocoder",
        },
    ),
    Case(
        "asvspoof5_cm_scores.tsv",
        "asvspoof5-cm-scores",
        "bonafide bonafide",
        "F_01 F_02",
        scores=(0.01, -2.5),
    ),
    Case("asvspoof5_cm_key.tsv", "asvspoof5-cm-key", "bonafide bonafide", "F_01 F_02", (T, F)),
    Case(
        "asvspoof5_cm_protocol.tsv",
        "asvspoof5-cm-protocol",
        "bonafide bonafide",
        "D_01 D_02",
        (F, T),
        columns={
            "speaker": "D_0001 D_0002",
            "gender": "F M",
            "codec": "- C05",
            "codec_q": "- 2",
            "codec_seed": "- D_01",
            "attack_tag": "AC1 -",
            "attack": "A11 bonafide",
        },
    ),
    Case(
        "asvspoof5_sasv_protocol.tsv",
        "asvspoof5-sasv-protocol",
        "D_0001 D_0001 D_0001",
        "D_01 D_02 D_03",
        (F, T, F),
        columns={
            "gender": "F F F",
            "attack": "A11 bonafide bonafide",
            "label": "spoof target nontarget",
        },
        options=SPOOFS,
    ),
    Case(
        "asvspoof5_sasv_scores.tsv",
        "asvspoof5-sasv-scores",
        "SPK_1 SPK_1 SPK_1",
        "F_01 F_02 F_03",
        scores=(0.04, -1.5, NAN),
        columns={"cm-score": (0.01, NAN, 0.5), "asv-score": (0.02, NAN, NAN)},
    ),
    Case(
        "asvspoof5_sasv_key.tsv",
        "asvspoof5-sasv-key",
        "SPK_1 SPK_1 SPK_1",
        "F_01 F_02 F_03",
        (T, F, F),
        columns={"cm-label": "bonafide bonafide spoof", "label": "target nontarget spoof"},
        options=SPOOFS,
    ),
    Case("bob_2.txt", "bob-2", "all all", "1 2", (F, T), (-0.33446709030363042, 0.25)),
    Case(
        "bob_4.txt",
        "bob-4",
        "c1 c1 c1",
        "real/c1_s1 real/c2_s1 attack/c1_photo",
        (T, F, F),
        (0.75, -0.25, 0.5),
        {"real": "c1 c2 attack"},
        options=SPOOFS,
    ),
    Case(
        "bob_5.txt",
        "bob-5",
        "c1_m1 c1_m1",
        "real/c1_s1 real/c2_s1",
        (T, F),
        (0.75, -0.25),
        {"claimed": "c1 c1", "real": "c1 c2"},
    ),
    Case("table.csv", "csv", "anna bert", "s1 s1", (T, F), (0.5, -0.5), {"gender": "f m"}),
]
IDS = [f"{case.file}-{case.format}" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_read_found_and_written(case: Case, tmp_path: Path) -> None:
    file = DATA / case.file
    assert contents(read_table(file, case.format, **case.options)) == contents(case.table)
    assert detect_format(file) == (case.detected or case.format)
    for suffix in ("", ".gz"):
        path = tmp_path / f"{case.file}{suffix}"
        write_table(path, case.table, case.format)
        again = read_table(path, case.format, **case.options)
        assert contents(again) == contents(case.table)
    if case.file not in ("table.csv", "bob_2.txt"):
        # These two have other names in the header, and a digit more than is needed.
        assert (tmp_path / case.file).read_bytes() == file.read_bytes()


def test_every_format_has_a_file() -> None:
    assert {case.format for case in CASES} == set(FORMATS)


def test_visual_trials_name_models_by_image(tmp_path: Path) -> None:
    table = read_table(DATA / "nist_visual.tsv")
    assert table.models.values().tolist() == ["9001_demo_face.jpg", "9002_demo_face.jpg"]
    path = tmp_path / "output.tsv"
    write_table(path, table, "nist", columns={"model": "imageid"})
    assert path.read_bytes() == (DATA / "nist_visual.tsv").read_bytes()


def examples() -> list[tuple[str, str]]:
    """Name and lines of each example of the documentation."""
    block = PAGE.read_text().split("### Examples")[1].split("```")[1]
    found: list[tuple[str, str]] = []
    for line in block.splitlines()[1:]:
        name, content = line[:25].strip(), line[25:].replace("→", "\t")
        if name:
            found.append((name, ""))
        found[-1] = found[-1][0], f"{found[-1][1]}{content}\n"
    return found


def test_examples_of_the_documentation(tmp_path: Path) -> None:
    for name, content in examples():
        path = tmp_path / "a.txt"
        path.write_text(content)
        assert len(read_table(path, name, spoof="nontarget")) == 2
    assert {name for name, _ in examples()} == set(FORMATS)
    assert all(f"| `{name}` |" in PAGE.read_text() for name in FORMATS)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # Ids may be whole numbers; the scores are the column with decimals.
        ("1001 2034 3.5\n1002 2034 -1\n", "kaldi-scores"),
        ("3.5 1001 2034\n-1 1002 2034\n", "voxceleb-scores"),
        # A column of 1 and 0 alone is no column of scores.
        ("1 a b\n0 a c\n", "voxceleb-trials"),
        ("a b 1\na c 0\n", "cnceleb-trials"),
        # Not every first line with these words is a header.
        ("target model segment\nother model segment\n", None),
        ("model,segment\nm,s\n", "csv"),
        ("model segment\n", "kaldi-trials"),
        # However many blank lines come first.
        ("\n" * 2000 + "m s target\n", "kaldi-trials"),
        # Tables may have any separator.
        ("model;segment;score\nm;s;1.5\n", "csv"),
        ("enroll\ttest\tlabel\nm\ts\t1\n", "csv"),
        ("enroll test score\nm s 1.5\n", None),
        ("model segment target\nm s target\n", "kaldi-trials"),
        # Where a data frame writes its index, the first name is empty.
        (",model,segment,score\n0,m,s,1.5\n", "csv"),
        # These are labels of no format, not two segments.
        ("-1 0.5\n+1 1.5\n", None),
        # Blanks, but none that separate columns.
        ("\u00a0\nm s target\n", None),
        ("\x1c\nm s target\n", None),
        # The more of a header is understood, the better.
        ("spk\tfilename\tcm-label\tasv-label\na\tb\tbonafide\ttarget\n", "asvspoof5-sasv-key"),
    ],
)
def test_look_alikes(content: str, expected: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content)
    if expected is None:
        with pytest.raises(FileFormatError):
            detect_format(path)
    else:
        assert detect_format(path) == expected


def test_what_is_no_format(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("7 8 9\n")
    with pytest.raises(FileFormatError, match="could be kaldi-scores, voxceleb-scores"):
        detect_format(path)
    # The line from which on no format fits.
    path.write_text("m s target\n" * 99 + "n t tarhget\n" + "m t imp\n")
    with pytest.raises(FileFormatError, match="'n t tarhget' is not like"):
        detect_format(path)
    with pytest.raises(InvalidInputError, match="one of nist"):
        read_table(path, "sre")


@pytest.mark.parametrize(
    ("model", "segment"),
    [
        *(("utt1", "utt2"), ("enrol_id", "test_id"), ("enroll", "trial")),
        *(("enrollment_id", "test_file"), ("enrol_wav", "trial_segment")),
    ],
)
def test_names_of_columns(tmp_path: Path, model: str, segment: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"{model},{segment},score\nm1,s1,0.5\n")
    assert detect_format(path) == "csv"
    assert read_table(path).segments.levels.tolist() == ["s1"]
