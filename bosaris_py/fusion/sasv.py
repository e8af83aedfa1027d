"""Fusion of a speaker verifier and a countermeasure to one log-likelihood-ratio."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import FilePath, FloatArray, Given
from bosaris_py.calibration import LinearCalibration, base
from bosaris_py.numerics.newton import Ridge
from bosaris_py.numerics.priors import OperatingPoint, SpoofCosts, SpoofCostsLike
from bosaris_py.trials import Scores, scores as scoring
from bosaris_py.trials.key import Key, Ndx, as_key, as_ndx


def _class_lists(scores: Scores, key: Key, name: str) -> tuple[list[FloatArray], list[errors.Note]]:
    """Return the scores of targets, zero-effort impostors and spoofs, and notes of missing ones."""
    scoring.check_scores(scores, name)
    values, found, notes = scoring.join(scores, key)
    labels = key.labels if found is None else key.labels[found]
    lists = [values[labels == label] for label in (1, -1, -2)]
    for one, noun in zip(lists, ("targets", "zero-effort impostors", "spoofs"), strict=True):
        if not one.size:
            hint = 'Key.from_trials(...) takes "spoof".' if noun == "spoofs" else ""
            raise check.invalid("key", f"have {noun} with scores", "none", hint)
    return lists, notes


@attrs.frozen(kw_only=True, repr=False)
class SASVFusion(base.RowMap):
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

    asv: LinearCalibration = attrs.field(**base.part(LinearCalibration))
    cm: LinearCalibration = attrs.field(**base.part(LinearCalibration))
    spoof_share: float = attrs.field(**base.number("lie in [0, 1]", lambda x: 0.0 <= x <= 1.0))

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
        return cls._trained_on(scores, key, costs, spoof_share, ridge)._with_warnings()

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
            raise check.invalid("scores", "be those of asv and cm", check.describe(scores), hint)
        asv, cm = scores["asv"], scores["cm"]
        given = SpoofCosts.named(costs)
        if given.fa_price == 0 or given.spoof_price == 0:
            raise check.invalid(
                "costs", "have three classes of positive prior", check.describe(costs)
            )
        share = given.spoof_share if spoof_share is None else spoof_share
        key = as_key(key)
        scoring.refuse_utterances(cm, key, "cm")
        (tar, non, _), asv_notes = _class_lists(asv, key, "asv")
        (*bona, spoof), cm_notes = _class_lists(cm, key, "cm")
        lines, notes = {}, []
        for name, trials, alarm, missing in (
            ("asv", (tar, non), given.fa_price, asv_notes),
            ("cm", (np.concatenate(bona), spoof), given.spoof_price, cm_notes),
        ):
            prior = OperatingPoint(0.5, given.miss_price, alarm).effective_prior
            lines[name] = LinearCalibration._trained(*trials, prior=prior, ridge=ridge)
            own = (*missing, *lines[name].notes)
            notes += [attrs.evolve(note, about=name) for note in own]
        return cls(**lines, spoof_share=share, notes=tuple(notes))

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
            errors.warn(notes)
            return scoring.assemble(llrs, ndx)
        if isinstance(asv, Scores) or isinstance(cm, Scores):
            expected = "be given with Scores, to say which trials are to be fused"
            raise check.invalid("ndx", expected, "None")
        first, second = check.as_float_array(asv, "asv"), check.as_float_array(cm, "cm")
        check.check_shape(second, first.shape, "cm", "like `asv`")
        llrs, notes = self._mapped(np.stack((first.ravel(), second.ravel())))
        errors.warn(notes)
        return llrs.reshape(first.shape)[()]

    def _on_trials(self, scores: Mapping[str, Scores], ndx: Ndx | Key) -> base.Mapped:
        """Return the log-likelihood-ratios of trials, and notes on their scores."""
        scoring.check_scores(scores["asv"], "asv")
        scoring.refuse_utterances(scores["cm"], as_ndx(ndx), "cm")
        return self._mapped(scoring.stack_scores({n: scores[n] for n in ("asv", "cm")}, ndx))

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
        files = [check.as_path(asv, "asv"), check.as_path(cm, "cm")]
        self._write(files, ndx_file, output_file, progress=progress)

    def _met(self) -> list[base.Met]:
        return [*self.asv._met(), *self.cm._met()]

    def _notes_on(self, met: Sequence[base.Met]) -> list[errors.Note]:
        return self.asv._notes_on(met[:1]) + self.cm._notes_on(met[1:])

    def _llrs(self, rows: base.Rows) -> FloatArray:
        with np.errstate(divide="ignore"):
            shares = np.log1p(-self.spoof_share), np.log(self.spoof_share)
        llrs = self.asv._llrs(rows[:1]), self.cm._llrs(rows[1:])
        # What has no share says nothing, even if its score is infinite.
        terms = [share - part for share, part in zip(shares, llrs, strict=True) if share > -np.inf]
        # Files may hold anything where there is no trial.
        with np.errstate(invalid="ignore"):
            return np.asarray(-functools.reduce(np.logaddexp, terms))

    def __repr__(self) -> str:
        """Show both lines and the share."""
        lines = f"asv: {self.asv._line()}; cm: {self.cm._line()}"
        return f"SASVFusion: {lines}; share of spoofs {self.spoof_share:.4g}"
