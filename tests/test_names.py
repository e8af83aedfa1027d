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


IDS = ["a", "b"]
KEY = bp.Key(IDS, ["x", "y"], [[True, False], [False, True]], [[False, True], [True, False]])
OBJECTS = {
    "key": KEY,
    "scores": bp.Scores([[1.0, -1.0], [0.0, 2.0]], IDS, ["x", "y"]),
    "map": bp.LinearCalibration.from_line(2.0, 1.0),
    "results": bp.Results([1.0, 2.0], [0.0, 1.5]),
    "evaluation": bp.evaluate({"A": ([1.0, 2.0], [0.0, 1.5])}),
    "frame": bp.TrialFrame(KEY, {}, bp.TrialMetadata(KEY)),
}


@pytest.mark.parametrize(
    ("of", "name", "told"),
    [
        ("key", "labels", "here it is trial_labels()"),
        ("key", "to_pandas", "here it is to_frame()"),
        ("scores", "values", "here it is scoremat, or get_scores(key) for the trials of a key"),
        ("map", "slope", "here it is scale"),
        ("map", "predict_proba", "here it is posterior(map.apply(scores), prior)"),
        ("results", "summary", "here it is metrics(prior)"),
        ("results", "minDCF", "did you mean min_dcf?"),
        ("results", "plot_det", "here it is plot_det, plot_bayes or another plot, of {name: "),
        ("evaluation", "save", "here it is report(path), to_csv(path) and the like"),
        ("frame", "labels", "here it is key"),
    ],
)
def test_first_guesses_on_objects(of: str, name: str, told: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(OBJECTS[of], name)
    assert f"has no attribute {name!r}; {told}" in str(caught.value)


def test_remarks_name_what_the_object_has() -> None:
    """No remark stands for a name that no object has."""
    known = {name for thing in OBJECTS.values() for name in dir(thing)}
    known |= {*dir(bp.IdMap), *dir(matlab.Det_Plot), *dir(bp.SegmentQuality), "ids"}
    for name, remarks in _names._MEMBERS.items():
        assert known.issuperset(remarks), name


def test_arguments_of_other_versions() -> None:
    """The costs of 0.2 were those of the uncertainty papers: NISTIR 7722, equation (6)."""
    with pytest.raises(TypeError, match=r"p_target=0\.01, c_miss=10, c_fa=1\)\.$"):
        uncertainty.DCF(2.0)
    with pytest.raises(TypeError, match=r"LinearCalibration\.from_line\(scale, offset\)\.$"):
        bp.LinearCalibration(scale=2.0, offset=1.0)


def test_plots_and_tests_are_at_the_top_level() -> None:
    plots = {name for name in bp.plots.__all__ if name.startswith("plot_")}
    common = {"bootstrap_scores", "compare_systems", "speaker_interval"}
    assert plots | common <= {*bp.__all__}
    assert bp.plot_tippett is bp.plots.plot_tippett
    assert bp.compare_systems is uncertainty.compare_systems


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
