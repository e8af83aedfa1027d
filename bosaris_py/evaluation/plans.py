"""Evaluation plans as data: the cost that an evaluation published, and its source.

A plan names operating points, the factors whose combinations are the *partitions* of the trials,
what happens to trials of one class only, and the document that says so. The presets are those of
``plans.toml``, by name in `PLANS`; every part can be replaced.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import FilePath, Given
from bosaris_py.metrics.tandem import Form
from bosaris_py.metrics.third_class import to_costs
from bosaris_py.numerics.priors import OperatingPoint, SpoofCosts
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.conditions import checked_weights
from bosaris_py.trials.key import Key

# What plans of three classes publish: of one system, of a countermeasure, and of a verifier and a
# countermeasure in tandem.
_OF_TANDEM = ("t_dcf", "act_t_dcf", "t_eer")
_FAMILIES = (
    ("a_dcf", "act_a_dcf", "sv_eer", "spf_eer", "sasv_eer"),
    ("cm_eer",),
    (*_OF_TANDEM, "cm_eer"),
)


def _texts(values: Sequence[str]) -> tuple[str, ...]:
    """Return several texts as a tuple; a single one is a common mistake."""
    fields = "levels, figures, attacks and notes"
    if isinstance(values, str) or any(str(x) != x for x in check.listed(values, fields)):
        hint = "They are texts in a list, as in the files: ['1'], not '1' or [1]."
        raise check.invalid(fields, "be texts", check.describe(values), hint)
    return tuple(check.listed(values, fields))


def _records(kind: Given, values: Iterable[object], name: str) -> tuple[Given, ...]:
    """Return records of a kind; as in TOML some may be tables, or their first field alone."""
    made = (kind(**one) if isinstance(one, dict) else one for one in check.listed(values, name))
    return tuple(one if isinstance(one, kind) else kind(one) for one in made)


def _numbers(values: object) -> tuple[float, ...]:
    return tuple(check.listed(values, "weights"))


def _points(values: Iterable[OperatingPoint | float]) -> tuple[OperatingPoint, ...]:
    return _records(OperatingPoint, values, "points")


@attrs.frozen
class PartitionFactor:
    """One column of the key by which a plan divides the trials.

    Parameters
    ----------
    name : str
        Name of the column.
    levels : sequence of str, optional
        The values that it may have; another value is then an error. None takes whatever values
        there are.
    target_only : sequence of str, default: ()
        Levels of which only the target trials count. Where such a level is judged on its own, the
        non-targets of the other levels stand in.
    classes : {"both", "tar", "non"}, default: "both"
        Which trials it divides: all, or those of one class. The others are then not asked for its
        value.
    weights : sequence of float, optional
        Weight of each of `levels` in the means over partitions, summing to one; equal by default.

    Examples
    --------
    >>> print(PartitionFactor("phone_num_match", ["Y", "N"], target_only=["Y"]))
    phone_num_match (Y, N); only targets where Y
    """

    name: str
    levels: tuple[str, ...] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_texts)
    )
    target_only: tuple[str, ...] = attrs.field(default=(), converter=_texts, kw_only=True)
    classes: str = attrs.field(
        default="both", validator=check.one_of(("both", "tar", "non")), kw_only=True
    )
    weights: tuple[float, ...] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_numbers), kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        """Raise if what refers to levels does not fit them."""
        if self.levels and not {*self.target_only} <= {*self.levels}:
            raise check.invalid("target_only", f"be among {self.levels}", str(self.target_only))
        if self.weights is not None:
            checked_weights(self.weights, self.levels or ())

    def __str__(self) -> str:
        """Say by which values which trials are divided."""
        text = f"{self.name} ({', '.join(self.levels) if self.levels else 'all values found'})"
        if self.classes != "both":
            text += f", {'targets' if self.classes == 'tar' else 'non-targets'} only"
        if self.target_only:
            text += f"; only targets where {' or '.join(self.target_only)}"
        if self.weights is not None:
            text += f"; weights {', '.join(f'{w:g}' for w in self.weights)}"
        return text


def _factors(values: Iterable[PartitionFactor | str]) -> tuple[PartitionFactor, ...]:
    return _records(PartitionFactor, values, "factors")


def _selection(values: Given) -> dict[str, str]:
    check.check_mapping(values, "select", "values of columns")
    return dict(values)


def _plans(values: Iterable[EvaluationPlan | str]) -> tuple[EvaluationPlan, ...]:
    return tuple(map(find_plan, check.listed(values, "parts")))


@attrs.frozen(kw_only=True, repr=False)
class EvaluationPlan:
    r"""The cost that an evaluation publishes.

    Parameters
    ----------
    name, title : str
        Short name, and what it is in words.
    points : sequence of OperatingPoint or float, default: ()
        The primary cost is the mean over these; a number is a target probability with costs 1 and
        1.
    factors : sequence of PartitionFactor or str, default: ()
        Columns of the key; all combinations of their values are the partitions over which
        error-rates are averaged. None: the trials are pooled.
    select : mapping of str to str, default: {}
        Trials that the plan is about, among those of a key that holds several data sets: column and
        value.
    parts : sequence of EvaluationPlan or str, default: ()
        The plan is the mean of the costs of these, each of its own data set. Such a plan has no
        operating points of its own.
    normalize : bool, default: True
        Divide each cost by that of the better decision made without a detector, so that C = Pmiss +
        beta Pfa where beta is at least 1.
    ranked_by : {"actual", "minimum"}, default: "actual"
        Which of the two the evaluation ranked systems by.
    by_condition : bool, default: False
        Each condition that is given is judged by itself; the plan has no overall cost.
    figures : sequence of str, default: ()
        What a plan of three classes publishes, in place of operating points: ``a_dcf``,
        ``act_a_dcf``, ``sv_eer``, ``spf_eer``, ``sasv_eer``;
        ``cm_eer``, of bona fide speech and spoofs; of a verifier and a countermeasure
        ``t_dcf``, ``act_t_dcf``, ``t_eer`` (and ``cm_eer``). Trials then need their kind, see
        `read_key` with ``spoof="keep"``; those of a countermeasure alone do not.
    spoof_costs : SpoofCosts or str, optional
        Priors and costs of three classes, for those figures that are costs.
    form : {"revised", "legacy"}, default: "revised"
        Of the t-DCF, see `t_dcf`.
    sets : str, default: ""
        A column of the key that names data sets: each figure is the mean of those of the sets.
    eer : {"rocch", "interpolated", "step"}, optional
        Which equal error-rates `evaluate` gives under the plan, see `bosaris_py.eer`; by default
        those of the convex hull.
    attacks : sequence of str, default: ()
        Ids of the attacks in the data; `evaluate` warns of others. None: they are not known.
    source, date : str, default: ""
        Document and address; the year, or the day, of it.
    notes : sequence of str, default: ()
        What else a user must know, repeated in every result.

    Notes
    -----
    The cost at one operating point, for the mean over partitions of each rate:

    .. math::
        C_{norm}(\beta, \theta) = \overline{P_{miss}}(\theta) +
        \beta\,\overline{P_{fa}}(\theta),\quad
        \beta = \frac{C_{fa}}{C_{miss}}\,\frac{1 - \pi}{\pi}

    Below a :math:`\beta` of 1 it is divided by :math:`\beta`. The actual cost is that at
    :math:`\theta = \log\beta`; the minimum is taken over the threshold, separately for each
    operating point.

    Examples
    --------
    >>> from bosaris_py.evaluation import PLANS
    >>> plan = PLANS["SRE18-CMN2"]
    >>> [round(beta) for beta in plan.betas]
    [99, 199]
    >>> plan.evolve(points=[0.1]).betas
    (9.0,)
    """

    name: str
    title: str = ""
    points: tuple[OperatingPoint, ...] = attrs.field(default=(), converter=_points)
    factors: tuple[PartitionFactor, ...] = attrs.field(default=(), converter=_factors)
    select: Mapping[str, str] = attrs.field(factory=dict, converter=_selection, hash=False)
    parts: tuple[EvaluationPlan, ...] = attrs.field(default=(), converter=_plans)
    normalize: bool = True
    ranked_by: str = attrs.field(default="actual", validator=check.one_of(("actual", "minimum")))
    by_condition: bool = False
    figures: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    spoof_costs: SpoofCosts | None = attrs.field(
        default=None, converter=attrs.converters.optional(to_costs)
    )
    form: Form = attrs.field(default="revised", validator=check.one_of(Form))
    sets: str = ""
    eer: EERDefinition | None = None
    attacks: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    source: str = ""
    date: str = ""
    notes: tuple[str, ...] = attrs.field(default=(), converter=_texts)

    def __attrs_post_init__(self) -> None:
        """Raise unless the plan has operating points, parts or figures, and what fits these."""
        # What a plan is of, and what does not go with it.
        kinds = {
            "points": ["spoof_costs", "sets"],
            "parts": ["spoof_costs", "sets", "factors", "select"],
            "figures": ["factors", "select", *(["sets"] if self.detectors == 2 else [])],
        }
        given = [name for name in kinds if getattr(self, name)]
        if len(given) != 1:
            got = " and ".join(given) or "none"
            raise check.invalid(", ".join(kinds), "be given, exactly one of them", got)
        if beside := [name for name in kinds[given[0]] if getattr(self, name)]:
            got = check.describe(getattr(self, beside[0]))
            raise check.invalid(beside[0], f"be left out beside {given[0]}", got)
        if not any({*self.figures} <= {*family} for family in _FAMILIES):
            families = "; or ".join(map(", ".join, _FAMILIES))
            raise check.invalid("figures", f"be of {families}", str(self.figures))
        if self.spoof_costs is None and any(name.endswith("dcf") for name in self.figures):
            raise check.invalid("spoof_costs", f"be given for {', '.join(self.figures)}", "none")

    @property
    def detectors(self) -> int:
        """How many detectors the plan is for: 2 if a verifier and a countermeasure in tandem."""
        return 2 if set(_OF_TANDEM).intersection(self.figures) else 1

    @property
    def costs_in_words(self) -> str:
        """Priors and costs of three classes; empty without."""
        if self.spoof_costs is None:
            return ""
        given = attrs.asdict(self.spoof_costs).items()
        return ", ".join(f"{name.capitalize()} {value:g}" for name, value in given)

    @property
    def betas(self) -> tuple[float, ...]:
        """Price of a false-alarm rate of one, in units of that of a miss rate of one."""
        return tuple(point.fa_cost / point.miss_cost for point in self.points)

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Read a plan from a file of TOML, whose keys are the fields.

        Parameters
        ----------
        path : str or path-like
            The file. An operating point is a number or a table of ``p_target``, ``c_miss`` and
            ``c_fa``, a factor a table, a part the name of a preset.

        Returns
        -------
        EvaluationPlan

        Raises
        ------
        FileFormatError
            If the file is no TOML, or its keys are not those of a plan.
        """
        try:
            return cls(**tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise errors.FileFormatError(f"{path}: {error}") from error

    def evolve(self, **changes: Given) -> Self:
        """Return a plan in which some parts are replaced.

        Parameters
        ----------
        **changes : object
            New values of any of the fields.

        Returns
        -------
        EvaluationPlan
        """
        return attrs.evolve(self, **changes)

    def __repr__(self) -> str:
        """Name the plan."""
        return f"EvaluationPlan: {self.name}"

    def __str__(self) -> str:
        """Say in some lines what the plan asks for, and where it stands."""
        rows = [
            ("mean over", ", ".join(part.name for part in self.parts)),
            ("figures", ", ".join(self.figures)),
            ("costs", self.costs_in_words),
            ("detectors", f"asv and cm, {self.form} t-DCF" * (self.detectors == 2)),
            ("equal error-rates", self.eer),
            ("mean over", self.sets and f"the values of {self.sets}"),
        ]
        for point, beta in zip(self.points, self.betas, strict=True):
            costs = f"C_miss {point.c_miss:g}, C_fa {point.c_fa:g}, beta {beta:.6g}"
            rows.append(("operating point", f"P_target {point.p_target:g}, {costs}"))
        rows.append(("trials", ", ".join(f"{name} = {of}" for name, of in self.select.items())))
        rows += [("partitions by", str(factor)) for factor in self.factors]
        if self.points and not self.factors:
            rows.append(("partitions", "none: trials are pooled"))
        rows.append(("ranked by", f"{self.ranked_by} cost"))
        rows.append(("source", self.source and f"{self.source} ({self.date})".removesuffix(" ()")))
        rows += [("note", note) for note in self.notes]
        title = f"{self.name}: {self.title}".removesuffix(": ")
        return "\n".join([title, *(f"  {name:<19}{text}" for name, text in rows if text)])


def find_plan(plan: EvaluationPlan | str) -> EvaluationPlan:
    """Return a plan given by itself or by its name."""
    return plan if isinstance(plan, EvaluationPlan) else PLANS[str(plan)]


class _Plans(dict[str, EvaluationPlan]):
    """Plans by name; lower and upper case, hyphens, underscores and spaces are the same.

    Examples
    --------
    >>> from bosaris_py.evaluation import PLANS
    >>> PLANS["sre18_cmn2"].name
    'SRE18-CMN2'
    """

    def __missing__(self, name: str) -> EvaluationPlan:
        """Return a plan; an unknown name is an error that lists the known ones."""
        # "SRE18-CMN2", "sre18_cmn2" and "SRE18 CMN2" are all in use.
        bare = {"".join(filter(str.isalnum, known.casefold())): known for known in self}
        if (known := bare.get("".join(filter(str.isalnum, str(name).casefold())))) is not None:
            return self[known]
        known = check.list_some(self, shown=len(self))
        raise errors.InvalidInputError(f"There is no evaluation plan {name!r}; known are {known}.")


# The plans that come with the package; parts come before their plan.
PLANS = _Plans()
for _table in tomllib.loads(Path(__file__).with_name("plans.toml").read_text("utf-8"))["plan"]:
    PLANS[_table["name"]] = EvaluationPlan(**_table)

# What stands for no attack; trials whose kind is not known have it, too.
_BONA_FIDE = ("bonafide", "bona-fide", "-", "")


def refuse_spoofs(key: Key, plan: EvaluationPlan) -> None:
    """Raise if a key has spoofs, and a plan does not know the third class."""
    if key.n_spoof and not plan.figures:
        hint = 'For instance "ASVspoof5-2". Without spoofs judge key.bona_fide().'
        got = f"{plan.name}, and {key.n_spoof} spoofs"
        raise check.invalid("plan", "be one of three classes where trials are spoofs", got, hint)


def strange_attacks(plan: EvaluationPlan, key: Key) -> list[errors.Note]:
    """Note spoofs by attacks that the data of a plan do not have: they are of another one."""
    if not plan.attacks or "attack" not in key.columns:
        return []
    attack = key.columns.factor("attack")
    found = attack.codes[key.labels == -2] if key.n_spoof else attack.codes
    used = attack.levels[np.unique(found)].tolist()
    strange = [name for name in used if name not in (*plan.attacks, *_BONA_FIDE)]
    n_trials = int(np.isin(attack.values(), strange).sum())
    text = (
        f"{n_trials} trials are of attacks that the data of {plan.name} do not have "
        f"({check.list_some(strange)}): these are {plan.attacks[0]} to {plan.attacks[-1]}."
    )
    note = errors.Note(errors.BosarisWarning, text, advice="Is it the plan of these data?")
    return [note] if strange else []
