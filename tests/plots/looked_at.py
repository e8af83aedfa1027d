"""What is seen of a plot."""

from typing import Any


def legend_texts(plot: Any) -> list[str]:
    """Return the texts of the legend, if there is one."""
    legend = plot.ax.get_legend()
    return [text.get_text() for text in legend.get_texts()] if legend else []
