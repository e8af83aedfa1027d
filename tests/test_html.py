"""What notebooks show of objects: the repr, drawings that say what the numbers say, no markup."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py._html import mask_drawing, scale_drawing, spread_of
from tests.test_tables import HOSTILE

RNG = np.random.default_rng(6)
TAR, NON = RNG.normal(2, 1, 60), RNG.normal(-2, 1, 90)
SAME = np.eye(30, 100, dtype=bool)
IDS = [f"m{i}" for i in range(30)], [f"s{i}" for i in range(100)]


def shown(value: Any) -> ET.Element:
    """Return the HTML of an object, which must be well-formed XML."""
    text = value._repr_html_()
    assert "<script" not in text
    return ET.fromstring(text.replace("<br>", "<br/>"))


def text_of(element: ET.Element) -> str:
    return "\n".join(element.find("p").itertext())  # type: ignore[union-attr]


def case() -> bp.CaseLLR:
    names = [f"p{i}" for i in range(15)]
    same = np.eye(15, dtype=bool)
    scores = bp.Scores(4.0 * same + np.random.default_rng(1).normal(size=(15, 15)), names, names)
    words: Any = {"propositions": ("one", "two"), "reference": "15 people"}
    return bp.case_llr(3.0, scores, bp.Key(names, names, same, ~same), **words)


def named(*names: str) -> bp.LinearFusion:
    fusion = bp.LinearFusion.fit([TAR, TAR**2], [NON, NON**2], ridge="weak")
    return attrs.evolve(fusion, weights=[1.5, -0.25], offset=0.5, system_names=names)


SHOWN: dict[str, Any] = {
    "Key": lambda: bp.Key(*IDS, SAME, ~SAME),
    "Ndx": lambda: bp.Ndx(*IDS, SAME),
    "Scores": lambda: bp.Scores(np.zeros((30, 100)), *IDS),
    "LinearCalibration": lambda: bp.LinearCalibration.fit(TAR, NON, ridge="weak"),
    "PAVCalibration": lambda: bp.PAVCalibration.fit(TAR, NON),
    "BoundedCalibration": lambda: bp.BoundedCalibration.fit(TAR, NON),
    "LinearFusion": lambda: bp.LinearFusion.fit([TAR, TAR**2], [NON, NON**2], ridge="weak"),
    "CaseLLR": case,
}


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("kind", SHOWN)
def test_the_repr_is_shown(kind: str) -> None:
    value = SHOWN[kind]()
    assert text_of(shown(value)) == repr(value)


def test_weights_of_a_fusion_have_their_names() -> None:
    fusion = named("first", HOSTILE["tag"])
    cells = [[*row.itertext()] for row in shown(fusion).iter("tr")]
    assert cells == [["first", "1.5"], [HOSTILE["tag"], "-0.25"], ["offset", "0.5"]]


def test_figures_of_results_and_of_a_validation() -> None:
    results = bp.Results([1.0, 3.0, 4.0], [-2.0, 0.5, 2.0])
    cells = dict([*row.itertext()] for row in shown(results).iter("tr"))
    assert (cells["targets"], cells["AUC"]) == ("3", f"{8 / 9:.4g}")
    validation = bp.evaluation.validate(results)
    found = [" ".join(row.itertext()).split() for row in shown(validation).iter("tr")]
    # The lines of the text between the first, which has the counts, and the note.
    _, *lines, note = repr(validation).splitlines()
    assert found == [line.split() for line in lines]
    assert note in "".join(shown(validation).itertext())


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_names_are_escaped(name: str) -> None:
    fusion = named(name, "b")
    found = shown(fusion)
    assert [cell.tag for cell in found.iter("tr")] == ["tr"] * 3
    assert len(fusion._repr_html_()) < 3000


def test_the_mask_has_all_cells() -> None:
    """The areas of both paths are the counts of cells, of 16 pixels each."""
    cells = np.array([[1, 1, -1, 0], [0, -1, -1, 1]], dtype=np.int8)
    root = ET.fromstring(mask_drawing(cells))
    paths = [part.attrib["d"] for part in root if part.tag.endswith("path")]
    areas = [sum(int(wide) for wide in re.findall(r"h(\d+)v", path)) for path in paths]
    assert [4 * area // 16 for area in areas] == [3, 3]
    assert paths[0].startswith("M0 0h8v4")
    assert spread_of(5, 9).tolist() == [0, 1, 2, 3, 4]
    assert spread_of(9, 3).tolist() == [0, 4, 8]
    assert spread_of(0, 3).tolist() == []


def test_an_empty_key_has_a_drawing() -> None:
    nothing = np.zeros((0, 0), dtype=bool)
    assert "0 targets" in text_of(shown(bp.Key([], [], nothing, nothing)))


def test_the_scale_is_linear() -> None:
    root = ET.fromstring(scale_drawing(3.0, 0.0, 99.0, 6.0))
    (circle,) = (part for part in root if part.tag.endswith("circle"))
    assert circle.attrib["cx"] == "240.0"
    assert "M160.0 18H320.0" in ET.tostring(root, encoding="unicode")
