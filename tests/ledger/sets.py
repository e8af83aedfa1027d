"""The data of the ledger: twenty small laws, the sets of the oracle, and what is shipped.

Nothing here calls the package, so that the data are the same whatever it does.
"""

import functools
from pathlib import Path

import attrs
import h5py
import numpy as np

ORACLE = Path(__file__).resolve().parents[1] / "reference" / "oracle"


@attrs.frozen(eq=False, kw_only=True)
class Lists:
    """Target and non-target scores of one system."""

    name: str
    tar: np.ndarray
    non: np.ndarray


@attrs.frozen(eq=False, kw_only=True)
class Trials:
    """Scores of systems for the same trials, and all that is known of the trials."""

    name: str
    models: list[str]
    segments: list[str]
    is_tar: np.ndarray  # masks, a row a model
    is_non: np.ndarray
    matrices: dict[str, np.ndarray]  # of each system
    speakers: dict[str, str]  # of each model and segment
    conditions: dict[str, np.ndarray]
    shares: dict[str, float]
    measures: tuple[np.ndarray, np.ndarray]  # of each model, and of each segment

    def lists(self, system: str = "a") -> tuple[np.ndarray, np.ndarray]:
        matrix = self.matrices[system].T
        return matrix[self.is_tar.T], matrix[self.is_non.T]

    @property
    def tar(self) -> np.ndarray:
        return self.lists()[0]

    @property
    def non(self) -> np.ndarray:
        return self.lists()[1]

    @property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights of targets and non-targets: quarters, from one quarter to two."""
        rng = np.random.default_rng(11)
        return tuple(rng.integers(1, 9, x.size) / 4 for x in self.lists())

    @property
    def sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The speaker of the model of each target and non-target trial."""
        whose = np.array([self.speakers[model] for model in self.models])
        return tuple(whose[np.nonzero(mask.T)[1]] for mask in (self.is_tar, self.is_non))

    @property
    def spoofs(self) -> np.ndarray:
        """Scores of spoofed trials, between those of the two classes."""
        rng = np.random.default_rng(12)
        tar, non = self.lists()
        size = non.size // 3 + 3
        return rng.choice(tar, size) * 0.5 + rng.choice(non, size) * 0.25

    @property
    def countermeasure(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores of a countermeasure for bona fide and for spoofed trials."""
        rng = np.random.default_rng(13)
        size = self.tar.size + self.non.size
        return dyadic(rng.normal(1.5, 1, size)), dyadic(rng.normal(-1.5, 1.2, self.spoofs.size))


@attrs.frozen(kw_only=True)
class Law:
    """How the scores of one small set are drawn."""

    speakers: int = 8
    models: int = 2  # of each speaker
    segments: int = 3
    high: float = 2.5  # means of targets and of non-targets
    low: float = -2.5
    step: float = 0.0  # scores are rounded to multiples of it, so that there are ties
    missing: float = 0.0  # the share of trials that the key leaves out
    unequal: bool = False  # a model and a segment more than the speaker before has, up to three
    shares: tuple[float, ...] = (0.5, 0.5)  # of the conditions
    infinite: bool = False
    times: float = 1.0  # all scores are multiplied by it
    single: bool = False


LAWS = {
    "plain": Law(),
    "more": Law(speakers=16, models=2, segments=4),
    "thirty": Law(speakers=30, models=1, segments=2),
    "three": Law(speakers=3, models=2, segments=4, high=1.5, low=-1.5),
    "five": Law(speakers=5, models=1, segments=4, high=1.5, low=-1.5),
    "ties": Law(step=1.5),
    "halves": Law(step=0.5, speakers=10),
    "integers": Law(step=1.0, speakers=12, models=1),
    "two values": Law(step=6.0),
    "rare": Law(speakers=20, models=1, segments=2, high=5.0, low=-5.5),
    "separable": Law(high=30.0, low=-30.0),
    "inverted": Law(high=-1.0, low=1.0),
    "chance": Law(high=0.0, low=0.0),
    "sparse": Law(missing=0.4, speakers=12),
    "unequal": Law(unequal=True, speakers=9),
    "unequal ties": Law(unequal=True, speakers=9, step=1.0, missing=0.2),
    "shares": Law(shares=(0.7, 0.2, 0.1), speakers=12),
    "infinite": Law(infinite=True),
    "large": Law(times=300.0),
    "single": Law(single=True, times=0.01, speakers=10),
}


def dyadic(values: np.ndarray) -> np.ndarray:
    """Return multiples of 2^-24, which do not depend on how a machine computes."""
    return np.round(values * 2.0**24) / 2.0**24


@functools.cache
def law(name: str) -> Trials:
    """Draw the set of a law: effects of speakers, models and segments, and noise."""
    about = LAWS[name]
    rng = np.random.default_rng([ord(letter) for letter in name])
    k = about.speakers
    more = np.arange(k) % 3 if about.unequal else np.zeros(k, int)
    models = np.repeat(np.arange(k), about.models + more)
    segments = np.repeat(np.arange(k), about.segments + more)
    same = models[:, None] == segments
    kept = rng.random(same.shape) >= about.missing
    row_ids = [f"m{i:03d}" for i in range(models.size)]
    column_ids = [f"s{i:03d}" for i in range(segments.size)]
    whose = zip(row_ids + column_ids, [*models, *segments], strict=True)

    def matrix() -> np.ndarray:
        table = rng.normal(size=(k, 1)) + rng.normal(size=k)
        np.fill_diagonal(table, 1.3 * rng.normal(size=k))
        scores = table[np.ix_(models, segments)] + np.where(same, about.high, about.low)
        scores = scores + 0.5 * rng.normal(size=(models.size, 1))
        scores = about.times * dyadic(scores + 1.5 * rng.normal(size=same.shape))
        scores = about.step * np.round(scores / about.step) if about.step else scores
        return scores.astype(np.float32) if about.single else scores

    common = matrix()
    matrices = {name: (common + matrix()) / 2 for name in "abc"}
    if about.infinite:
        matrices["a"][0, 0], matrices["a"][1, -1], matrices["a"][-1, 0] = np.inf, -np.inf, -np.inf
    level = rng.permutation(segments.size) % len(about.shares)
    of = {f"c{i}": i for i in range(len(about.shares))}
    return Trials(
        name=name,
        models=row_ids,
        segments=column_ids,
        is_tar=same & kept,
        is_non=~same & kept,
        matrices=matrices,
        speakers={name: f"p{speaker:02d}" for name, speaker in whose},
        conditions={c: np.broadcast_to(level == i, same.shape) & kept for c, i in of.items()},
        shares=dict(zip(of, about.shares, strict=True)),
        measures=(dyadic(rng.random(models.size)), dyadic(rng.random(segments.size))),
    )


def oracle_names() -> list[str]:
    return sorted(path.stem.removeprefix("stats_") for path in ORACLE.glob("stats_*.npz"))


@functools.cache
def oracle(name: str) -> Lists:
    with np.load(ORACLE / f"stats_{name}.npz") as file:
        return Lists(name=f"oracle {name}", tar=file["tar"], non=file["non"])


@attrs.frozen(eq=False, kw_only=True)
class Shipped(Lists):
    """A set of the package's examples, trial by trial; targets and non-targets of one system."""

    models: np.ndarray
    segments: np.ndarray
    labels: np.ndarray
    scores: dict[str, np.ndarray]
    speakers: dict[str, str]

    def of(self, label: str, system: str) -> np.ndarray:
        return self.scores[system][self.labels == label]


# Which file, and the system whose lists are taken.
SHIPPED = {
    "asvspoof dev": ("asvspoof2019_la_dev", "xvector"),
    "asvspoof eval": ("asvspoof2019_la_eval", "ecapa"),
    "forensic dev": ("forensic_dev", "system"),
    "forensic eval": ("forensic_eval", "system"),
}


@functools.cache
def shipped(folder: Path, name: str) -> Shipped:
    """Read a file of `bosaris_py/examples`, in `folder`, without the package."""
    stem, system = SHIPPED[name]
    with h5py.File(folder / f"{stem}.h5") as file:
        ids = [file[f"ID/{side}_ids"][()].astype(str) for side in ("row", "column")]
        at = [file[f"trials/{side}"][()] for side in ("models", "segments")]
        columns = {
            (side, text.decode()): _column(file[f"columns/{side}/{i}"])
            for side in ("model", "segment", "trial")
            for i, text in enumerate(file[f"columns/{side}/names"][()])
        }
    scores = {of: x for (side, of), x in columns.items() if side == "trial" and of != "label"}
    if ("segment", "aasist") in columns:
        scores["aasist"] = columns["segment", "aasist"][at[1]]
    labels = columns["trial", "label"]
    of_models = columns.get(("model", "reference_speaker"), ids[0])
    people = [*zip(ids[0], of_models, strict=True)]
    people += zip(ids[1], columns["segment", "speaker"], strict=True)
    return Shipped(
        name=name,
        tar=scores[system][labels == "target"],
        non=scores[system][labels == "nontarget"],
        models=ids[0][at[0]],
        segments=ids[1][at[1]],
        labels=labels,
        scores=scores,
        speakers={str(one): str(other) for one, other in people},
    )


def _column(group: h5py.Group) -> np.ndarray:
    if "values" in group:
        return np.asarray(group["values"][()])
    return np.asarray(group["levels"][()].astype(str)[group["codes"][()]])
