"""MATLAB's other way to call a method, ``display_legend(plot)``.

Names such as filter and save, which mean something else in Python, are not among them.
"""

from __future__ import annotations

from collections.abc import Callable

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


def as_function(name: str) -> Callable[..., object]:
    """Return the function that calls the method of a name."""

    def method(obj: object, *arguments: object) -> object:
        function: Callable[..., object] = getattr(obj, name)
        return function(*arguments)

    method.__name__ = name
    method.__doc__ = f"Call a method as a function, as in MATLAB: ``obj.{name}(...)``."
    return method
