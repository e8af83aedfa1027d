"""Lines that users write by mistake: each is refused, warned of, or gives the right number."""

import gzip
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from scipy.io import savemat
from scipy.special import ndtr, ndtri

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import (
    BosarisWarning,
    DisjointIdsError,
    DuplicateTrialWarning,
    FileFormatError,
    InvalidInputError,
    MissingTrialsWarning,
    SuspectScoresWarning,
)

Call = Callable[[Path], Any]


@attrs.frozen
class Refused:
    """An error of a class, whose message names the argument, or has these words."""

    error: type[Exception]
    names: str


@attrs.frozen
class Warned:
    """A warning of a class, with these words."""

    category: type[Warning]
    names: str


@attrs.frozen
class Right:
    """A number by another way, to a relative difference; no warning is needed."""

    value: float
    rel: float = 1e-12


# Quantiles of two normal classes with means +-2 and deviation 2: calibrated llrs.
N_TAR, N_NON = 200, 400
TAR = 2.0 + 2.0 * ndtri((np.arange(N_TAR) + 0.5) / N_TAR)
NON = -2.0 + 2.0 * ndtri((np.arange(N_NON) + 0.5) / N_NON)
# No trial lies between these two classes: the rates are equal at 0, where a tail of ndtr(-1) is.
EER_STEP = float(ndtr(-1.0))
CLLR = float((np.logaddexp(0, -TAR).mean() + np.logaddexp(0, NON).mean()) / (2 * np.log(2)))
ALL = np.concatenate([TAR, NON])
LABELS = np.arange(ALL.size) < N_TAR
NAN_AT_3 = np.where(np.arange(ALL.size) == 3, np.nan, ALL)
SHUFFLED = np.random.default_rng(3).permutation(ALL.size)


class OnGPU:
    """What PyTorch's tensors do on a graphics card."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        message = "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first"
        raise TypeError(message)


def fused(x: Any) -> Any:
    """Two alike systems, so that their order is hardly seen."""
    rng = np.random.default_rng(1)
    both = [ALL + rng.normal(0, 1, ALL.size), ALL + rng.normal(0, 1.5, ALL.size)]
    tar, non = ([each[mask] for each in both] for mask in (LABELS, ~LABELS))
    return bp.LinearFusion.fit(tar, non).apply(x)


LINE = bp.LinearCalibration.fit(TAR / 10, NON / 10)
STATISTIC = unc.ActDCF(0.05)
FEW = {"replications": 9, "rng": 1}

ARRAYS: dict[str, tuple[Call, Any]] = {
    "swapped classes": (lambda _: bp.eer(NON, TAR), Warned(SuspectScoresWarning, "swapped")),
    "labels, scores": (lambda _: bp.eer(LABELS, ALL), Refused(InvalidInputError, "`tar`")),
    "scores, labels": (lambda _: bp.cllr(ALL, LABELS), Refused(InvalidInputError, "`non`")),
    "labels of 0 and 1": (
        lambda _: bp.min_dcf(LABELS * 1.0, ALL, 0.05),
        Refused(InvalidInputError, "`tar`"),
    ),
    "from_labels, scores first": (
        lambda _: bp.Results.from_labels(ALL, LABELS),
        Refused(InvalidInputError, "`labels`"),
    ),
    "labels 1 and 2": (
        lambda _: bp.Results.from_labels(LABELS + 1, ALL),
        Refused(InvalidInputError, "`labels`"),
    ),
    "labels of a third word": (
        lambda _: bp.Results.from_labels(["same", "different", "unknown"] * 200, ALL),
        Refused(InvalidInputError, "`labels`"),
    ),
    "labels with NaN": (
        lambda _: bp.Results.from_labels(np.where(np.isnan(NAN_AT_3), np.nan, LABELS), ALL),
        Refused(InvalidInputError, "`labels`"),
    ),
    "too few labels": (
        lambda _: bp.Results.from_labels(LABELS[1:], ALL),
        Refused(InvalidInputError, "`labels`"),
    ),
    "labels of one class": (
        lambda _: bp.Results.from_labels(LABELS[:9], ALL[:9]).eer,
        Refused(InvalidInputError, "`non`"),
    ),
    "log10 with its base": (
        lambda _: bp.Results(TAR / np.log(10), NON / np.log(10), base=10).cllr,
        Right(CLLR),
    ),
    "ratios": (
        lambda _: bp.cllr(np.exp(TAR), np.exp(NON)),
        Warned(SuspectScoresWarning, "no log-likelihood-ratios"),
    ),
    "posteriors": (
        lambda _: bp.cllr(bp.sigmoid(TAR), bp.sigmoid(NON)),
        Warned(SuspectScoresWarning, "no log-likelihood-ratios"),
    ),
    "log posteriors": (
        lambda _: bp.act_dcf(np.log(bp.sigmoid(TAR)), np.log(bp.sigmoid(NON)), 0.05),
        Warned(SuspectScoresWarning, "no log-likelihood-ratios"),
    ),
    "per cent": (
        lambda _: bp.cllr(100 * bp.sigmoid(TAR), 100 * bp.sigmoid(NON)),
        Warned(SuspectScoresWarning, "no log-likelihood-ratios"),
    ),
    "cosines": (
        lambda _: bp.act_dcf(np.tanh(TAR), np.tanh(NON), 0.05),
        Warned(SuspectScoresWarning, "no log-likelihood-ratios"),
    ),
    "distances": (lambda _: bp.eer(-TAR, -NON), Warned(SuspectScoresWarning, "distances")),
    "NaN": (lambda _: bp.eer(NAN_AT_3, NON), Refused(InvalidInputError, "`tar`")),
    "NaN among labelled scores": (
        lambda _: bp.Results.from_labels(LABELS[::-1], NAN_AT_3),
        Refused(InvalidInputError, "`scores`"),
    ),
    "masked": (
        lambda _: bp.eer(np.ma.masked_less(TAR, 0.0), NON),
        Refused(InvalidInputError, "`tar`"),
    ),
    "one column": (lambda _: bp.eer(TAR[:, None], NON), Refused(InvalidInputError, "`tar`")),
    "numbers as text": (
        lambda _: bp.eer([str(x) for x in TAR], NON),
        Refused(InvalidInputError, "`tar`"),
    ),
    "no target": (lambda _: bp.eer([], NON), Refused(InvalidInputError, "`tar`")),
    "one number": (lambda _: bp.eer(2.0, NON), Refused(InvalidInputError, "`tar`")),
    "None among numbers": (lambda _: bp.eer([1.0, None], NON), Refused(InvalidInputError, "`tar`")),
    "complex": (lambda _: bp.eer(TAR + 0j, NON), Refused(InvalidInputError, "`tar`")),
    "a set": (lambda _: bp.eer({1.0, 2.0}, NON), Refused(InvalidInputError, "`tar`")),
    "a tensor on a card": (lambda _: bp.eer(OnGPU(), NON), Refused(TypeError, "cpu()")),
    "whole numbers": (
        lambda _: bp.eer([1, 2, 3, 3], [0, 1, 0, 0], definition="step"),
        # Of thresholds above 1 all reject one target; at 1 one of four non-targets passes.
        Right(0.125),
    ),
    "Scores and Key": (lambda _: bp.eer(*both()), Refused(InvalidInputError, "`tar`")),
    "prior of 1": (lambda _: bp.min_dcf(TAR, NON, 1.0), Refused(InvalidInputError, "prior")),
    "prior in per cent": (lambda _: bp.act_dcf(TAR, NON, 5), Refused(InvalidInputError, "prior")),
    "prior as log-odds": (
        lambda _: bp.min_dcf(TAR, NON, -2.9),
        Refused(InvalidInputError, "prior"),
    ),
    "prior NaN": (lambda _: bp.act_dcf(TAR, NON, np.nan), Refused(InvalidInputError, "prior")),
    "prior as text": (lambda _: bp.act_dcf(TAR, NON, "0.05"), Refused(InvalidInputError, "prior")),
    "prior by its other name": (
        lambda _: bp.min_dcf(TAR, NON, p_target=0.05),
        Refused(TypeError, "p_target"),
    ),
    "cost below zero": (
        lambda _: bp.OperatingPoint(0.05, -1, 1),
        Refused(InvalidInputError, "`c_miss`"),
    ),
    "costs before the prior": (
        lambda _: bp.OperatingPoint(10, 1, 0.01),
        Refused(InvalidInputError, "`p_target`"),
    ),
    "a threshold only": (
        lambda _: unc.DCF(2.0),
        Refused((InvalidInputError, TypeError), "p_target"),
    ),
    "false-alarm rate in per cent": (
        lambda _: bp.Results(TAR, NON).threshold_at(pfa=5),
        Refused(InvalidInputError, "`pfa`"),
    ),
    "both rates": (
        lambda _: bp.Results(TAR, NON).threshold_at(pfa=0.1, pmiss=0.1),
        Refused(InvalidInputError, "pmiss or pfa"),
    ),
    "definition of another kit": (
        lambda _: bp.eer(TAR, NON, definition="speechbrain"),
        Refused(InvalidInputError, "`definition`"),
    ),
    "fusion of trials x systems": (
        lambda _: bp.LinearFusion.fit(np.stack([TAR, TAR]).T, np.stack([NON, NON]).T),
        Refused(InvalidInputError, "`non`"),
    ),
    "balanced fusion, transposed": (
        lambda _: bp.LinearFusion.fit(np.stack([TAR, TAR]).T, np.stack([NON[:200], NON[200:]]).T),
        Warned(SuspectScoresWarning, "`tar`"),
    ),
    "fusion of as many trials as systems": (
        lambda _: fused(np.array([[3.0, -3.0], [2.5, -2.5]])),
        Warned(SuspectScoresWarning, "rows"),
    ),
    "fusion of too few systems": (lambda _: fused([TAR]), Refused(InvalidInputError, "`x`")),
    "a line for swapped classes": (
        lambda _: bp.LinearCalibration.fit(NON, TAR),
        Warned(SuspectScoresWarning, "negative"),
    ),
    "training on infinite scores": (
        lambda _: bp.LinearCalibration.fit([*TAR, np.inf], NON),
        Refused(InvalidInputError, "`tar`"),
    ),
    "calibrating NaN": (lambda _: LINE.apply(NAN_AT_3), Refused(InvalidInputError, "`x`")),
    "calibrating other scores": (
        lambda _: LINE.apply(100 * TAR),
        Warned(bp.errors.ExtrapolationWarning, "far outside"),
    ),
    "a class, not a map": (lambda _: bp.LinearCalibration.apply(TAR), Refused(TypeError, "apply")),
    "weights below zero": (
        lambda _: bp.eer(TAR, NON, tar_weights=-np.ones(N_TAR)),
        Refused(InvalidInputError, "`tar_weights`"),
    ),
    "weights of the other class": (
        lambda _: bp.eer(TAR, NON, tar_weights=np.ones(N_NON)),
        Refused(InvalidInputError, "`tar_weights`"),
    ),
    "confidence in per cent": (
        lambda _: unc.bootstrap(TAR, NON, STATISTIC, confidence=95, **FEW),
        Refused(InvalidInputError, "`confidence`"),
    ),
    "no replication": (
        lambda _: unc.bootstrap(TAR, NON, STATISTIC, replications=0),
        Refused(InvalidInputError, "`replications`"),
    ),
    "half a replication": (
        lambda _: unc.bootstrap(TAR, NON, STATISTIC, replications=9.5),
        Refused(InvalidInputError, "`replications`"),
    ),
    "a statistic by a wrong name": (
        lambda _: unc.bootstrap(TAR, NON, "eeer", **FEW),
        Refused(InvalidInputError, "`statistic`"),
    ),
    "a class, not a statistic": (
        lambda _: unc.bootstrap(TAR, NON, unc.EER, **FEW),
        Refused(InvalidInputError, "`statistic`"),
    ),
    "a word as seed": (
        lambda _: unc.bootstrap(TAR, NON, STATISTIC, replications=9, rng="seed"),
        Refused(InvalidInputError, "`rng`"),
    ),
    "ratio as llr of a posterior": (
        lambda _: bp.posterior(np.log(1 / 9), 0.75),
        # Odds of 3 times a ratio of 1/9 are odds of 1/3.
        Right(0.25),
    ),
    "prior in the place of odds on a plot": (
        lambda _: bp.BayesPlot().plot_operating_point(0.01),
        Refused(InvalidInputError, "prior=0.01"),
    ),
    "ten systems as pairs": (
        lambda _: bp.evaluate({"A": (TAR, NON)}).results["A"].cllr,
        Right(CLLR),
    ),
}

# Tables, keys and scores by id

SEGMENTS = [f"seg{i:03d}" for i in range(ALL.size)]


def both(scores: np.ndarray = ALL, *, model: str = "anna") -> tuple[bp.Scores, bp.Key]:
    return (
        bp.Scores(scores[None], [model], SEGMENTS),
        bp.Key([model], SEGMENTS, LABELS[None], ~LABELS[None]),
    )


def frame(**changes: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    words = np.where(LABELS, "target", "nontarget")
    columns = {"model": "anna", "segment": SEGMENTS, "score": ALL, "label": words}
    return pandas.DataFrame({**columns, **changes})


SCORES, KEY = both()
IDS = [f"{who}_{i}" for who in "abcd" for i in range(5)]
SAME = np.array([[one[0] == other[0] for other in IDS] for one in IDS])
SQUARE = bp.Scores(np.where(SAME, 2.0, -2.0) + np.arange(400).reshape(20, 20) / 100, IDS, IDS)
MAP = bp.LinearCalibration.fit_scores(both(ALL / 10)[0], KEY)


def renamed(change: Callable[[str], str]) -> bp.Scores:
    return bp.Scores(ALL[None], ["anna"], [change(each) for each in SEGMENTS])


def by_pandas(_: Path) -> float:
    """Put calibrated scores beside others in a shuffled table, as pandas aligns them."""
    table = frame().iloc[SHUFFLED]
    data = bp.from_frame(table)
    table["llr"] = data.column(MAP.apply(data.scores["score"]))
    tar, non = (table.llr[table.label == word] for word in ("target", "nontarget"))
    return bp.eer(tar.to_numpy(), non.to_numpy(), definition="step")


def by_rows(_: Path) -> Any:
    table = frame().iloc[SHUFFLED]
    table["llr"] = bp.from_frame(table).scores["score"].to_frame()["score"]
    return bp.eer(table.llr[table.label == "target"], table.llr[table.label == "nontarget"])


TABLES: dict[str, tuple[Call, Any]] = {
    "each recording with itself": (
        lambda _: bp.Key(IDS, IDS, SAME, ~SAME),
        Warned(DuplicateTrialWarning, "20"),
    ),
    "each with itself in a table": (
        lambda _: bp.from_frame(
            {
                "model": np.repeat(IDS, 20),
                "segment": IDS * 20,
                "score": SQUARE.scoremat.ravel(),
                "label": SAME.ravel() * 1,
            }
        ),
        Warned(DuplicateTrialWarning, "20"),
    ),
    "pairs by speaker": (
        # Four speakers of ten pairs each.
        lambda _: bp.Key.from_speakers(IDS, [each[0] for each in IDS]).n_tar,
        Right(40),
    ),
    "targets that are non-targets": (
        lambda _: bp.Key(["m"], ["s", "t"], [[True, True]], [[False, True]]),
        Refused(InvalidInputError, "`non`"),
    ),
    "masks transposed": (
        lambda _: bp.Key(["m"], SEGMENTS, LABELS[:, None], ~LABELS[:, None]),
        Refused(InvalidInputError, "`tar`"),
    ),
    "scores transposed": (
        lambda _: bp.Scores(ALL[:, None], ["m"], SEGMENTS),
        Refused(InvalidInputError, "`scoremat`"),
    ),
    "ids before scores": (
        lambda _: bp.Scores(["m"], SEGMENTS, ALL[None]),
        Refused(InvalidInputError, "`"),
    ),
    "ids twice": (
        lambda _: bp.Scores([[1.0, 2.0]], ["m"], ["s", "s"]),
        Refused(InvalidInputError, "`segset`"),
    ),
    "ids that are numbers": (
        lambda _: bp.Scores([[1.0, 2.0]], ["m"], [1.0, 2.0]),
        Refused(InvalidInputError, "whole numbers"),
    ),
    "NaN score of a trial": (
        lambda _: bp.Results.from_scores(both(NAN_AT_3)[0], KEY),
        Refused(InvalidInputError, "NaN"),
    ),
    "words as labels of trials": (
        lambda _: bp.Key.from_trials(["m", "m"], ["s", "t"], ["target", "nontarget"]),
        Refused(InvalidInputError, "`is_target`"),
    ),
    "a trial twice with two scores": (
        lambda _: bp.Scores.from_trials(["m", "m"], ["s", "s"], [1.0, 2.0]),
        Refused(InvalidInputError, "(m, s)"),
    ),
    "too few scores": (
        lambda _: bp.Scores.from_trials(["m", "m"], ["s", "t"], [1.0]),
        Refused(InvalidInputError, "`scores`"),
    ),
    "models and segments swapped": (
        lambda _: bp.evaluate(bp.Scores(ALL[:, None], SEGMENTS, ["anna"]), KEY),
        Refused(DisjointIdsError, "`key`"),
    ),
    "ids in upper case": (
        lambda _: bp.evaluate(renamed(str.upper), KEY),
        Refused(DisjointIdsError, "case"),
    ),
    "ids with a suffix": (
        lambda _: bp.evaluate(renamed(lambda each: f"{each}.wav"), KEY),
        Refused(DisjointIdsError, ".wav"),
    ),
    "ids without zeros": (
        lambda _: bp.evaluate(renamed(lambda each: f"seg{int(each[3:]):05d}"), KEY),
        Refused(DisjointIdsError, "seg000"),
    ),
    "targets in upper case": (
        lambda _: bp.evaluate(renamed(lambda e: e.upper() if int(e[3:]) < N_TAR else e), KEY),
        Refused(InvalidInputError, "case"),
    ),
    "half of the ids in upper case": (
        lambda _: bp.evaluate(renamed(lambda e: e.upper() if int(e[3:]) % 2 else e), KEY),
        Warned(MissingTrialsWarning, "300"),
    ),
    "key of another set": (
        lambda _: bp.Results.from_scores(SCORES, both(model="bert")[1]),
        Refused(DisjointIdsError, "bert"),
    ),
    "key before scores": (
        lambda _: bp.evaluate(KEY, SCORES),
        Refused(InvalidInputError, "`systems`"),
    ),
    "scores as a bare array": (
        lambda _: bp.evaluate(ALL, KEY),
        Refused(InvalidInputError, "`systems`"),
    ),
    "two tables": (
        lambda _: bp.evaluate(frame(), frame()),
        Refused(InvalidInputError, "from_frame"),
    ),
    "key of targets only": (
        lambda _: bp.evaluate(SCORES, bp.Key(["anna"], SEGMENTS, LABELS[None], 0 * LABELS[None])),
        Refused(InvalidInputError, "`non`"),
    ),
    "a system given twice": (
        lambda _: bp.LinearFusion.fit_scores([SCORES, SCORES], KEY),
        Warned(bp.errors.ConvergenceWarning, "twice"),
    ),
    "a file's name as a key": (
        lambda _: bp.Results.from_scores(SCORES, "key.txt"),
        Refused(FileNotFoundError, "key.txt"),
    ),
    "other words are non-targets": (
        lambda _: bp.from_frame(
            frame(label=np.where(LABELS, "same", np.resize(["different", "unknown"], 600))),
            tar="same",
        ),
        Refused(InvalidInputError, "`non`"),
    ),
    "a label is missing": (
        lambda _: bp.from_frame(frame(label=[None, *np.where(LABELS, "target", "nontarget")[1:]])),
        Refused(InvalidInputError, "label"),
    ),
    "labels 1 and 2 in a table": (
        lambda _: bp.from_frame(frame(label=LABELS + 1)),
        Refused(InvalidInputError, "label"),
    ),
    "a score that is text": (
        lambda _: bp.from_frame(frame(score=[f"{x:.3f}".replace(".", ",") for x in ALL])),
        Refused(InvalidInputError, "score"),
    ),
    "a score that is NaN": (
        lambda _: bp.from_frame(frame(score=NAN_AT_3)),
        Refused(InvalidInputError, "score"),
    ),
    "a column of another name": (
        lambda _: bp.from_frame(frame(), segment="segmnt"),
        Refused(InvalidInputError, "`segment`"),
    ),
    "a number beside the score": (
        lambda _: bp.from_frame(frame(duration=np.arange(ALL.size) / 7)),
        Refused(InvalidInputError, "duration"),
    ),
    "a column of other rows": (
        lambda _: bp.Scores.from_trials(
            frame().model, frame().segment, frame().score.iloc[SHUFFLED]
        ),
        Refused(InvalidInputError, "`scores`"),
    ),
    "rows in another order": (
        lambda _: (
            bp.evaluate(bp.from_frame(frame().iloc[SHUFFLED]).scores, KEY).results["score"].cllr
        ),
        Right(CLLR),
    ),
    "a matrix of other rows": (
        lambda _: bp.Scores(
            frame().pivot(index="model", columns="segment", values="score"),
            ["anna"],
            SEGMENTS[::-1],
        ),
        Refused(InvalidInputError, "`scoremat`"),
    ),
    "conditions of a bare array": (
        lambda _: bp.Conditions.from_labels(KEY, ["f", "m"] * 300),
        Refused(InvalidInputError, "`order`"),
    ),
    "conditions of a wrong length": (
        lambda _: bp.Conditions.from_labels(KEY, ["f", "m"] * 299, order="columns"),
        Refused(InvalidInputError, "`labels`"),
    ),
    "a condition that nobody knows": (
        lambda _: bp.evaluate(SCORES, KEY, conditions="gender"),
        Refused(InvalidInputError, "conditions"),
    ),
    "llrs beside their rows": (by_pandas, Right(EER_STEP, 0.02)),
    "llrs by the number of the row": (by_rows, Refused(InvalidInputError, "NaN")),
    "speakers of nobody": (
        lambda _: bp.evaluate(SCORES, KEY, speakers={"x": "y"}, replications=9),
        Refused(InvalidInputError, "`speakers`"),
    ),
    "calibrating twice": (
        lambda _: MAP.apply(MAP.apply(both(ALL / 10)[0])),
        Warned(SuspectScoresWarning, "twice"),
    ),
    "a plan by a wrong name": (
        lambda _: bp.evaluate(SCORES, KEY, plan="SRE2019"),
        Refused(InvalidInputError, "SRE19"),
    ),
    "a prior among the systems": (
        lambda _: bp.evaluate(SCORES, 0.05),
        Refused(InvalidInputError, "`key`"),
    ),
}


# Files


def put(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def scored(separator: str = " ") -> list[str]:
    return [
        separator.join(["anna", seg, f"{x!r}"])
        for seg, x in zip(SEGMENTS, ALL.tolist(), strict=True)
    ]


def labelled() -> list[str]:
    words = np.where(LABELS, "target", "nontarget")
    return [f"anna {segment} {word}" for segment, word in zip(SEGMENTS, words, strict=True)]


def cllr_of(scores: Any) -> float:
    return bp.Results.from_scores(scores, KEY).cllr


def saved(folder: Path) -> Path:
    MAP.save(folder / "model.json")
    return folder / "model.json"


def twice(folder: Path, name: str) -> bp.Scores:
    MAP.apply(both(ALL / 10)[0]).save(folder / name)
    return MAP.apply(bp.Scores.read(folder / name))


def cut(folder: Path) -> Path:
    whole = gzip.compress("\n".join(scored()).encode())
    (folder / "scores.txt.gz").write_bytes(whole[: len(whole) // 2])
    return folder / "scores.txt.gz"


def as_utf16(folder: Path) -> Path:
    (folder / "scores.txt").write_bytes("\n".join(scored()).encode("utf-16"))
    return folder / "scores.txt"


def matrix_file(folder: Path) -> Path:
    savemat(folder / "scores.mat", {"scores": ALL[None]})
    return folder / "scores.mat"


def saved_to(path: Path, item: Any) -> Path:
    item.save(path)
    return path


FILES: dict[str, tuple[Call, Any]] = {
    "a CSV without header": (
        lambda at: cllr_of(bp.read_scores(put(at, "s.csv", *scored(",")))),
        Right(CLLR),
    ),
    "a CSV of other names": (
        lambda at: bp.read_scores(put(at, "s.csv", "who,what,value", *scored(","))),
        Refused(FileFormatError, "`columns`"),
    ),
    "a CSV whose columns are told": (
        lambda at: cllr_of(
            bp.read_scores(put(at, "s.csv", *scored(",")), columns="model,segment,score")
        ),
        Right(CLLR),
    ),
    "a CSV with other names": (
        lambda at: cllr_of(bp.read_scores(put(at, "s.csv", "utt1,utt2,score", *scored(",")))),
        Right(CLLR),
    ),
    "semicolons": (
        lambda at: cllr_of(bp.read_scores(put(at, "s.csv", "model;segment;score", *scored(";")))),
        Right(CLLR),
    ),
    "decimal commas": (
        lambda at: bp.read_scores(put(at, "s.txt", "anna s1 1,5", "anna s2 2,5")),
        Refused(FileFormatError, "s.txt"),
    ),
    "a key as scores": (
        lambda at: bp.read_scores(put(at, "k.txt", *labelled())),
        Refused(FileFormatError, "key"),
    ),
    "scores as a key": (
        lambda at: bp.read_key(put(at, "s.txt", *scored())),
        Refused(FileFormatError, "s.txt"),
    ),
    "files swapped": (
        lambda at: bp.evaluate(put(at, "k.txt", *labelled()), put(at, "s.txt", *scored())),
        Refused((FileFormatError, InvalidInputError), ".txt"),
    ),
    "trials without labels as a key": (
        lambda at: bp.read_key(put(at, "t.txt", *(line.rsplit(" ", 1)[0] for line in labelled()))),
        Refused(FileFormatError, "t.txt"),
    ),
    "a list of trials in HDF5 as a key": (
        lambda at: bp.Key.read(saved_to(at / "n.h5", KEY.to_ndx())),
        Refused(FileFormatError, "Ndx"),
    ),
    "scores in HDF5 as a key": (
        lambda at: bp.Key.read(saved_to(at / "s.h5", SCORES)),
        Refused(FileFormatError, "s.h5"),
    ),
    "a key in HDF5 as scores": (
        lambda at: bp.Scores.read(saved_to(at / "k.h5", KEY)),
        Refused(FileFormatError, "k.h5"),
    ),
    "no file": (lambda at: bp.read_scores(at / "none.txt"), Refused(FileNotFoundError, "none.txt")),
    "a folder": (lambda at: bp.read_scores(at), Refused(OSError, "")),
    "an empty file": (
        lambda at: bp.read_scores(put(at, "e.txt")),
        Refused(FileFormatError, "e.txt"),
    ),
    "NaN in a file": (
        lambda at: bp.read_scores(put(at, "s.txt", *scored()[:4], "anna x nan")),
        Refused(FileFormatError, "5"),
    ),
    "a word in the place of a score": (
        lambda at: bp.read_scores(put(at, "s.txt", *scored()[:4], "anna x high")),
        Refused(FileFormatError, "5"),
    ),
    "a line that is too short": (
        lambda at: bp.read_scores(put(at, "s.txt", *scored()[:4], "anna x")),
        Warned(MissingTrialsWarning, "1 of 5 lines"),
    ),
    "a trial twice in a file": (
        lambda at: bp.read_scores(put(at, "s.txt", *scored(), "anna seg000 9.0")),
        Refused((FileFormatError, InvalidInputError), "seg000"),
    ),
    "a last line without an end": (
        lambda at: (at / "s.txt").write_text("\n".join(scored())) and bp.read_scores(at / "s.txt"),
        Warned(BosarisWarning, "last line"),
    ),
    "a third word in a key": (
        lambda at: bp.read_key(put(at, "k.txt", *labelled(), "anna x unknown")),
        Refused(FileFormatError, "unknown"),
    ),
    "pairs in both orders": (
        lambda at: bp.read_key(put(at, "k.txt", "a b target", "b a target", "a c nontarget")),
        Warned(DuplicateTrialWarning, "both orders"),
    ),
    "a recording with itself in a file": (
        lambda at: bp.read_key(put(at, "k.txt", "a a target", "a b target", "a c nontarget")),
        Warned(DuplicateTrialWarning, "itself"),
    ),
    "words in the third of four columns": (
        lambda at: bp.read_key(
            put(at, "k.txt", "a b same 1.5", "a c different -1.5", "b c different -2.5")
        ),
        Refused(FileFormatError, "`columns`"),
    ),
    "half of a compressed file": (
        lambda at: bp.read_scores(cut(at)),
        Refused((FileFormatError, EOFError), "scores.txt.gz"),
    ),
    "another encoding": (lambda at: bp.read_scores(as_utf16(at)), Refused(FileFormatError, "UTF")),
    "a matrix of MATLAB": (
        lambda at: bp.Scores.read(matrix_file(at)),
        Refused(FileFormatError, "scores"),
    ),
    "a model as scores": (
        lambda at: bp.read_scores(saved(at)),
        Refused(FileFormatError, "model.json"),
    ),
    "scores as a model": (
        lambda at: bp.read_model(put(at, "s.txt", *scored())),
        Refused(FileFormatError, "s.txt"),
    ),
    "another map": (
        lambda at: bp.LinearFusion.read(saved(at)),
        Refused(FileFormatError, "LinearCalibration"),
    ),
    "a format that is none": (
        lambda at: SCORES.save(at / "s.npy"),
        Refused(InvalidInputError, ".npy"),
    ),
    "too few names of columns": (
        lambda at: bp.read_scores(put(at, "s.csv", *scored(",")), columns="model segment"),
        Refused((FileFormatError, InvalidInputError), "column"),
    ),
    "calibrating a file twice": (
        lambda at: twice(at, "s.h5"),
        Warned(SuspectScoresWarning, "twice"),
    ),
    "an infinite score in a file": (
        # An infinite LLR of a target costs nothing; the others are as before.
        lambda at: (
            bp.Results.from_scores(
                bp.read_scores(put(at, "s.txt", "anna seg000 inf", *scored()[1:])), KEY
            ).eer_threshold
            * 0.0
        ),
        Right(0.0),
    ),
}

ROWS = {**ARRAYS, **TABLES, **FILES}


@pytest.mark.parametrize(("call", "wanted"), ROWS.values(), ids=ROWS)
def test_misuse(call: Call, wanted: Refused | Warned | Right, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if isinstance(wanted, Refused):
            with pytest.raises(wanted.error) as refused:
                call(tmp_path)
            assert wanted.names in str(refused.value)
            return
        found = call(tmp_path)
    if isinstance(wanted, Right):
        assert found == pytest.approx(wanted.value, rel=wanted.rel)
        return
    said = [str(item.message) for item in caught if issubclass(item.category, wanted.category)]
    assert any(wanted.names in text for text in said)


@pytest.mark.parametrize(
    "function",
    [
        bp.LinearCalibration.fit_scores,
        bp.LinearFusion.fit_scores,
        bp.LinearFusion.fit_files,
        bp.QualityFusion.fit_scores,
        bp.Conditions.from_labels,
        bp.Conditions.from_trials,
        bp.Conditions.from_factors,
        bp.TrialMetadata.conditions,
    ],
)
def test_help_names_keywords_that_are_forwarded_and_errors_name_the_function(function):
    """Keywords of one set are in the signature, in the order of their defaults."""
    known = inspect.signature(function).parameters
    assert {"uncovered", "lacking"} <= {*known} or {"prior", "objective", "ridge"} <= {*known}
    assert not any(each.kind is each.VAR_KEYWORD for each in known.values())
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected .*'lackin'"):
        function(lackin=1)
