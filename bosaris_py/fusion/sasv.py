"""Fusion of a speaker verifier and a countermeasure to one log-likelihood-ratio."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, FloatArray, Given
from bosaris_py._notes import Note, warn
from bosaris_py._validation import FilePath, as_float_array, as_number, as_path, describe, invalid
from bosaris_py.calibration.base import Map, Met, weighted_sum
from bosaris_py.calibration.large import write_llrs
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.numerics.newton import Ridge
from bosaris_py.numerics.priors import OperatingPoint, SpoofCosts, SpoofCostsLike
from bosaris_py.trials.key import Key, Ndx, as_key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores, assemble, refuse_utterances, stack_scores


def _to_line(value: object) -> LinearCalibration:
    """Return a line, or build it of the fields that a file holds."""
    if isinstance(value, Mapping):
        return LinearCalibration(**value)
    if not isinstance(value, LinearCalibration):
        raise invalid("asv and cm", "be LinearCalibration", describe(value))
    return value


def _to_share(value: Given) -> float:
    return as_number(value, "spoof_share", "lie in [0, 1]", lambda x: 0.0 <= x <= 1.0)


def _class_lists(scores: Scores, key: Key) -> list[FloatArray]:
    """Return the scores of targets, zero-effort impostors and spoofs."""
    sample = Sample.from_trials(scores, key, allow_empty=True)
    is_spoof = np.zeros(sample.non.size) if sample.kinds is None else sample.kinds
    others = (sample.non.listed[is_spoof == kind] for kind in (0, 1))
    lists = [sample.tar.listed, *others]
    for one, noun in zip(lists, ("targets", "zero-effort impostors", "spoofs"), strict=True):
        if not one.size:
            hint = 'read_key(path) reads labels of three kinds; Key.from_trials takes "spoof".'
            hint = hint if noun == "spoofs" else ""
            raise invalid("key", f"have {noun} with scores", "none", hint)
    return lists


@attrs.frozen(kw_only=True, repr=False)
class SASVFusion(Map):
    r"""A speaker verifier and a countermeasure as one detector of targets; made by `fit`.

    Parameters
    ----------
    asv : LinearCalibration
        From the verifier's scores to log-likelihood-ratios of targets against zero-effort
        impostors.
    cm : LinearCalibration
        From the countermeasure's to those of bona fide speech against spoofs.
    spoof_share : float
        Share of spoofs among what must be rejected, by cost.
    notes : tuple of Note
        What the training left to note; files do not keep it.

    See Also
    --------
    bosaris_py.a_dcf, bosaris_py.act_a_dcf : What the fused scores are judged by.

    Notes
    -----
    A trial to be rejected is a spoof with probability :math:`\rho`, else a zero-effort impostor.
    The likelihood of this mixture gives [1]_

    .. math::

        \ell = -\log\left((1-\rho) e^{-\ell_{asv}} + \rho e^{-\ell_{cm}}\right), \qquad
        \rho = \frac{\pi_s C_{fa,s}}{\pi_s C_{fa,s} + \pi_n C_{fa}}.

    It takes for granted that the verifier's score says nothing about spoofs, and the
    countermeasure's nothing about the speaker. Bayes decisions are then those of
    `SpoofCosts.threshold`.

    References
    ----------
    .. [1] X. Wang et al., "Revisiting and improving scoring fusion for spoofing-aware speaker
       verification using compositional data analysis", Interspeech 2024.

    Examples
    --------
    >>> line = LinearCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], ridge=0)
    >>> fusion = SASVFusion(asv=line, cm=line, spoof_share=0.5)
    >>> fusion.apply(asv=[2.0, 2.0, -1.0], cm=[2.0, -1.0, 2.0]).round(3).tolist()
    [1.656, -3.586, -3.586]
    """

    takes_spoofs: ClassVar[bool] = True

    asv: LinearCalibration = attrs.field(converter=_to_line)
    cm: LinearCalibration = attrs.field(converter=_to_line)
    spoof_share: float = attrs.field(converter=_to_share)

    @classmethod
    def fit(
        cls,
        key: Key,
        *,
        asv: Scores,
        cm: Scores,
        costs: SpoofCostsLike = "a-DCF1",
        spoof_share: float | None = None,
        ridge: Ridge = "weak",
    ) -> Self:
        r"""Calibrate both detectors, each at its effective prior.

        Parameters
        ----------
        key : Key
            Trials of three classes.
        asv, cm : Scores
            Scores of the verifier and of the countermeasure.
        costs : SpoofCosts or str, default: "a-DCF1"
            Priors and costs, or their name, which decide both priors and the share of spoofs.
        spoof_share : float, optional
            Share of spoofs by cost, in place of that of `costs`.
        ridge : float or "weak", default: "weak"
            As for `LinearCalibration.fit`.

        Returns
        -------
        SASVFusion

        Raises
        ------
        InvalidInputError
            If kinds are not known, a class has no scores, a prior is 0, or the countermeasure
            scored utterances, not trials: see
            `trials.scores_of_segments <bosaris_py.trials.scores_of_segments>`.

        Warns
        -----
        MissingTrialsWarning, ConvergenceWarning
            As for `LinearCalibration.fit_scores`.

        Notes
        -----
        The verifier is trained on targets and zero-effort impostors at the prior of
        :math:`\pi_t C_{miss}` to :math:`\pi_n C_{fa}`; the countermeasure on bona fide trials of
        both kinds and spoofs at that of :math:`\pi_t C_{miss}` to :math:`\pi_s C_{fa,s}`.
        """
        scores = {"asv": asv, "cm": cm}
        how = costs, spoof_share, ridge
        return cls._trained_on(scores, key, *how)._told()

    @classmethod
    def _trained_on(
        cls,
        scores: Mapping[str, Scores],
        key: Key,
        costs: SpoofCostsLike = "a-DCF1",
        spoof_share: float | None = None,
        ridge: Ridge = "weak",
    ) -> Self:
        """Train as `fit` does, without a warning of the training."""
        if set(scores) != {"asv", "cm"}:
            hint = 'For instance {"asv": verifier, "cm": countermeasure}.'
            raise invalid("scores", "be those of asv and cm", describe(scores), hint)
        asv, cm = scores["asv"], scores["cm"]
        given = SpoofCosts.named(costs)
        for price, name in ((given.fa_price, "p_nontarget"), (given.spoof_price, "p_spoof")):
            if price == 0:
                raise invalid("costs", "have three classes of positive prior", f"{name} 0")
        share = given.spoof_share if spoof_share is None else spoof_share
        refuse_utterances(cm, as_key(key), "cm")
        (tar, non, _), (*bona, spoof) = (_class_lists(one, key) for one in (asv, cm))
        lines = []
        for trials, alarm in (
            ((tar, non), given.fa_price),
            ((np.concatenate(bona), spoof), given.spoof_price),
        ):
            prior = OperatingPoint(0.5, given.miss_price, alarm).effective_prior
            lines.append(LinearCalibration._trained(*trials, prior=prior, ridge=ridge))
        notes = [
            attrs.evolve(note, about=name)
            for name, line in zip(("asv", "cm"), lines, strict=True)
            for note in line.notes
        ]
        return cls(asv=lines[0], cm=lines[1], spoof_share=share, notes=tuple(notes))

    def apply(self, *, asv: Given, cm: Given, ndx: Ndx | Key | None = None) -> Given:
        """Fuse the scores of both detectors to log-likelihood-ratios.

        Parameters
        ----------
        asv, cm : array_like of float, or Scores
            Scores of the verifier and of the countermeasure, of the same trials.
        ndx : Ndx or Key, optional
            The trials to fuse; needed for Scores, and for them only.

        Returns
        -------
        ndarray of float64, or Scores
            Natural-log likelihood-ratios of targets against the mixture.

        Raises
        ------
        TrialMismatchError
            If a detector lacks scores of trials in `ndx`.
        """
        if ndx is not None:
            llrs, notes = self._on_trials({"asv": asv, "cm": cm}, ndx)
            warn(notes)
            return assemble(llrs, ndx)
        lists = as_float_array(asv, "asv"), as_float_array(cm, "cm")
        if lists[0].shape != lists[1].shape:
            raise invalid("cm", f"have the shape {lists[0].shape} of `asv`", f"{lists[1].shape}")
        llrs, notes = self._mapped([one.ravel() for one in lists])
        warn(notes)
        return llrs.reshape(lists[0].shape)[()]

    def _on_trials(
        self, scores: Mapping[str, Scores], ndx: Ndx | Key
    ) -> tuple[Float64Array, list[Note]]:
        """Return the log-likelihood-ratios of trials, and notes on their scores."""
        refuse_utterances(scores["cm"], ndx, "cm")
        return self._mapped(stack_scores([scores["asv"], scores["cm"]], ndx))

    def _mapped(self, scores: Sequence[FloatArray] | FloatArray) -> tuple[Float64Array, list[Note]]:
        """Return the log-likelihood-ratios of the scores of both, and notes on these."""
        (asv, notes), (cm, others) = self.asv._mapped(scores[0]), self.cm._mapped(scores[1])
        return self._mixed([asv, cm]), [*notes, *others]

    def apply_files(
        self,
        *,
        asv: FilePath,
        cm: FilePath,
        ndx_file: FilePath,
        output_file: FilePath,
        progress: bool = False,
    ) -> None:
        """Fuse files of the scores of both detectors, to the last bit as `apply`.

        Parameters
        ----------
        asv, cm : str or path-like
            HDF5 files of the scores of the verifier and of the countermeasure.
        ndx_file, output_file, progress
            As for `LinearFusion.apply_files <bosaris_py.LinearFusion.apply_files>`, as are errors.
        """
        lines = self.asv, self.cm
        met = [Met(line.low_score, line.high_score) for line in lines]
        files = [as_path(asv, "asv"), as_path(cm, "cm")]
        where = files, as_path(ndx_file, "ndx_file"), output_file
        write_llrs(
            *where, self._fused_raw, self._apply_listed, met, needs_all=True, progress=progress
        )
        warn(note for line, one in zip(lines, met, strict=True) for note in line._notes_on(one))

    def _apply_listed(self, systems: list[Scores], ndx: Key | Ndx | None) -> Scores:
        result: Scores = self.apply(asv=systems[0], cm=systems[1], ndx=ndx)
        return result

    def _fused_raw(self, scores: Sequence[FloatArray]) -> Float64Array:
        """Return the log-likelihood-ratios of scores of which nothing is looked at."""
        lines = zip((self.asv, self.cm), scores, strict=True)
        return self._mixed(
            [weighted_sum([values], np.array([line.scale]), line.offset) for line, values in lines]
        )

    def _mixed(self, llrs: Sequence[Float64Array]) -> Float64Array:
        """Return the LLRs of the mixture, of those of both detectors."""
        with np.errstate(divide="ignore"):
            shares = np.log1p(-self.spoof_share), np.log(self.spoof_share)
        # What has no share says nothing, even if its score is infinite.
        terms = [share - part for share, part in zip(shares, llrs, strict=True) if share > -np.inf]
        # Files may hold anything where there is no trial.
        with np.errstate(invalid="ignore"):
            return np.asarray(-functools.reduce(np.logaddexp, terms))

    def __repr__(self) -> str:
        """Show both lines and the share."""
        lines = f"asv: {self.asv._line()}; cm: {self.cm._line()}"
        return f"SASVFusion: {lines}; share of spoofs {self.spoof_share:.4g}"
