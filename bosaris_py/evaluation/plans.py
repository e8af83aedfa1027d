"""Evaluation plans as data: the cost that an evaluation published, and its source.

A plan names operating points, the factors whose combinations are the *partitions* of the trials,
what happens to trials of one class only, and the document that says so. The presets are those of
``plans.toml``, by name in `PLANS`; every part can be replaced.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import attrs
import numpy as np

from bosaris_py._notes import Note
from bosaris_py._validation import FilePath, check_choice, describe, invalid, list_some, one_of
from bosaris_py.errors import (
    FileFormatError,
    InvalidInputError,
    UncertainPlanWarning,
    UnknownPlanError,
)
from bosaris_py.evaluation.figure_names import FIGURES
from bosaris_py.numerics.priors import OperatingPoint, SpoofCosts, SpoofCostsLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.conditions import checked_weights
from bosaris_py.trials.key import Key


def _check_text(instance: object, attribute: attrs.Attribute[str], value: object) -> None:
    """Raise unless a name is a text, and not empty (an attrs validator)."""
    if not isinstance(value, str) or not value:
        raise invalid(attribute.name, "be a text", describe(value))


def _to_texts(name: str, values: object) -> tuple[str, ...]:
    """Return several texts as a tuple; a single one is a common mistake."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        hint = "One text needs a comma: ('Y',)." if isinstance(values, str) else ""
        raise invalid(name, "be several texts", describe(values), hint)
    if not all(isinstance(value, str) for value in values):
        hint = "Levels are text, as in the files: '1', not 1."
        raise invalid(name, "hold texts", describe(values), hint)
    return tuple(values)


def _to_levels(values: object) -> tuple[str, ...] | None:
    return None if values is None else _to_texts("levels", values)


def _to_target_only(values: object) -> tuple[str, ...]:
    return _to_texts("target_only", values)


def _to_weights(values: Any) -> tuple[float, ...] | None:
    try:
        return None if values is None else tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise invalid("weights", "be numbers", describe(values)) from None


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
    >>> PartitionFactor("phone_num_match", ["Y", "N"], target_only=["Y"])
    PartitionFactor(name='phone_num_match', levels=('Y', 'N'), target_only=('Y',))
    """

    name: str = attrs.field(validator=_check_text)
    levels: tuple[str, ...] | None = attrs.field(default=None, converter=_to_levels)
    target_only: tuple[str, ...] = attrs.field(default=(), converter=_to_target_only, kw_only=True)
    classes: str = attrs.field(
        default="both", validator=one_of(("both", "tar", "non")), kw_only=True
    )
    weights: tuple[float, ...] | None = attrs.field(
        default=None, converter=_to_weights, kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        """Raise if levels are repeated, or what refers to levels does not fit them."""
        levels, weights = self.levels, self.weights
        if levels is not None and (not levels or len(set(levels)) < len(levels)):
            raise invalid("levels", "name each level once, or be None", describe(levels))
        unknown = [level for level in self.target_only if levels and level not in levels]
        if unknown:
            raise invalid("target_only", f"be among the levels {levels}", str(unknown))
        if self.target_only and self.classes != "both":
            hint = "`target_only` says already that the classes are treated differently."
            raise invalid("classes", "be 'both'", describe(self.classes), hint)
        if weights is None:
            return
        checked_weights(weights, levels or ())

    def __repr__(self) -> str:
        """Show what is not at its default."""
        shown = [f"name={self.name!r}"]
        for field in attrs.fields(type(self))[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                shown.append(f"{field.name}={value!r}")
        return f"PartitionFactor({', '.join(shown)})"

    def divides(self, class_name: str) -> bool:
        """Tell if trials of a class are divided by this factor.

        Parameters
        ----------
        class_name : {"tar", "non"}
            The class.

        Returns
        -------
        bool
        """
        return self.classes in ("both", class_name)


def _listed(name: str, expected: str, values: object) -> Sequence[Any]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise invalid(name, expected, describe(values))
    return values


def _to_points(values: object) -> tuple[OperatingPoint, ...]:
    given = (values,) if isinstance(values, (OperatingPoint, float)) else values
    points = _listed("operating_points", "be operating points or target probabilities", given)
    return tuple(p if isinstance(p, OperatingPoint) else OperatingPoint(p) for p in points)


def _to_factors(values: object) -> tuple[PartitionFactor, ...]:
    factors = _listed("factors", "be a list of PartitionFactor or names of columns", values)
    return tuple(f if isinstance(f, PartitionFactor) else PartitionFactor(f) for f in factors)


def _to_pairs(values: Any) -> tuple[tuple[str, str], ...]:
    pairs = values.items() if isinstance(values, Mapping) else values
    try:
        listed = tuple((column, level) for column, level in pairs)
    except (TypeError, ValueError):
        listed = ((None, None),)
    if not all(isinstance(text, str) for pair in listed for text in pair):
        expected = "be a mapping from a column to the value that its trials have"
        raise invalid("select", expected, describe(values))
    return listed


def _to_notes(values: object) -> tuple[str, ...]:
    return _to_texts("notes", (values,) if isinstance(values, str) else values)


def _to_parts(values: object) -> tuple[EvaluationPlan, ...]:
    parts = _listed("parts", "be evaluation plans", values)
    if not all(isinstance(part, EvaluationPlan) for part in parts):
        raise invalid("parts", "be evaluation plans", describe(values))
    return tuple(parts)


# What plans of three classes publish: of one system, and of a verifier and a countermeasure.
_OF_KINDS = tuple(column for column, figure in FIGURES.items() if figure.of_kinds)
_OF_TANDEM = tuple(column for column in _OF_KINDS if FIGURES[column].of_tandem)


def _is_given(field: attrs.Attribute[float], value: float) -> bool:
    """Leave out prices of further kinds that are not given."""
    return not field.kw_only or value != field.default


def _to_spoof_costs(costs: SpoofCostsLike | None) -> SpoofCosts | None:
    return None if costs is None else SpoofCosts.named(costs)


@attrs.frozen(kw_only=True, repr=False)
class EvaluationPlan:
    r"""The cost that an evaluation publishes.

    Parameters
    ----------
    name, title : str
        Short name, and what it is in words.
    operating_points : sequence of OperatingPoint or float, default: ()
        The primary cost is the mean over these; a number is a target probability with costs 1 and
        1.
    factors : sequence of PartitionFactor or str, default: ()
        Columns of the key; all combinations of their values are the partitions over which
        error-rates are averaged. None: the trials are pooled.
    select : mapping of str to str, default: {}
        Trials that the plan is about, among those of a key that holds several data sets: column and
        value.
    parts : sequence of EvaluationPlan, default: ()
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
    tandem_form : {"revised", "legacy"}, default: "revised"
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
    notes : str or sequence of str, default: ()
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
    >>> plan.evolve(operating_points=[0.1]).betas
    (9.0,)
    """

    name: str = attrs.field(validator=_check_text)
    title: str = ""
    operating_points: tuple[OperatingPoint, ...] = attrs.field(default=(), converter=_to_points)
    factors: tuple[PartitionFactor, ...] = attrs.field(default=(), converter=_to_factors)
    select: tuple[tuple[str, str], ...] = attrs.field(default=(), converter=_to_pairs)
    parts: tuple[EvaluationPlan, ...] = attrs.field(default=(), converter=_to_parts)
    normalize: bool = True
    ranked_by: str = attrs.field(default="actual", validator=one_of(("actual", "minimum")))
    by_condition: bool = False
    figures: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    spoof_costs: SpoofCosts | None = attrs.field(default=None, converter=_to_spoof_costs)
    tandem_form: Literal["revised", "legacy"] = attrs.field(
        default="revised", validator=one_of(("revised", "legacy"))
    )
    sets: str = ""
    eer: EERDefinition | None = attrs.field(
        default=None, validator=attrs.validators.optional(one_of(EERDefinition))
    )
    attacks: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    source: str = ""
    date: str = ""
    notes: tuple[str, ...] = attrs.field(default=(), converter=_to_notes)

    def __attrs_post_init__(self) -> None:
        """Raise unless the plan has either operating points or parts, and each factor once."""
        names = [factor.name for factor in self.factors]
        if len(set(names)) < len(names):
            raise invalid("factors", "name each column once", str(names))
        if self.figures:
            self._check_figures()
            return
        if self.spoof_costs is not None:
            raise invalid("spoof_costs", "be left out without `figures`", str(self.spoof_costs))
        if self.sets:
            hint = "Plans of two classes have parts, one for each data set."
            raise invalid("sets", "be left out without `figures`", repr(self.sets), hint)
        if bool(self.parts) == bool(self.operating_points):
            got = "both" if self.parts else "neither"
            raise invalid("operating_points or parts", "be given, exactly one of them", got)
        if self.parts and (self.factors or self.select):
            hint = "Give them to the parts."
            raise invalid("factors and select", "be empty beside `parts`", "some", hint)

    def _check_figures(self) -> None:
        for name in self.figures:
            check_choice(name, _OF_KINDS, "figures")
        if self.operating_points or self.parts or self.factors or self.select:
            hint = "Figures of three classes have costs of their own: spoof_costs."
            raise invalid("figures", "stand without points, parts and factors", "some", hint)
        needing = sorted(name for name in self.figures if FIGURES[name].of_costs)
        if self.spoof_costs is None and needing:
            raise invalid("spoof_costs", f"be given, for {', '.join(needing)}", "none")
        if self.detectors == 1 and "cm_eer" in self.figures and len(self.figures) > 1:
            hint = "Beside t-DCF or t-EER it is that of the countermeasure."
            raise invalid("figures", "have cm_eer alone, of one detector", str(self.figures), hint)
        alone = [name for name in self.figures if name not in (*_OF_TANDEM, "cm_eer")]
        if self.detectors == 2 and (alone or self.sets):
            expected = (
                f"be left out beside figures of two detectors ({', '.join(_OF_TANDEM)}, cm_eer)"
            )
            raise invalid("figures and sets", expected, ", ".join(alone) or self.sets)

    @property
    def detectors(self) -> int:
        """How many detectors the plan is for: 2 if a verifier and a countermeasure in tandem."""
        return 2 if set(_OF_TANDEM).intersection(self.figures) else 1

    @property
    def costs_in_words(self) -> str:
        """Priors and costs of three classes; empty without."""
        if self.spoof_costs is None:
            return ""
        given = attrs.asdict(self.spoof_costs, filter=_is_given)
        return ", ".join(f"{name.capitalize()} {value:g}" for name, value in given.items())

    @property
    def betas(self) -> tuple[float, ...]:
        """Price of a false-alarm rate of one, in units of that of a miss rate of one."""
        return tuple(point.fa_cost / point.miss_cost for point in self.operating_points)

    @property
    def target_only(self) -> dict[str, tuple[str, ...]]:
        """Levels of which the targets count only, by factor."""
        return {factor.name: factor.target_only for factor in self.factors if factor.target_only}

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
            return cls._from_table(tomllib.loads(Path(path).read_text(encoding="utf-8")), PLANS)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, TypeError, InvalidInputError) as error:
            raise FileFormatError(f"{path}: {error}") from error

    @classmethod
    def _from_table(cls, table: Mapping[str, Any], known: Mapping[str, EvaluationPlan]) -> Self:
        """Make a plan of what TOML holds."""
        made = {**table, "parts": [known[name] for name in table.get("parts", ())]}
        made["operating_points"] = [
            OperatingPoint(**point) if isinstance(point, dict) else point
            for point in table.get("operating_points", ())
        ]
        made["factors"] = [PartitionFactor(**factor) for factor in table.get("factors", ())]
        return cls(**made)

    def evolve(self, **changes: Any) -> Self:
        """Return a plan in which some parts are replaced.

        Parameters
        ----------
        **changes : object
            New values of any of the fields.

        Returns
        -------
        EvaluationPlan
        """
        names = attrs.fields_dict(type(self))
        unknown = [name for name in changes if name not in names]
        if unknown:
            raise invalid("changes", f"be among {', '.join(names)}", str(unknown))
        return attrs.evolve(self, **changes)

    def __repr__(self) -> str:
        """Name the plan."""
        return f"EvaluationPlan: {self.name}"

    def __str__(self) -> str:
        """Say in some lines what the plan asks for, and where it stands."""
        lines = [f"{self.name}: {self.title}" if self.title else self.name]
        if self.parts:
            lines.append(f"  mean over          {', '.join(part.name for part in self.parts)}")
        if self.figures:
            lines.append(f"  figures            {', '.join(self.figures)}")
        if self.spoof_costs is not None:
            lines.append(f"  costs              {self.costs_in_words}")
        if self.detectors == 2:
            lines.append(f"  detectors          asv and cm, {self.tandem_form} t-DCF")
        if self.eer is not None:
            lines.append(f"  equal error-rates  {self.eer}")
        if self.sets:
            lines.append(f"  mean over          the values of {self.sets}")
        for point, beta in zip(self.operating_points, self.betas, strict=True):
            costs = f"C_miss {point.c_miss:g}, C_fa {point.c_fa:g}, beta {beta:.6g}"
            lines.append(f"  operating point    P_target {point.p_target:g}, {costs}")
        if self.select:
            chosen = ", ".join(f"{column} = {level}" for column, level in self.select)
            lines.append(f"  trials             {chosen}")
        lines.extend(f"  partitions by      {_in_words(factor)}" for factor in self.factors)
        if not self.factors and not self.parts and not self.figures:
            lines.append("  partitions         none: trials are pooled")
        lines.append(f"  ranked by          {self.ranked_by} cost")
        if self.source:
            lines.append(f"  source             {self.source}{self.date and f' ({self.date})'}")
        lines.extend(f"  note               {note}" for note in self.notes)
        return "\n".join(lines)


def _in_words(factor: PartitionFactor) -> str:
    levels = "all values found" if factor.levels is None else ", ".join(factor.levels)
    text = f"{factor.name} ({levels})"
    if factor.classes != "both":
        text += f", {'targets' if factor.classes == 'tar' else 'non-targets'} only"
    if factor.target_only:
        text += f"; only targets where {' or '.join(factor.target_only)}"
    if factor.weights is not None:
        text += f"; weights {', '.join(f'{w:g}' for w in factor.weights)}"
    return text


def _bare(name: str) -> str:
    """Return a name as it is compared: no case, no punctuation."""
    # "SRE18-CMN2", "sre18_cmn2" and "SRE18 CMN2" are all in use.
    return "".join(letter for letter in name.casefold() if letter.isalnum())


class PlanCollection(Mapping[str, EvaluationPlan]):
    """Plans by name; lower and upper case, hyphens, underscores and spaces are the same.

    Parameters
    ----------
    plans : sequence of EvaluationPlan
        The plans, in the order in which they are listed.

    Examples
    --------
    >>> from bosaris_py.evaluation import PLANS
    >>> PLANS["sre18_cmn2"] is PLANS["SRE18-CMN2"]
    True
    """

    def __init__(self, plans: Sequence[EvaluationPlan]) -> None:
        self._plans = {_bare(plan.name): plan for plan in plans}

    def __getitem__(self, name: str) -> EvaluationPlan:
        """Return a plan; an unknown name is an error that lists the known ones."""
        plan = self._plans.get(_bare(str(name)))
        if plan is None:
            known = list_some(self, shown=len(self))
            message = f"There is no evaluation plan {name!r}; known are {known}."
            raise UnknownPlanError(message)
        return plan

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return (plan.name for plan in self._plans.values())

    def __len__(self) -> int:
        """Return the number of plans."""
        return len(self._plans)

    def __repr__(self) -> str:
        """List the names."""
        return f"PlanCollection: {', '.join(self)}"


def _presets() -> PlanCollection:
    """Read the plans that come with the package; parts come before their plan."""
    text = Path(__file__).with_name("plans.toml").read_text(encoding="utf-8")
    found: dict[str, EvaluationPlan] = {}
    for table in tomllib.loads(text)["plan"]:
        found[table["name"]] = EvaluationPlan._from_table(table, found)
    return PlanCollection([*found.values()])


PLANS = _presets()

# What stands for no attack; trials whose kind is not known have it, too.
_BONA_FIDE = ("bonafide", "bona-fide", "-", "")


def plan_of_two_classes(plan: object) -> EvaluationPlan:
    """Return a plan that has a primary cost; one of three classes is an error."""
    chosen = find_plan(plan)
    if chosen.figures:
        hint = f"evaluate(..., plan={chosen.name!r}) gives its figures."
        raise invalid("plan", "have a primary cost of two classes", repr(chosen.name), hint)
    return chosen


def refuse_spoofs(key: Key, plan: EvaluationPlan | None) -> None:
    """Raise if a key has spoofs, and a plan does not know the third class."""
    if key.n_spoof and (plan is None or not plan.figures):
        hint = 'For instance "ASVspoof5-2". Without spoofs judge key.bona_fide().'
        got = f"{'none' if plan is None else plan.name}, and {key.n_spoof} spoofs"
        raise invalid("plan", "be one of three classes where trials are spoofs", got, hint)


def strange_attacks(plan: EvaluationPlan, key: Key) -> list[Note]:
    """Note spoofs by attacks that the data of a plan do not have: they are of another one."""
    if not plan.attacks or "attack" not in key.columns:
        return []
    attack = key.columns.factor("attack")
    found = attack.codes[key.labels == -2] if key.n_spoof else attack.codes
    used = attack.levels[np.unique(found)].tolist()
    strange = [name for name in used if name not in (*plan.attacks, *_BONA_FIDE)]
    if not strange:
        return []
    n_trials = int(np.isin(attack.values(), strange).sum())
    text = (
        f"{n_trials} trials are of attacks that the data of {plan.name} do not have "
        f"({list_some(strange)}): these are {plan.attacks[0]} to {plan.attacks[-1]}."
    )
    return [Note(UncertainPlanWarning, text, advice="Is it the plan of these data?")]


def find_plan(plan: object) -> EvaluationPlan:
    """Return a plan given by itself or by its name."""
    if isinstance(plan, EvaluationPlan):
        return plan
    if not isinstance(plan, str):
        raise invalid("plan", "be the name of a plan or an EvaluationPlan", describe(plan))
    return PLANS[plan]
