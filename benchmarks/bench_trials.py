"""Score matrices and their files: against the sort of the scores, plain h5py and numpy.loadtxt."""

import tempfile
from pathlib import Path

import h5py
import numpy as np
from timing import report, seconds

from bosaris_py import Key, Ndx, Results, Scores


def matrices(n_models: int, n_segments: int, dtype: type = np.float64) -> tuple[Scores, Key]:
    """Return random scores of all trials, one in a hundred a target."""
    rng = np.random.default_rng(0)
    models = [f"speaker-{i:05d}" for i in range(n_models)]
    segments = [f"segment-{j:07d}" for j in range(n_segments)]
    tar = rng.random((n_models, n_segments)) < 0.01
    scoremat = (rng.normal(size=tar.shape) + 3.0 * tar).astype(dtype)
    return Scores(scoremat, models, segments), Key(models, segments, tar, ~tar)


def judge() -> None:
    """Results of 10^6 trials in a matrix, against the sort of its scores."""
    scores, key = matrices(1000, 1000)
    sort = seconds(lambda: np.sort(scores.scoremat, axis=None))
    elapsed = seconds(lambda: Results.from_scores(scores, key))
    report("Results.from_scores, 1000 x 1000", elapsed / sort, "sort of its scores")
    elapsed = seconds(lambda: repr(Results.from_scores(scores, key)))
    report("the same with EER, Cllr, minCllr", elapsed / sort, "sort of its scores")
    shuffled = Scores(scores.scoremat[::-1], scores.modelset[::-1], scores.segset)
    elapsed = seconds(lambda: Results.from_scores(shuffled, key))
    report("the same, models in another order", elapsed / sort, "sort of its scores")


def align() -> None:
    """Aligning a large matrix whose ids are in another order, against copying it."""
    scores, _ = matrices(5000, 20000, np.float32)
    rng = np.random.default_rng(1)
    ndx = Ndx(rng.permutation(scores.modelset), rng.permutation(scores.segset))
    copy = seconds(scores.scoremat.copy, repeats=3)
    elapsed = seconds(lambda: scores.align_with_ndx(ndx), repeats=3)
    report("align 5000 x 20000 float32, all ids shuffled", elapsed / copy, "copy of the matrix")


def read_hdf5(folder: Path) -> None:
    """Read a score file, against reading its data sets with h5py."""
    path = folder / "scores.h5"
    scores, _ = matrices(2000, 4000)
    scores.save(path)

    def plain() -> object:
        with h5py.File(path) as file:
            names = ("scores", "score_mask", "ID/row_ids", "ID/column_ids")
            return [file[name][()] for name in names]

    elapsed, reference = seconds(lambda: Scores.read(path)), seconds(plain)
    report("Scores.read, 2000 x 4000 float64, HDF5", elapsed / reference, "h5py")
    report("Scores.save, the same", seconds(lambda: scores.save(path)) / reference, "h5py read")


def read_text(folder: Path) -> None:
    """Read a score list, against numpy.loadtxt with a structured dtype."""
    path = folder / "scores.txt"
    scores, _ = matrices(1000, 2000)
    scores.save(path)
    dtype = [("model", "U16"), ("segment", "U16"), ("score", "f8")]
    reference = seconds(lambda: np.loadtxt(path, dtype=dtype), repeats=3)
    elapsed = seconds(lambda: Scores.read(path), repeats=3)
    report("Scores.read, 2 * 10^6 lines of text", elapsed / reference, "numpy.loadtxt")
    report("Scores.save, the same", seconds(lambda: scores.save(path), 3) / reference, "loadtxt")


def main() -> None:
    """Print all ratios."""
    judge()
    align()
    with tempfile.TemporaryDirectory() as folder:
        read_hdf5(Path(folder))
        read_text(Path(folder))


if __name__ == "__main__":
    main()
