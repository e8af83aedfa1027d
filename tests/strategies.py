"""Hypothesis strategies of general use."""

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality


def names() -> st.SearchStrategy[str]:
    """Make one id: printable, without white space, so that every format can hold it.

    Few letters and short, so that lists of ids overlap; some not ASCII.
    """
    return st.text(alphabet="abm12_é語", min_size=1, max_size=4)


def id_lists(min_size: int = 0, max_size: int = 6) -> st.SearchStrategy[list[str]]:
    """Make a list of distinct ids."""
    return st.lists(names(), min_size=min_size, max_size=max_size, unique=True)


def masks(shape: tuple[int, ...]) -> st.SearchStrategy[npt.NDArray[np.bool_]]:
    """Make a boolean array of a given shape."""
    return hnp.arrays(np.bool_, shape)


@st.composite
def ndxs(draw: st.DrawFn, min_size: int = 0) -> Ndx:
    """Make an Ndx of up to 6 x 6 trials."""
    models, segments = draw(id_lists(min_size)), draw(id_lists(min_size))
    return Ndx(models, segments, draw(masks((len(models), len(segments)))))


@st.composite
def keys(draw: st.DrawFn, min_size: int = 0) -> Key:
    """Make a Key of up to 6 x 6 trials; some cells are no trials."""
    models, segments = draw(id_lists(min_size)), draw(id_lists(min_size))
    shape = (len(models), len(segments))
    labels = draw(hnp.arrays(np.int8, shape, elements=st.integers(-1, 1)))
    return Key(models, segments, labels > 0, labels < 0)


@st.composite
def scores_on(draw: st.DrawFn, models: list[str], segments: list[str]) -> Scores:
    """Make scores of given models and segments, with ties, infinities and junk under the mask.

    Stored row by row or column by column, in single or double precision.
    """
    shape = (len(models), len(segments))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    values = st.one_of(st.integers(-3, 3), st.sampled_from([np.inf, -np.inf, 0.1, -1e-30]))
    matrix = draw(hnp.arrays(dtype, shape, elements=values.map(dtype)))
    mask = draw(st.one_of(st.just(np.ones(shape, dtype=bool)), masks(shape)))
    junk = draw(st.sampled_from([np.nan, np.inf, 99.0, 0.0]))
    matrix[~mask] = junk
    if draw(st.booleans()):
        matrix, mask = np.asfortranarray(matrix), np.asfortranarray(mask)
    return Scores(matrix, models, segments, mask)


@st.composite
def scores(draw: st.DrawFn, min_size: int = 0) -> Scores:
    """Make scores of up to 6 x 6 trials, see `scores_on`."""
    return draw(scores_on(draw(id_lists(min_size)), draw(id_lists(min_size))))


def _measures(n_measures: int, n_ids: int) -> st.SearchStrategy[npt.NDArray[np.float64]]:
    return hnp.arrays(
        np.float64, (n_measures, n_ids), elements=st.floats(-1e6, 1e6, allow_nan=False)
    )


@st.composite
def segment_qualities(draw: st.DrawFn, min_size: int = 0) -> SegmentQuality:
    """Make up to three measures of up to 6 segments."""
    ids = draw(id_lists(min_size))
    return SegmentQuality(ids, draw(_measures(draw(st.integers(1, 3)), len(ids))))


@st.composite
def quality_measures(draw: st.DrawFn, min_size: int = 0) -> QualityMeasures:
    """Make up to three measures of up to 6 models and segments, some of them without."""
    models, segments = draw(id_lists(min_size)), draw(id_lists(min_size))
    n_measures = draw(st.integers(1, 3))
    return QualityMeasures(
        models,
        segments,
        draw(_measures(n_measures, len(models))),
        draw(_measures(n_measures, len(segments))),
        draw(masks((len(models),))),
        draw(masks((len(segments),))),
        draw(masks((len(models), len(segments)))),
    )


@st.composite
def id_maps(draw: st.DrawFn) -> IdMap:
    """Make a map of up to 6 pairs with distinct left ids, so that making it does not warn."""
    left = draw(id_lists())
    right = draw(st.lists(names(), min_size=len(left), max_size=len(left)))
    return IdMap(left, right)
