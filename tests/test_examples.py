"""The score sets inside the package: what they hold, and that they are what their source holds."""

import csv
import gzip
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.files import hdf5
from bosaris_py.trials.key import WORDS

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT.parent / "shared" / "data" / "asvspoof2019_la"
needs_source = pytest.mark.skipif(
    not (SOURCE / "dev.csv.gz").exists(), reason="the source tables of ASVspoof 2019 are not here"
)


@pytest.mark.parametrize(
    ("part", "expected"),
    # The README of shared/data: models, speakers, targets, non-targets, spoofs, attacks.
    [("dev", (10, 20, 1484, 5768, 22296, 6)), ("eval", (48, 67, 5370, 33327, 63882, 13))],
)
def test_counts(part, expected):
    data = getattr(bp.load_example("asvspoof2019_la"), part)
    whole = data.key_with_spoofs
    found = (
        *(data.key.modelset.size, np.unique(data.key.columns.factor("speaker").values()).size),
        *(data.key.n_tar, data.key.n_non, whole.n_spoof),
        whole.columns["attack"].levels.size - 1,
    )
    assert found == expected
    assert set(data.quality.ids.tolist()) >= set(data.key.segset.tolist())
    assert (whole.n_tar, whole.n_non) == expected[2:4]
    for scores in data.scores.values():
        found, alone = scores.get_tar_non(whole), scores.get_tar_non(data.key)
        assert all(map(np.array_equal, found, alone))
        assert bp.Sample.from_trials(scores, whole).n_spoof == whole.n_spoof


def test_no_speaker_is_in_both_parts():
    for name, sides in (
        ("asvspoof2019_la", ("model", "speaker")),
        ("forensic", ("reference_speaker", "speaker")),
    ):
        dev, test = bp.load_example(name)
        for side in sides:
            of = [set(part.key.columns.factor(side).levels.tolist()) for part in (dev, test)]
            assert not of[0] & of[1]


@pytest.mark.parametrize(("prior", "eer"), [(0.5, 1.12), (0.05, 1.17)])
def test_published_figures(prior, eer):
    """EERs of the convex hull, in per cent, that another run of the same tables has given."""
    dev, test = bp.load_example("asvspoof2019_la")
    fusion = bp.LinearFusion.fit_scores(dev.scores, dev.key, prior=prior)
    systems = {**test.scores, "fusion": fusion.apply(test.scores, test.key)}
    found = {n: round(100 * bp.Results.from_scores(s, test.key).eer, 2) for n, s in systems.items()}
    assert found == {"xvector": 2.43, "ecapa": 1.63, "fusion": eer}


@pytest.mark.slow
@needs_source
@pytest.mark.parametrize("part", ["dev", "eval"])
def test_the_table_is_the_source(part):
    with gzip.open(SOURCE / f"{part}.csv.gz", "rt", encoding="utf-8") as file:
        lines = {(line["model"], line["segment"]): line for line in csv.DictReader(file)}
    data = getattr(bp.load_example("asvspoof2019_la"), part)
    whole, numbers = data.key_with_spoofs, {"xvector": "asv_xvector", "ecapa": "asv_ecapa"}
    pairs = [
        (whole.modelset[i], whole.segset[j]) for i, j in zip(*whole.trial_positions(), strict=True)
    ]
    assert len(pairs) == len(lines)
    assert set(pairs) == set(lines)
    assert [lines[pair]["label"] for pair in pairs] == WORDS[whole.labels].tolist()
    for name, column in numbers.items():
        wanted = np.array([lines[pair][column] for pair in pairs], dtype=np.float32)
        assert np.array_equal(data.scores[name].get_scores(whole), wanted)
    wanted = np.array([lines[pair]["cm_aasist"] for pair in pairs], dtype=np.float32)
    assert np.array_equal(whole.columns["aasist"], wanted)
    words = {"attack": "attack", "gender": "gender", "speaker": "seg_speaker"}
    for name, column in words.items():
        wanted = [lines[pair][column] for pair in pairs]
        assert whole.columns[name].values().tolist() == wanted
    # The bona fide part again, from its own objects.
    pairs = [pair for pair in pairs if lines[pair]["label"] != "spoof"]
    models, segments = data.key.trial_positions()
    own = zip(data.key.modelset[models], data.key.segset[segments], data.key.is_target, strict=True)
    assert [*own] == [(*pair, lines[pair]["label"] == "target") for pair in pairs]
    quality = dict(zip(data.quality.ids.tolist(), data.quality.values[0].tolist(), strict=True))
    for pair in pairs[::100]:
        assert quality[pair[1]] == np.float32(lines[pair]["cm_aasist"])
    for name in ("gender", "speaker"):
        wanted = [lines[pair][words[name]] for pair in pairs]
        assert data.key.columns[name].values().tolist() == wanted


def test_the_script_makes_the_forensic_set(tmp_path):
    spec = importlib.util.spec_from_file_location("made", ROOT / "examples" / "make_shipped.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rng = np.random.default_rng(2019)
    for part in ("dev", "eval"):
        made = module.simulated(part, rng)
        module.save(made, tmp_path / "made.h5")
        assert bp.Key.read(tmp_path / "made.h5") == made
        shipped = hdf5.read("ndx", ROOT / "bosaris_py" / "examples" / f"forensic_{part}.h5")[0]
        again = hdf5.read("key", tmp_path / "made.h5")[0]["columns"]
        for side, table in shipped["columns"].items():
            assert list(table) == list(again[side])
            for name, column in table.items():
                np.testing.assert_equal(column, again[side][name])
