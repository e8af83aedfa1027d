"""Make the files of bosaris_py/examples, which `bosaris_py.load_example` reads.

The scores of ASVspoof 2019 come from two tables, ``dev.csv.gz`` and ``eval.csv.gz``, with a line
for each trial; bosaris_py/examples/README.md says who made what they hold. The forensic set is
simulated here, with a fixed seed::

    python examples/make_shipped.py --source FOLDER --output bosaris_py/examples
"""

import argparse
import csv
import gzip
import tempfile
from pathlib import Path

import h5py
import numpy as np

import bosaris_py as bp

# Trials, models and segments have columns, by the names of the table.
TRIALS = {"xvector": "asv_xvector", "ecapa": "asv_ecapa"}
SEGMENTS = {"speaker": "seg_speaker", "attack": "attack", "aasist": "cm_aasist"}

SPEAKERS, RECORDINGS = 60, 2


def main() -> None:
    """Write all files, or the simulated ones only."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, help="folder of the two tables of ASVspoof 2019")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    rng = np.random.default_rng(2019)
    for part in ("dev", "eval"):
        save(simulated(part, rng), options.output / f"forensic_{part}.h5")
        if options.source:
            table = asvspoof(options.source / f"{part}.csv.gz")
            save(table, options.output / f"asvspoof2019_la_{part}.h5")


def asvspoof(path: Path) -> bp.Key:
    """Read all trials of a part of ASVspoof 2019."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    of = dict(zip(names, zip(*lines, strict=True), strict=True))
    columns = {name: np.array(of[column], dtype=np.float32) for name, column in TRIALS.items()}
    key = bp.Key.from_trials(
        of["model"], of["segment"], of["label"], {"label": of["label"], **columns}
    )
    by_segment = {
        name: dict(zip(of["segment"], of[column], strict=True)) for name, column in SEGMENTS.items()
    }
    aasist = by_segment.pop("aasist")
    ids = key.segset.tolist()
    by_segment["aasist"] = np.array([aasist[one] for one in ids], dtype=np.float32)
    return key.with_columns(
        gender=("model", dict(zip(of["model"], of["gender"], strict=True))),
        **{name: ("segment", values) for name, values in by_segment.items()},
    )


def simulated(part: str, rng: np.random.Generator) -> bp.Key:
    """Draw scores of two sessions of each speaker, of whom no other part has any.

    A score is 2 for the same speaker and -2 for others, and has an effect of each of both speakers,
    of the pair, of each recording, and noise, which is less in long recordings.
    """
    first = 0 if part == "dev" else SPEAKERS
    speakers = [f"s{number:03d}" for number in range(first + 1, first + SPEAKERS + 1)]
    models, segments = (
        [
            f"{speaker}-session{session}-{take + 1}"
            for speaker in speakers
            for take in range(RECORDINGS)
        ]
        for session in (1, 2)
    )
    of = np.repeat(np.arange(SPEAKERS), RECORDINGS)
    same = of[:, None] == of
    seconds = rng.uniform(5.0, 60.0, len(segments))
    speaker, pair = rng.normal(0, 0.5, SPEAKERS), rng.normal(0, 0.6, (SPEAKERS, SPEAKERS))
    recordings = rng.normal(0, 0.3, (2, len(models)))
    scores = np.where(same, 2.0, -2.0) - (speaker[of][:, None] + speaker[of]) * np.where(
        same, 0.7, -0.7
    )
    scores += pair[np.ix_(of, of)] + recordings[0][:, None] + recordings[1]
    scores += rng.normal(0, 1.0, same.shape) * np.sqrt(20.0 / seconds)
    # An overconfident system, whose LLRs are too high.
    scores = 1.6 * scores + 1.0
    key = bp.Key(models, segments, same, ~same)
    label = np.where(key.is_target, "target", "nontarget")
    by_trial = bp.Scores(scores, models, segments).get_scores(key).astype(np.float32)
    return key.with_columns(
        label=label,
        system=by_trial,
        reference_speaker=("model", [speakers[i] for i in of]),
        speaker=("segment", [speakers[i] for i in of]),
        seconds=("segment", seconds.round(1).astype(np.float32)),
    )


def save(described: bp.Key, path: Path) -> None:
    """Save trials and their columns, and pack what the package leaves plain: ids and scores."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.h5"
        described.save(plain)
        with (
            h5py.File(plain) as source,
            h5py.File(path, "w", libver=("earliest", "v108")) as target,
        ):
            target.attrs.update(source.attrs)

            def pack(name: str, found: h5py.Dataset | h5py.Group) -> None:
                if isinstance(found, h5py.Dataset):
                    packing = {"compression": "gzip", "compression_opts": 9, "shuffle": True}
                    large = {"chunks": found.chunks or found.shape, **packing}
                    options = large if found.size > 500 else {}
                    new = target.create_dataset(
                        name, data=found[()], dtype=found.dtype, track_times=False, **options
                    )
                    for attribute, value in found.attrs.items():
                        new.attrs.create(attribute, value, dtype=value.dtype)

            source.visititems(pack)


if __name__ == "__main__":
    main()
