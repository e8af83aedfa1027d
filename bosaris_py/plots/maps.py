"""Maps of scores to log-likelihood-ratios, the scale of a case, figures of a validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from bosaris_py._arrays import Float64Array
from bosaris_py._cautions import hushed
from bosaris_py._validation import describe, invalid
from bosaris_py.errors import ExtrapolationWarning
from bosaris_py.evaluation import Results, Validation
from bosaris_py.evaluation.calibration_curves import ScoreHistogram
from bosaris_py.plots import looks
from bosaris_py.plots.canvas import Look, Sheet
from bosaris_py.plots.display import Plot
from bosaris_py.plots.intervals import plot_forest
from bosaris_py.plots.shown_systems import Chosen, Styling, results_of
from bosaris_py.trials.inputs import KeyLike
from bosaris_py.trials.scores import AnyScores

_SIZE, _SCALE = (6.0, 4.5), (6.5, 2.6)
_POINTS = 801
_LOG_10 = math.log(10.0)

# Of the height of the Axes, what histograms behind maps take.
_STRIP = 0.22

# Log10 LR up to which a case's scale reaches at least.
_LEAST_SCALE = 1.2

_FIGURES = {
    "cllr": "Cllr",
    "min_cllr": "minimum Cllr",
    "brier": "Brier score",
    "min_brier": "minimum Brier score",
    "misleading_tar": "targets with LR < 1",
    "misleading_non": "non-targets with LR > 1",
}


class _MapSheet(Sheet):
    """Maps of several names; parts of one map share its colour."""

    _looks: ClassVar[dict[str, looks.Settings]] = {
        "map": {"linestyle": "-", "linewidth": 1.6},
        "part": {"linestyle": ":", "linewidth": 1.0},
        "zero": {"linestyle": "-", "linewidth": 0.8, "alpha": 0.6},
    }
    _curves_of_systems = ("map",)


class _Drawn(NamedTuple):
    """A line of a plot of maps: its kind, what the legend adds to its name, the map."""

    kind: str
    text: str
    apply: Callable[[Float64Array], npt.ArrayLike]


def _named_maps(maps: object) -> looks.Settings:
    """Return maps by name."""
    named: dict[object, Any] = dict(maps) if isinstance(maps, Mapping) else {"": maps}
    if not named:
        raise invalid("maps", "name maps of scores", describe(maps))
    return {str(name): item for name, item in named.items()}


def _parts(name: str, item: Any) -> Iterator[_Drawn]:
    """Yield the lines of a map; a cross-fitted one has one for each pair of folds."""
    if hasattr(item, "folds") and hasattr(item, "final"):
        for number, fold in enumerate(item.folds.values()):
            yield _Drawn("part", "_nolegend_" if number else "without two folds", fold.apply)
        yield _Drawn("map", "all trials", item.final.apply)
    elif callable(getattr(item, "apply", None)):
        yield _Drawn("map", "", item.apply)
    else:
        expected = "be a map of scores, such as LinearCalibration, or a mapping of names to maps"
        raise invalid("maps", expected, describe(item) + (f" for {name}" if name else ""))


@looks.one_at_a_time
def plot_map(
    maps: object,
    scores: object,
    key: KeyLike | None = None,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    **styling: Unpack[Styling],
) -> Plot:
    """Draw maps from scores to log-likelihood-ratios, above the scores that they are for.

    Parameters
    ----------
    maps : object with ``apply``, or mapping of str to such objects
        Calibrations by name. Of what `cross_fit` returns the line of each pair of folds is drawn.
    scores : Results, pair (tar, non), Scores or FlatScores
        Their range is shown; those of both classes are histograms at the bottom.
    key : Key or FlatKey, or pair (key, metadata), optional
        Which trials of Scores are targets and which non-targets.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    title : str, optional
        Title of the plot.
    **styling
        As for `bosaris_py.plot_det`; an order is of names.

    Returns
    -------
    plots.Plot
        Infinite LLRs leave the frame.

    Examples
    --------
    >>> from bosaris_py import LinearCalibration, PAVCalibration
    >>> tar, non = [1.0, 3.0, 4.0], [-2.0, 0.0, 2.0]
    >>> maps = {"line": LinearCalibration.fit(tar, non), "PAV": PAVCalibration.fit(tar, non)}
    >>> plot = plot_map(maps, (tar, non))
    >>> [text.get_text() for text in plot.get_legend().get_texts()]
    ['targets', 'non-targets', 'line', 'PAV']
    """
    named = _named_maps(maps)
    lines = {name: list(_parts(name, item)) for name, item in named.items()}
    if isinstance(scores, AnyScores):
        if key is None:
            raise invalid("key", "say which trials are targets", "none", "Give plot(scores, key).")
        scores = Results.from_scores(scores, key)
    (judged,) = results_of({"": scores}).values()
    chosen = Chosen.of(named, styling)
    histogram = ScoreHistogram.from_results(judged)
    sheet = _MapSheet(looks.make_axes(ax, _SIZE), title)
    sheet.ax.set(xlabel="score", ylabel="log-likelihood-ratio (natural)")
    _histograms_below(sheet, histogram)
    low, high = histogram.edges[[0, -1]].tolist()
    margin = 0.03 * (high - low)
    values = np.linspace(low - margin, high + margin, _POINTS)
    sheet._line(
        "zero", values[[0, -1]], [0.0, 0.0], Look(None, None, {"color": looks.text_colour()})
    )
    sheet._choose(chosen)
    drawn: list[Float64Array] = []
    for name in chosen.results:
        sheet._name_system(name)
        for part in lines[name]:
            # The range is that of the scores, not of the training.
            with hushed(ExtrapolationWarning):
                llrs = np.asarray(part.apply(values), dtype=np.float64)
            drawn.append(llrs[np.isfinite(llrs)])
            label = part.text or ("" if name else None)
            steps = np.clip(llrs, -1e6, 1e6)
            sheet._draw(part.kind, values, steps, label)
    sheet._name_others()
    finite = np.concatenate([*drawn, [-1.0, 1.0]])
    least, most = float(finite.min()), float(finite.max())
    room = 0.06 * (most - least)
    # The strip of histograms lies below all maps.
    foot = least - room - _STRIP / (1.0 - _STRIP) * (most - least)
    sheet.ax.set(xlim=(values[0], values[-1]), ylim=(foot, most + room))
    return sheet._finish(legend=chosen.legend)


def _histograms_below(sheet: Sheet, histogram: ScoreHistogram) -> None:
    """Draw both classes at the foot of the Axes, in its own heights."""
    highest = max(float(histogram.tar.max()), float(histogram.non.max()), 1e-300)
    heights = sheet.ax.get_xaxis_transform()
    classes = {"targets": (histogram.tar, "//"), "non-targets": (histogram.non, "")}
    for number, (noun, (density, hatch)) in enumerate(classes.items()):
        colour = (looks.pale_colour(sheet.ax), looks.text_colour())[1 - number]
        outline: looks.Settings = {"alpha": 0.25, "hatch": hatch, "transform": heights}
        bars = 0.9 * _STRIP * density / highest
        patch = sheet.ax.stairs(
            bars, histogram.edges, fill=True, color=colour, label=noun, **outline
        )
        sheet._drawn.lines.append(patch)


@looks.one_at_a_time
def plot_case(
    case: Any, results: Results | None = None, ax: Axes | None = None, *, title: str | None = None
) -> Plot:
    """Draw the likelihood-ratio of a case on its scale, with interval, bounds and words.

    Parameters
    ----------
    case : CaseLLR
        Made by `bosaris_py.case_llr`.
    results : Results, optional
        LLRs of the reference set, natural logarithms: histograms behind the scale.
    ax, title
        As for `plot_map`.

    Returns
    -------
    plots.Plot
        In log10 units. Above are the words of the ENFSI guideline; a shaded area is the interval,
        dotted lines are the bounds.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> rng = np.random.default_rng(1)
    >>> ids = [f"speaker{i:02d}" for i in range(40)]
    >>> same = np.eye(40, dtype=bool)
    >>> scores = bp.Scores(rng.normal(4.0 * same, 1.0), ids, ids)
    >>> case = bp.case_llr(3.0, scores, bp.Key(ids, ids, same, ~same), reference="simulated",
    ...                    propositions=("same speaker", "others"), replications=20)
    >>> plot_case(case).get_xlabel()
    'log10 likelihood-ratio'
    """
    if not hasattr(case, "verbal_scale"):
        raise invalid("case", "be what `case_llr` returned", describe(case))
    plot = Plot(looks.make_axes(ax, _SIZE if results is not None else _SCALE), title)
    axes, look = plot.ax, looks.system_look(0, plot.ax)
    ends = [case.log10_low, case.log10_high, case.log10_lr]
    bounds = [] if case.bounds is None else [bound / _LOG_10 for bound in case.bounds]
    shown = [value for value in (*ends, *bounds) if math.isfinite(value)]
    if results is not None:
        histogram = ScoreHistogram.from_results(results)
        edges = histogram.edges / _LOG_10
        shown += edges[[0, -1]].tolist()
        for number, (noun, density) in enumerate(
            (("targets", histogram.tar), ("non-targets", histogram.non)), start=1
        ):
            colour = looks.system_look(number, axes).colour
            heights = density * _LOG_10
            axes.stairs(heights, edges, fill=True, color=colour, alpha=0.25, label=noun)
        axes.set_ylabel("density")
    else:
        axes.set_yticks([])
    limit = max(_LEAST_SCALE, 1.08 * max(map(abs, shown)))
    percent = f"{100.0 * case.confidence:g} % interval"
    span = [min(max(value, -limit), limit) for value in ends[:2]]
    axes.axvspan(*span, color=look.colour, alpha=0.25, linewidth=0.0, label=percent)
    mark = min(max(ends[2], -limit), limit)
    label = f"case: log10 LR {case.log10_lr:.2f}"
    plot.artists["case"] = [axes.axvline(mark, color=look.colour, linewidth=1.8, label=label)]
    for number, bound in enumerate(bounds):
        own: looks.Settings = {"color": looks.text_colour(), "linestyle": ":", "linewidth": 1.4}
        if not number:
            own["label"] = f"bounds {bounds[0]:.2f} and {bounds[1]:.2f}"
        axes.axvline(bound, **own)
    if math.isinf(case.log10_lr):
        plot._say("The likelihood-ratio of the case is infinite; its mark is at the frame.")
    _add_words(axes, case.verbal_scale, limit)
    axes.axvline(0.0, color=looks.text_colour(), linewidth=0.8, alpha=0.6)
    axes.set(xlim=(-limit, limit), xlabel="log10 likelihood-ratio")
    first, second = case.propositions
    plot._say(f"right: {first}; left: {second}")
    axes.legend(loc="upper left", fontsize=looks.letters("x-small"), framealpha=0.9)
    return plot


def _add_words(axes: Axes, scale: Iterable[tuple[float, str]], limit: float) -> None:
    """Write the words of a scale above an Axes, where their part of it has room."""
    frame = axes.get_window_extent()
    size = looks.letters("x-small")
    starts = [least for least, _ in scale]
    ends = [*starts[1:], math.inf]
    for least, most, (_, words) in zip(starts, ends, scale, strict=True):
        if least >= limit:
            continue
        part = min(most, limit) - least
        width = part / (2.0 * limit) * frame.width / axes.figure.dpi * 72.0
        for sign in (-1.0, 1.0):
            axes.axvline(sign * least, color=looks.text_colour(), linewidth=0.5, alpha=0.3)
            text = words.removesuffix(" support")
            # Letters are about half as wide as high; of two words the longer one counts.
            longest = max(map(len, text.split()))
            place = sign * (least + part / 2.0)
            if 0.55 * size * longest <= width:
                axes.annotate(
                    text.replace(" ", "\n"),
                    (place, 1.0),
                    (0.0, 2.0),
                    xycoords=axes.get_xaxis_transform(),
                    textcoords="offset points",
                    ha="center",
                    va="bottom",
                    fontsize=size,
                )


@looks.one_at_a_time
def plot_validation(
    validation: Validation, ax: Axes | None = None, *, title: str | None = None
) -> Plot:
    """Draw the figures of a validation with their intervals, below each other.

    Parameters
    ----------
    validation : Validation
        Made by `validate`, or by `validate_scores`, which knows intervals.
    ax, title
        As for `plot_map`.

    Returns
    -------
    plots.Plot

    Examples
    --------
    >>> from bosaris_py import Results, validate
    >>> plot = plot_validation(validate(Results([1.0, 3.0, 4.0], [-2.0, 0.5, 2.0])))
    >>> [text.get_text() for text in plot.get_yticklabels()][:2]
    ['Cllr', 'minimum Cllr']
    """
    if not isinstance(validation, Validation):
        raise invalid("validation", "be what `validate` returned", describe(validation))
    rows = {}
    for field, words in _FIGURES.items():
        value = getattr(validation, field)
        rows[words] = _Row(value, *validation.intervals.get(field, (value, value)))
    words = "value, with interval by speaker" if validation.intervals else "value"
    plot = plot_forest(rows, ax=ax, title=title, xlabel=words)
    low, high = plot.get_xlim()
    plot.set_xlim(min(low, 0.0), high)
    return plot


class _Row(NamedTuple):
    """A figure of a validation."""

    estimate: npt.ArrayLike
    low: npt.ArrayLike
    high: npt.ArrayLike
