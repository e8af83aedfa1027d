"""What plots share before a line is drawn: systems, colours, letters, figures, files."""

import contextlib
import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import matplotlib as mpl
import numpy as np
from matplotlib import cbook, font_manager
from matplotlib.artist import Artist, ArtistInspector
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import ColorType, LineStyleType

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike
from bosaris_py.evaluation import Results
from bosaris_py.numerics.priors import DecisionCosts, PriorLike, sigmoid
from bosaris_py.uncertainty.bands import Band, BandKind

# A title, a style or a legend entry, which need not be given.
Text = str | None
# Properties of lines, texts and legends by name.
Settings = dict[str, Any]
Systems = Mapping[str, Results | tuple[ArrayLike, ArrayLike]] | Results
# Properties of matplotlib's lines by name of the system.
Looks = Mapping[str, Mapping[str, object]] | None
Names = str | Sequence[str] | None
# True, False or "below".
Legend = bool | str

# Contrast of 3 and more to white and to light grey, or to black and to dark grey. Any two have a
# CIEDE2000 distance of 20 and more, and of 10 as deuteranopes and protanopes see them.
_ON_LIGHT = "0072b2", "cc4a00", "228855", "2200ee", "ff0066", "883377", "990022", "8866ff"
_ON_DARK = "56b4e9", "ff8c1a", "119977", "eeaabb", "ccdd99", "8866ee", "ee3344", "00ffff"

# Eight colours are a round; each round has its dashes.
_ROUND = 8
DASHES: tuple[LineStyleType, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (8, 2, 1, 2)))

# Matplotlib has one set of settings for all threads: one of them draws at a time.
DRAWING = threading.RLock()

# What holds everywhere, not for a drawing.
_OF_PROCESS = ("backend", "backend_fallback", "interactive", "toolbar", "date.epoch")

# Metadata that leave out the date, so that the same plot is the same file byte for byte.
METADATA: dict[str, Settings] = {".pdf": {"CreationDate": None}, ".png": {}, ".svg": {"Date": None}}
# Without a salt, SVG has new names each time; publishers refuse fonts of type 3.
_FILES: dict[Any, object] = {"svg.hashsalt": "bosaris_py", "pdf.fonttype": 42}

# Least size of letters, in points: less cannot be read in print.
_SMALLEST = 6.0


@contextlib.contextmanager
def for_report() -> Iterator[None]:
    """Give the settings of drawings in a report, whatever the user has set."""
    # Not `rcdefaults`, which catches the warnings of all threads.
    settings = {k: v for k, v in mpl.rcParamsDefault.items() if k not in _OF_PROCESS}
    settings |= {"figure.figsize": (5.2, 4.6), "font.size": 9.0, "font.family": ["DejaVu Sans"]}
    # Names are no formulas; of points that a screen cannot tell apart one is enough.
    settings |= {"text.parse_math": False, "path.simplify_threshold": 0.3, **_FILES}
    with DRAWING, mpl.rc_context(settings):
        yield


# ---- Systems


@attrs.frozen(eq=False)
class Chosen:
    """The systems of a plot in the order in which they are drawn, and how.

    Parameters
    ----------
    results : dict of str to Results
        Those that are grey come first, so that they lie below.
    given : list of str
        Names as they came, which number the colours.
    looks : dict of str to dict
        Properties of lines, by their full names.
    grey : frozenset of str
        Names of systems that do not stand out.
    bands : mapping of str to Band
        Bands of some.
    """

    results: dict[str, Results]
    given: list[str]
    looks: dict[str, Settings]
    grey: frozenset[str]
    bands: Mapping[str, Band]


def choose(
    systems: Systems,
    looks: Looks,
    order: Names,
    highlight: Names,
    legend: Legend,
    bands: Mapping[str, Band] | None = None,
    kind: BandKind = "det",
) -> Chosen:
    """Check the options of a plot before anything is drawn, and put its systems in order."""
    judged, looks, bands = results_by_name(systems), looks or {}, bands or {}
    if legend not in (True, False, "below"):
        raise check.invalid("legend", "be True, False or 'below'", check.describe(legend))
    if isinstance(order, str):
        check.check_choice(order, ("eer", "cllr", "min_cllr"), "order")
        figures = {name: float(getattr(results, order)) for name, results in judged.items()}
        order = sorted(judged, key=figures.__getitem__)
    first, strong = (check.listed(order, "order"), check.listed(highlight, "highlight"))
    strong = strong or [*judged]
    check.check_mapping(looks, "looks", "matplotlib's properties", Mapping)
    check.check_mapping(bands, "bands", "bands")
    named = {"order": first, "highlight": strong, "looks": looks, "bands": bands}
    for argument, names in named.items():
        for name in names:
            if name not in judged:
                known = check.list_some(map(repr, judged), 20)
                raise check.invalid(
                    argument, f"name systems of the plot ({known})", check.describe(name)
                )
    for band in bands.values():
        check_band(band, kind)
    full = {name: checked(each) for name, each in looks.items()}
    grey = frozenset(judged) - {*strong}
    drawn = sorted(dict.fromkeys([*first, *judged]), key=lambda name: name not in grey)
    return Chosen({name: judged[name] for name in drawn}, [*judged], full, grey, bands)


def results_by_name(systems: object) -> dict[str, Results]:
    """Return results by name, of what a plot of several systems takes."""
    if isinstance(systems, Results):
        return {"": systems}
    found, given = {}, systems if isinstance(systems, Mapping) else {}
    for name, value in given.items():
        match value:
            case Results():
                found[str(name)] = value
            case (tar, non):
                found[str(name)] = Results(tar, non)
    if not found or len(found) < len(given):
        expected = "be a mapping from names to Results or to (tar, non)"
        raise check.invalid("systems", expected, check.describe(systems))
    return found


def check_band(band: object, kind: BandKind) -> None:
    """Raise unless `band` is around a curve of this kind."""
    if getattr(band, "kind", None) != kind:
        hint = "uncertainty.bootstrap_bands makes one."
        raise check.invalid("band", f'be of kind="{kind}"', check.describe(band), hint)


def log_odds(prior: PriorLike | None) -> list[float]:
    """Return the prior log-odds of operating points; without any, none."""
    return [] if prior is None else np.ravel(DecisionCosts.from_prior(prior).plo).tolist()


def per_cent(plo: float) -> str:
    """Return the prior at log-odds as it is written beside a line."""
    return f"{100.0 * sigmoid(plo):.3g} %"


# ---- Texts and colours


def drawable(text: str) -> str:
    """Return a text in which letters that no drawing of a report can show are escaped."""
    # Their font comes with matplotlib.
    font = font_manager.get_font(font_manager.findfont("DejaVu Sans"))
    known = font.get_charmap().keys()
    signs = errors.printable(text)
    return "".join(x if ord(x) in known else x.encode("unicode_escape").decode() for x in signs)


def as_name(name: object, more: str = "", *, most: int = 80) -> str:
    """Return a name as it is drawn, of at most so many letters, and what follows it."""
    shown = check.safe(name, most)
    # Names are no formulas.
    shown = shown.replace("$", r"\$") if mpl.rcParams["text.parse_math"] else shown
    return f"{shown} {more}".strip()


def letters(size: str) -> float:
    """Return a named size of letters in points."""
    return max(_SMALLEST, font_manager.FontProperties(size=size).get_size_in_points())


def text_colour() -> ColorType:
    """Return the colour of what belongs to no system."""
    colour: ColorType = mpl.rcParams["text.color"]
    return colour


def pale_colour(axes: Axes) -> ColorType:
    """Return the grey of systems that do not stand out, on the background of an Axes."""
    paper, ink = np.array(to_rgb(axes.get_facecolor())), np.array(to_rgb(text_colour()))
    return tuple((0.72 * paper + 0.28 * ink).tolist())


def system_look(number: int, axes: Axes) -> Settings:
    """Return colour and dashes of a system by its number; no two of the first 32 look alike."""
    red, green, blue = to_rgb(axes.get_facecolor())
    ours = _ON_LIGHT if 0.3 * red + 0.6 * green + 0.1 * blue > 0.5 else _ON_DARK
    colours: Sequence[ColorType] = [f"#{code}" for code in ours]
    # A cycle that the user has chosen wins.
    if mpl.rcParams["axes.prop_cycle"] != mpl.rcParamsDefault["axes.prop_cycle"]:
        colours = mpl.rcParams["axes.prop_cycle"].by_key().get("color", colours)
    dash = DASHES[number // _ROUND % len(DASHES)]
    return {"color": colours[number % len(colours)], "linestyle": dash}


def checked(keywords: Mapping[str, object], kind: type[Artist] = Line2D) -> Settings:
    """Return properties of an artist by their full names; refuse those that it does not have."""
    full: Settings = cbook.normalize_kwargs(dict(keywords), kind)
    known = ArtistInspector(kind).get_setters() if full else ()
    for name, value in full.items():
        if name not in known:
            expected = f"be a property of matplotlib's {kind.__name__}"
            raise check.invalid(name, expected, f"{name}={check.describe(value)}")
    return full


def _check_text(_: object, field: "attrs.Attribute[Text]", value: object) -> None:
    if not (value is None or isinstance(value, str)):
        raise check.invalid(field.name, "be a string", check.describe(value))


@attrs.frozen(eq=False)
class Pen:
    """What a caller says of a line: format string, legend entry, properties."""

    style: Text = attrs.field(default=None, validator=_check_text)
    label: Text = attrs.field(default=None, validator=_check_text)
    look: Settings = attrs.field(factory=dict, converter=checked)


# ---- Figures


def make_axes(ax: object, size: tuple[float, float]) -> Axes:
    """Return `ax`, or the Axes of a new figure of `size` inches that pyplot does not know."""
    if ax is None:
        own = mpl.rcParams["figure.figsize"]
        if list(own) != list(mpl.rcParamsDefault["figure.figsize"]):
            # The width that the user has set, in the proportions of the plot.
            size = (own[0], own[0] * size[1] / size[0])
        return Figure(figsize=size, layout="constrained").add_subplot()
    if not isinstance(ax, Axes) or ax.name != "rectilinear":
        expected = "be a matplotlib Axes of two straight axes, such as axes.flat[0]"
        raise check.invalid("ax", expected, check.describe(ax))
    return ax


def spread(heights: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Move ascending texts within [0, 1] apart: up, or down from the top."""
    size = np.asarray(sizes)
    # If each is moved down by the room of those below they need only ascend.
    steps = np.concatenate(([0.0], np.cumsum(0.5 * (size[1:] + size[:-1]))))
    ascending = np.maximum.accumulate(np.asarray(heights) - steps)
    return [*(np.clip(ascending, 0.0, max(1.0 - steps[-1], 0.0)) + steps)]


# ---- Pictures


def picture(figure: Figure, extension: str, dpi: float) -> bytes:
    """Return the bytes of a picture, which are the same after the same calls."""
    buffer = io.BytesIO()
    with DRAWING, mpl.rc_context(_FILES):
        options: Settings = {"format": extension[1:], "metadata": METADATA[extension]}
        figure.savefig(buffer, dpi=dpi, **options)
    return buffer.getvalue()


def svg(figure: Figure) -> str:
    """Return the text of an SVG file, in the settings of a report."""
    buffer = io.StringIO()
    # `savefig` would draw twice: first to lay out, which drawing does by itself.
    canvas = FigureCanvasSVG(figure)
    canvas.print_svg(buffer, metadata=METADATA[".svg"])  # type: ignore[no-untyped-call]
    return buffer.getvalue()
