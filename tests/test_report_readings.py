"""Numbers of a report's script: what is on the page is what the curves are."""

import html
import re

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.report import readings


@pytest.fixture(scope="module")
def results() -> bp.Results:
    rng = np.random.default_rng(0)
    return bp.Results(rng.normal(2, 2, 300), rng.normal(-2, 2, 5000))


def triples(text: str) -> list[tuple[float, ...]]:
    values = [float(part) for part in text.split()]
    return [tuple(values[i : i + 3]) for i in range(0, len(values), 3)]


def rounded(values: list[float]) -> tuple[float, ...]:
    return tuple(float(f"{value:.3g}") for value in values)


def test_numbers_are_short() -> None:
    values = [0.0, -0.0, 0.5, -0.25, 1.0, 10.0, 3e-5, -2.5e-7, 1234.5678]
    assert readings.numbers(values) == "0 0 .5 -.25 1 10 3e-5 -2.5e-7 1235"


def test_points_of_det_curves_are_vertices(results: bp.Results) -> None:
    roc = results.roc
    vertices = {
        rounded(list(point))
        for point in zip(roc.pfa.tolist(), roc.pmiss.tolist(), roc.thresholds.tolist(), strict=True)
    }
    points = triples(readings._det(results))
    assert 40 <= len(points) <= 60
    assert set(points) <= vertices
    # Rates and thresholds are in the order of the curve.
    assert points == sorted(points, key=lambda point: (-point[0], point[1]))


def test_costs_are_those_of_single_calls(results: bp.Results) -> None:
    log_odds = np.array([-4.0, 0.0, 1.5])
    for plo, point in zip(log_odds, triples(readings._bayes(results, log_odds)), strict=True):
        pmiss, pfa = results.error_rates_at(-plo)
        least = results.min_dcf(bp.sigmoid(plo), normalize=True)
        assert point == rounded([float(pmiss), float(pfa), float(least)])


def test_a_curve_without_a_finite_threshold_has_no_points() -> None:
    assert readings._det(bp.Results([np.inf], [-np.inf])) == ""


@pytest.mark.parametrize("points", [[], [0.01, 0.5], [bp.OperatingPoint(0.01, 10.0, 1.0)]])
def test_the_slider_begins_at_the_first_point(results: bp.Results, points: list[object]) -> None:
    text = readings.controls({"A": results}, points)
    at, log_odds = re.findall(r'value="(\d+)" data-plo="([^"]*)"', text)[0]
    # logit(0.01) = -4.59512; with a cost of 10 it is log(10 / 99) = -2.29253.
    first = {0: 0.0, 1: -2.29253, 2: -4.59512}[len(points)]
    assert float(log_odds.split()[int(at)]) == first


def test_controls_wait_for_the_script_and_names_are_escaped(results: bp.Results) -> None:
    name = '<script>alert("1")</script>'
    text = readings.controls({name: results, "B": results}, [])
    assert re.findall(r'<div id="(\w+)"[^>]* hidden>', text) == ["prior", "readings"]
    assert html.escape(name) in text
    assert "<script" not in text
    assert re.findall(r'<tr class="(s\d)" data-det="[-\d.e ]*" data-bayes="[-\d.e ]*">', text) == [
        "s0",
        "s1",
    ]
