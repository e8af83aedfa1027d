"""Maps trained on, and applied to, files of scores that are larger than memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array, FloatArray
from bosaris_py._notes import warn
from bosaris_py._parallel import progress_bar
from bosaris_py._validation import FilePath, as_path, invalid
from bosaris_py.calibration import base
from bosaris_py.files import hdf5_writing
from bosaris_py.files.columns import trial_codes
from bosaris_py.files.hdf5 import is_list
from bosaris_py.files.replacing import refuse_inputs
from bosaris_py.numerics import scoring as training
from bosaris_py.numerics.newton import Ridge, ridge_strengths
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials import Ndx, Scores, large as files_large
from bosaris_py.trials.key import Key
from bosaris_py.trials.scores import assemble

# What maps the scores of several systems, of one shape, to log-likelihood-ratios.
Combine: TypeAlias = Callable[[Sequence[FloatArray]], Float64Array]

_HDF5 = (".h5", ".hdf5")


def objective_in_files(
    scores: Sequence[FilePath],
    key_file: FilePath,
    where: base.Options,
    *,
    prior: float | OperatingPoint,
    objective: str,
    ridge: Ridge,
    all_scored: bool,
) -> training.TrainingObjective:
    """Return the objective of a training on files, with some of the non-targets in memory."""
    # Arguments are checked before files are opened and read for minutes.
    ridge_strengths(ridge, 1)
    rule = training.scoring_rule(objective)
    probability, plo = training.resolve_prior(prior)
    files = files_large.TrialFiles.open([(scores, as_path(key_file, "key_file"))], **where)
    summarise = functools.partial(_summary, step=files.step(files_large.KEPT))
    tar, n_non, found, missing = files.first_pass(
        summarise, "training scores", all_scored=all_scored
    )
    warn(missing)
    moments, sizes, some = zip(*found, strict=True)
    non: training.TrainingClass = training.TrainingClass(np.concatenate(some, axis=1))
    if non.n_trials < n_non:
        non = _ClassInFiles(
            non.scores, files=files, count=n_non, known=training.merge_moments(moments, sizes)
        )
    targets = training.TrainingClass(tar)
    return training.TrainingObjective(rule=rule, prior=probability, plo=plo, tar=targets, non=non)


@attrs.frozen(eq=False)
class _ClassInFiles(training.TrainingClass):
    """Non-targets of which some are in memory, from whose optimum training starts."""

    files: files_large.TrialFiles = attrs.field(kw_only=True)
    count: int = attrs.field(kw_only=True)
    known: training.ClassMoments = attrs.field(kw_only=True)
    in_files: ClassVar[bool] = True

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return self.count

    def moments(self) -> training.ClassMoments:
        """Return mean, scatter and range."""
        return self.known

    def sum(self, loss: training.LinearLoss) -> training.ClassSums:
        """Return the sum of a loss over all trials, in a pass over the files."""
        return self.files.sum(loss.sum, f"objective ({loss.rule.name})")


def _summary(scores: FloatArray, step: int) -> tuple[training.ClassMoments, int, FloatArray]:
    """Return the moments and the number of non-targets, (n_systems, n), and some of them."""
    return training.class_moments(scores), scores.shape[1], files_large.evenly(scores, step)


def write_llrs(
    score_files: Sequence[FilePath],
    trial_file: FilePath | None,
    output_file: FilePath,
    combine: Combine,
    in_memory: Callable[[list[Scores], Key | Ndx | None], Scores],
    met: Sequence[base.Met],
    *,
    needs_all: bool,
    progress: bool,
) -> None:
    """Write what a map makes of the scores in files into another file; count those far off.

    Without `trial_file` all scores of the one system are written. Trials without score are refused
    if all are needed, and warned of otherwise. Where all files are lists, `in_memory` maps them.
    """
    if Path(as_path(output_file, "output_file")).suffix.lower() not in _HDF5:
        raise invalid("output_file", f"end in {' or '.join(_HDF5)}", repr(str(output_file)))
    trials = [] if trial_file is None else [as_path(trial_file, "ndx_file")]
    refuse_inputs(output_file, (*score_files, *trials), "output_file")
    listed = files_large.read_list(trials[0]) if trials and is_list(trials[0]) else None
    if all(map(is_list, [*score_files, *trials])):
        in_memory([Scores.read(path) for path in score_files], listed).save_hdf5(output_file)
        return
    files = files_large.open_trials(score_files, trials[0] if trials else None)
    mapped = _mapped(files, combine, met, needs_all=needs_all, progress=progress)
    if listed is None:
        hdf5_writing.write_rows(output_file, mapped, files.ids)
        return
    cells, llrs = [], []
    for rows, values, mask in mapped:
        models, segments = np.nonzero(mask)
        cells.append(trial_codes(models + rows.start, segments, listed.shape[0]))
        llrs.append(values[mask])
    codes = np.concatenate(cells)
    found = (
        None
        if codes.size == listed.n_trials
        else np.isin(trial_codes(*listed.trial_positions(), listed.shape[0]), codes)
    )
    in_order = np.concatenate(llrs)[np.argsort(codes)]
    assemble(in_order, listed, found).save_hdf5(output_file)


def _mapped(
    files: files_large.FileTrials,
    combine: Combine,
    met: Sequence[base.Met],
    *,
    needs_all: bool,
    progress: bool,
) -> Iterator[tuple[slice, Float64Array, BoolArray]]:
    """Yield rows, their log-likelihood-ratios, and where there are any."""
    counts, nan, contradictions = [], [], []
    cut = files.cut()
    bar = progress_bar(files.read(cut), total=len(cut), desc="scores", shown=progress)
    for rows, block in zip(cut, bar, strict=True):
        mask = block.scored != 0
        # What lies where there is no trial may be anything.
        llrs = np.where(mask, combine(block.scores), 0.0)
        for each, values in zip(met, block.scores, strict=True):
            if mask.any():
                each.count(values[mask], float(values[mask].min()), float(values[mask].max()))
        counts.append(block.counts())
        nan.append(block.nan())
        contradictions.append(block.nan([llrs]))
        yield rows, llrs, mask
    # Raised here, while the output is not complete, so that it never appears.
    files.refuse_nan(np.concatenate(nan))
    total = np.sum(counts, axis=0)
    if needs_all:
        files_large.refuse_missing(total)
    bad = np.concatenate(contradictions)
    if len(bad):
        first = f"({files.ids[0][bad[0, 0]]}, {files.ids[1][bad[0, 1]]})"
        n_trials = int(total[2] + total[3])
        where = f"{len(bad)} of {n_trials} trials, the first {first}"
        found = f"infinite evidence for and against at {where}"
        raise invalid("score_files", "not contradict each other", found)
    warn(files.missing(total))
