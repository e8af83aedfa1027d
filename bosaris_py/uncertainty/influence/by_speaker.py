"""Who makes a metric what it is, and what makes it vary: the influence of each speaker by name."""

from __future__ import annotations

from typing import Any, Unpack

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, Float64Array, StrArray, mark_read_only
from bosaris_py._lazy import on_demand
from bosaris_py._tables import Table, joined_notes, scale_of_costs, text_table
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import SpeakerOptions, Speakers
from bosaris_py.uncertainty.influence.losses import LinearStatistic
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from bosaris_py.uncertainty.resampling import Resampling
from bosaris_py.uncertainty.statistics.functions import warn_unless_fit

# Both are layers above.
_late, _ = on_demand(
    __name__,
    {
        "bosaris_py.plots": ("plot_influences",),
        "bosaris_py.uncertainty.bootstrapping": ("metric_name",),
    },
)

# Speakers who are printed; all others are counted below the table.
_MOST_PRINTED = 10


@attrs.frozen(eq=False, repr=False)
class InfluenceTable(Table):
    """The influence of each speaker on a metric, those of the greatest first.

    Made by `speaker_influences`.

    Parameters
    ----------
    speakers : (k,) ndarray of str
        The speakers.
    of_targets, of_non_targets : (k,) ndarray of float64
        By how much each one's target trials, and non-target trials, raise the metric, or the
        difference of two systems; of the AUC, 1 - AUC.
    is_difference : bool
        Whether it is the difference of two systems.
    metric : str
        The metric with its operating point, definition and scale; empty if that is not known.
    """

    speakers: StrArray
    of_targets: Float64Array
    of_non_targets: Float64Array
    is_difference: bool = attrs.field(default=False, kw_only=True)
    metric: str = attrs.field(default="", kw_only=True)

    @classmethod
    def of(cls, influence: SpeakerInfluence) -> "InfluenceTable":
        """Take the influences of speakers, as `speaker_z_test` and `speaker_errors` return them.

        Parameters
        ----------
        influence : SpeakerInfluence
            Such as ``speaker_z_test(...).contrast``.

        Returns
        -------
        InfluenceTable
        """
        pairs, (tar, non) = influence.pairs, influence.influences
        names = pairs.present.astype(str) if pairs.ids is None else pairs.ids
        order = np.argsort(-np.abs(tar + non), kind="stable")
        named, *columns = (mark_read_only(column[order]) for column in (names, tar, non))
        of_two = influence.bounds[0] < 0
        return cls(named, columns[0], columns[1], is_difference=of_two)

    @property
    def influences(self) -> Float64Array:
        """By how much each speaker raises the metric; their squares make its variance: (k,)."""
        return self.of_targets + self.of_non_targets

    @property
    def shares(self) -> Float64Array:
        """Share of each speaker in the sum of squares: (k,); 0 if nothing varies."""
        squares = self.influences**2
        return np.asarray(squares / max(float(squares.sum()), np.finfo(np.float64).tiny))

    @property
    def quantiles(self) -> Float64Array:
        """What the sizes of the influences would be if they were those of one normal law: (k,)."""
        n = self.speakers.size
        return np.asarray(_half_normal((np.arange(n, 0, -1) + n - 0.125) / (2.0 * n + 0.5)))

    @property
    def scale(self) -> float:
        """Standard deviation of the normal law that has the same median of the sizes."""
        return float(np.median(np.abs(self.influences))) / float(_half_normal(np.array(0.75)))

    def band(self, confidence: float = 0.95) -> tuple[Float64Array, Float64Array]:
        """Return where sizes lie, each with this confidence, if all speakers are of that law.

        Parameters
        ----------
        confidence : float, default: 0.95
            Of each speaker alone.

        Returns
        -------
        low, high : (k,) ndarray of float64
        """
        n, tail = self.speakers.size, 0.5 - 0.5 * confidence
        rank = np.arange(n, 0, -1)
        # The i-th of n uniform numbers has a beta law.
        ends = (scipy.special.betaincinv(rank, n + 1 - rank, p) for p in (tail, 1.0 - tail))
        low, high = (self.scale * _half_normal(0.5 + 0.5 * end) for end in ends)
        return low, high

    def kind(self, number: int) -> str:
        """Say by which trials a speaker raises the metric most.

        Parameters
        ----------
        number : int
            The position of the speaker.

        Returns
        -------
        str
            "targets", "non-targets", or nothing if the speaker lowers it.
        """
        if self.influences[number] <= 0:
            return ""
        more = self.of_targets[number] >= self.of_non_targets[number]
        return "targets" if more else "non-targets"

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each speaker.

        Returns
        -------
        list of dict
            ``speaker``, ``of_targets``, ``of_non_targets``, ``influence``, ``share`` and
            ``metric``.
        """
        metric = {"metric": self.metric or None}
        numbers = self.of_targets, self.of_non_targets, self.influences, self.shares
        names = "of_targets", "of_non_targets", "influence", "share"
        return [
            {"speaker": str(name)} | dict(zip(names, map(float, row), strict=True)) | metric
            for name, *row in zip(self.speakers, *numbers, strict=True)
        ]

    def plot(self, **options: object) -> Any:
        """Draw the sizes of the influences against those of a normal law.

        Parameters
        ----------
        **options
            As for `plots.plot_influences`: ``ax``, ``n_named``, ``title``.

        Returns
        -------
        plots.Plot
        """
        return _late("plot_influences")(self, **options)

    @property
    def _note(self) -> str:
        what = "difference, first minus second" if self.is_difference else "metric"
        adds = f"what each speaker adds to the {what}"
        return joined_notes(self.metric, adds, "shares in the sum of squares")

    def _texts(self) -> list[list[str]]:
        rows = [["speaker", "by targets", "by non-targets", "both", "share"]]
        for record in self.records():
            numbers = (record[name] for name in ("of_targets", "of_non_targets", "influence"))
            row = [f"{number:+.5f}" for number in numbers]
            rows.append([record["speaker"], *row, f"{100 * record['share']:.1f} %"])
        return rows

    def __repr__(self) -> str:
        """Lay the first speakers out as a table."""
        rows = self._texts()
        lines = [line.rstrip() for line in text_table(rows[: 1 + _MOST_PRINTED])]
        more = len(rows) - 1 - _MOST_PRINTED
        lines += [f"... and {more} more"] if more > 0 else []
        return "\n".join([*lines, f"({self._note})"])


def _half_normal(chances: AnyArray) -> Float64Array:
    return np.asarray(scipy.special.ndtri(chances))


def speaker_influences(
    scores: AnyScores,
    key: KeyLike,
    statistic: LinearStatistic,
    *,
    conditions: Conditions | None = None,
    **speakers: Unpack[SpeakerOptions],
) -> InfluenceTable:
    r"""Return by how much each speaker raises or lowers a metric, by name.

    Few speakers often make most errors. Goats have targets of low scores; lambs and wolves have
    non-targets of high scores.

    Parameters
    ----------
    scores, key, statistic, conditions, speakers, model_speakers, segment_speakers, unknown, strata
        As for `speaker_interval`.

    Returns
    -------
    InfluenceTable
        With a half-normal plot. ``InfluenceTable.of(test.contrast)`` is that of a `speaker_z_test`.

    See Also
    --------
    speaker_interval : The interval that the influences make.
    SpeakerErrors : Error-rates at a threshold, whose ``influence`` is that of both.

    Notes
    -----
    The influences are :math:`u_k` and :math:`v_k` of `speaker_errors`, with the loss of each trial
    in place of its error: to first order, by how much the metric falls if the targets, or the
    non-targets, of speaker k are left out. A non-target counts for both of its speakers. The
    standard error is the root of the sum of :math:`(u_k + v_k)^2`, less what pairs add twice.

    In a half-normal plot [1]_ the k sizes, ascending, lie at the normal quantiles of
    :math:`(i + k - 1/8) / (2k + 1/2)`, on a line if all are of one normal law.

    References
    ----------
    .. [1] A. C. Atkinson, "Two graphical displays for outlying and influential observations in
       regression", Biometrika 68, 1981, doi:10.1093/biomet/68.1.13.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> from bosaris_py import uncertainty as unc
    >>> test = bp.load_example("asvspoof2019_la").eval
    >>> found = unc.speaker_influences(
    ...     test.scores["xvector"], test, unc.EER(), speakers=("model", "speaker"))
    >>> [(row["speaker"], round(row["share"], 3)) for row in found.records()[:3]]
    [('LA_0004', 0.223), ('LA_0067', 0.137), ('LA_0053', 0.091)]
    """
    sample = Resampling("speaker").sample(scores, key, Speakers(**speakers), conditions)
    warn_unless_fit([statistic], sample)
    scale = scale_of_costs(getattr(statistic, "normalize", None))
    metric = joined_notes(_late("metric_name")(statistic), scale)
    found = InfluenceTable.of(SpeakerInfluence.on(statistic, sample))
    return attrs.evolve(found, metric=metric)
