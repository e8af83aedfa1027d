"""Names of other toolkits lead to those that exist; names of this one are never hidden."""

import pytest

import bosaris_py as bp
from bosaris_py import _names, matlab, uncertainty


@pytest.mark.parametrize(
    ("package", "name", "meant"),
    [
        (bp, "DetPlot", "DETPlot"),
        (bp, "Id_Map", "IdMap"),
        (bp, "logit_effective_prior", "OperatingPoint(p_target, c_miss, c_fa).plo"),
        (bp, "fast_minDCF", "min_dcf(tar, non, prior), or fast_minDCF of bosaris_py.matlab"),
        (bp, "read_score", "read_scores"),
        (bp, "LogisticRegression", "LinearCalibration.fit(tar, non)"),
        (matlab, "DetPlot", "Det_Plot or detplot"),
        (matlab, "IdMap", "Id_Map"),
        (matlab, "PlotWindow", "DETWindow"),
        (uncertainty, "MinDcf", "MinDCF"),
        (uncertainty, "bootstrap_score", "bootstrap_scores"),
    ],
)
def test_did_you_mean(package: object, name: str, meant: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(package, name)
    assert str(caught.value).endswith(f"has no attribute {name!r}; did you mean {meant}?")


def test_names_like_nothing_get_no_advice() -> None:
    for name in ("quux", "__wrapped__"):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'$"):
            getattr(bp, name)


def test_no_advice_for_a_name_that_exists() -> None:
    """Each entry is a name that nobody has, and begins with one that somebody has."""
    known = {name for module in (bp, uncertainty, matlab) for name in dir(module)}
    plain = {name.replace("_", "").lower() for name in dir(bp)}
    for name, told in _names._ELSEWHERE.items():
        assert name not in plain, name
        first = told.partition("(")[0].partition(",")[0].partition(" ")[0].split(".")
        assert first[0] in known, told
