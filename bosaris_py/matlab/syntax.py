"""MATLAB's syntax in Python: methods called as functions, the first of several results."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

# In MATLAB a method is called as a function too, ``display_legend(plot)``. Names such as filter
# and save, which mean something else in Python, are not among them.
_NAMES = """
    align_with_ids align_with_ndx display_legend filter_on_left filter_on_right get_act_dcf
    get_eer get_min_dcf get_norm_act_dcf get_norm_min_dcf get_prbep get_scores get_tar_non
    map_left_to_right map_right_to_left num_non num_tar plot_DR30_both plot_DR30_fa
    plot_DR30_miss plot_curves plot_dcf_curve_act plot_dcf_curve_min plot_det_from_roc
    plot_fa_rate_act plot_fa_rate_min plot_mindcf_point plot_miss_rate_act plot_miss_rate_min
    plot_operating_point plot_rocch_det plot_steppy_det save_as_pdf save_hdf5 save_mat save_txt
    set_missing_to_value set_system set_system_from_scores to_ndx transform
"""
METHODS = frozenset(_NAMES.split())


def as_function(name: str) -> Callable[..., Any]:
    """Return the function that calls the method of a name."""

    def method(obj: Any, *arguments: Any) -> Any:
        return getattr(obj, name)(*arguments)

    method.__name__ = name
    method.__doc__ = f"Call a method as a function, as in MATLAB: ``obj.{name}(...)``."
    return method


class Several(tuple[Any, ...]):
    """Results of a function that has several, of which MATLAB takes the first by itself."""

    __slots__ = ()
    # numpy's numbers then leave the multiplication to this class.
    __array_ufunc__ = None

    def _refuse(self, *arguments: Any, **keywords: Any) -> Any:
        message = (
            f"These are {len(self)} results, where MATLAB takes the first by itself: "
            "write `first, *_ = ...`, or `...[0]`."
        )
        raise TypeError(message)

    __call__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __float__ = _refuse


def of_several(function: Callable[..., tuple[Any, ...]]) -> Callable[..., Several]:
    """Return a function whose tuple says what to write if it is used as one result."""

    @functools.wraps(function)
    def with_hint(*arguments: Any, **keywords: Any) -> Several:
        return Several(function(*arguments, **keywords))

    return with_hint
