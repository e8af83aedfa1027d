"""What the figures of tables are called: one record for each, which everything that shows it reads.

A figure is a column of a table.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Figure(NamedTuple):
    """A figure of a table, and what it is called.

    Parameters
    ----------
    column : str
        The name in records, and of the column in a data frame.
    name : str
        What it is called in sentences, below tables and at axes.
    meaning : str
        What a report says that it is.
    unit : {"rate", "bits", "cost"}
        A rate is a fraction, which is shown in per cent.
    of_kinds : bool
        Whether plans of three classes publish it.
    of_costs : bool
        Whether it depends on the costs of three classes.
    of_tandem : bool
        Whether it is one of two detectors together.
    """

    column: str
    name: str
    meaning: str = ""
    unit: Literal["rate", "bits", "cost"] = "cost"
    of_kinds: bool = False
    of_costs: bool = False
    of_tandem: bool = False

    @property
    def is_rate(self) -> bool:
        """Whether it is shown in per cent."""
        return self.unit == "rate"

    @property
    def head(self) -> str:
        """The head of its column."""
        return f"{self.name} (%)" if self.is_rate else self.name

    @property
    def with_article(self) -> str:
        """Its name in a sentence, after "a" or "an"."""
        # The letter S is at the beginning of spelled names only: an SV-EER.
        return f"{'an' if self.name[0] in 'aAES' else 'a'} {self.name}"

    def text(self, value: float) -> str:
        """Return a value as it is printed below the head."""
        if self.is_rate:
            return f"{100.0 * value:.2f}"
        # Of scores that are no log-likelihood-ratios a cost can have hundreds of digits.
        return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"


_ALL = (
    Figure(
        "eer",
        "EER",
        "Equal error-rate, in per cent: misses and false alarms are equally frequent, on the "
        "convex hull of the ROC. It shows how well scores tell the classes apart, not their "
        "calibration.",
        "rate",
    ),
    Figure(
        "min_dcf",
        "minDCF",
        "Least detection cost at an operating point, with the threshold that is best for these "
        "very trials.",
    ),
    Figure(
        "act_dcf",
        "actDCF",
        "Actual detection cost: decisions are made at the Bayes threshold, as if scores were "
        "log-likelihood-ratios. What exceeds minDCF is lost by calibration.",
    ),
    Figure(
        "min_cllr",
        "minCllr",
        "Cllr after the best calibration that keeps the order of the scores.",
        "bits",
    ),
    Figure(
        "cllr",
        "Cllr",
        "Cost of the log-likelihood-ratios over all operating points, in bits: 0 is perfect, 1 is "
        "what no detector costs.",
        "bits",
    ),
    Figure(
        "a_dcf",
        "min a-DCF",
        "Least detection cost of targets, zero-effort impostors and spoofs, by the priors and "
        "costs of the plan, with the threshold that is best for these very trials.",
        of_kinds=True,
        of_costs=True,
    ),
    Figure(
        "act_a_dcf",
        "act a-DCF",
        "The a-DCF at the Bayes threshold. What exceeds min a-DCF is lost by calibration.",
        of_kinds=True,
        of_costs=True,
    ),
    Figure(
        "sv_eer",
        "SV-EER",
        "Equal error-rate of targets and zero-effort impostors, in per cent.",
        "rate",
        of_kinds=True,
    ),
    Figure("spf_eer", "SPF-EER", "Equal error-rate of targets and spoofs.", "rate", of_kinds=True),
    Figure(
        "sasv_eer",
        "SASV-EER",
        "Equal error-rate of targets and all kinds pooled, in the mix of the protocol.",
        "rate",
        of_kinds=True,
    ),
    Figure(
        "t_dcf",
        "min t-DCF",
        "Least cost of verifier and countermeasure in tandem, over the threshold of the latter. "
        "The verifier's is where its own two error-rates are equal.",
        of_kinds=True,
        of_costs=True,
        of_tandem=True,
    ),
    Figure(
        "act_t_dcf",
        "act t-DCF",
        "The t-DCF at the Bayes threshold of the countermeasure.",
        of_kinds=True,
        of_costs=True,
        of_tandem=True,
    ),
    Figure(
        "t_eer",
        "t-EER",
        "Where miss and both false-alarm rates of the tandem are equal.",
        "rate",
        of_kinds=True,
        of_tandem=True,
    ),
    Figure(
        "cm_eer",
        "CM-EER",
        "Equal error-rate of bona fide speech and spoofs, in per cent.",
        "rate",
        of_kinds=True,
    ),
    Figure("min_primary", "minCprimary", "Primary cost of the plan, at the best thresholds."),
    Figure(
        "act_primary", "actCprimary", "Primary cost of the plan, for the decisions of the system."
    ),
)

# In the order in which a report explains them.
FIGURES = {figure.column: figure for figure in _ALL}


def figure_of(column: str) -> Figure:
    """Return the record of a column, whose name may end with an operating point: min_dcf(0.05)."""
    kind, bracket, point = column.partition("(")
    known = FIGURES.get(kind)
    if known is None:
        return Figure(column, column)
    return known._replace(column=column, name=f"{known.name}{bracket}{point}")
