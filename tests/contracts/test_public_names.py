"""Public names: each is there, is documented, and is listed in the reference."""

import ast
import importlib
import inspect
import operator
import re
from pathlib import Path

import pytest

import bosaris_py
from bosaris_py import __version__

ROOT = Path(bosaris_py.__file__).resolve().parents[1]
PAGES = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.rst")]
LAYERS = "calibration evaluation fusion numerics plots trials uncertainty"


def test_each_has_a_docstring_and_a_readable_signature() -> None:
    """An array_like argument is one word, not the union of all that numpy takes for one."""
    for package in ("bosaris_py", "bosaris_py.matlab", "bosaris_py.uncertainty"):
        module = importlib.import_module(package)
        assert len(module.__all__) == len(set(module.__all__)), package
        for name in set(module.__all__) - {"__version__"}:
            public = getattr(module, name)
            assert (public.__doc__ or "").strip(), name
            members = inspect.getmembers(public) if inspect.isclass(public) else []
            for part, value in [("", public), *members]:
                if callable(value) and not (part.startswith("_") and part != "__init__"):
                    try:
                        signature = str(inspect.signature(value))
                    except ValueError:  # what is written in C has none
                        continue
                    assert not re.search(r"numpy\.|Union|<function", signature), f"{name}.{part}"
    assert set(bosaris_py.__all__) <= set(dir(bosaris_py))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = bosaris_py.no_such_name
    assert bosaris_py.__version__ == __version__


def test_errors_and_warnings_are_eleven() -> None:
    classes = inspect.getmembers(bosaris_py.errors, inspect.isclass)
    found = [name for name, one in classes if issubclass(one, Exception)]
    errors = "BosarisError InvalidInputError TrialMismatchError FileFormatError FitError "
    warned = "Bosaris MissingTrials FewErrors FewSpeakers SuspectScores Convergence"
    assert sorted(found) == sorted([*errors.split(), *(f"{n}Warning" for n in warned.split())])


def test_type_checkers_see_what_is_imported_on_demand() -> None:
    package = "bosaris_py"
    module = importlib.import_module(package)
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    (block,) = [node for node in blocks if ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for node in [*tree.body, *block.body] if isinstance(node, ast.ImportFrom)]
    seen = {(node.module, alias.asname) for node in imports for alias in node.names if alias.asname}
    for node in imports:
        if [alias.name for alias in node.names] == ["*"]:
            seen |= {(node.module, name) for name in importlib.import_module(node.module).__all__}
    homes = {(home, name) for home, names in module._NAMES.items() for name in names.split()}
    modules = {(package, name) for name in module._MODULES.split()}
    assert seen == homes | modules


@pytest.mark.parametrize("layer", LAYERS.split())
def test_completion_of_a_layer_offers_its_public_names_only(layer: str) -> None:
    module = importlib.import_module(f"bosaris_py.{layer}")
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))


def test_the_reference_lists_exactly_these() -> None:
    listed = re.findall(r"^ {4}(\w+)$", "".join(PAGES), flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    # Plots and what is commonest of `uncertainty` stand with their layer.
    form = r"^ {4}(?:plots|uncertainty)\.(\w+)$"
    of_layers = set(re.findall(form, "".join(PAGES), flags=re.MULTILINE))
    public = set(bosaris_py.__all__) - {"__version__"}
    assert set(listed) | (of_layers & public) == public


def test_each_list_of_the_reference_has_a_guide_and_each_name_an_example() -> None:
    for page in PAGES:
        guides = re.findall(r"^Guide: :doc:`/(.*)`\n\n\.\. auto", page, flags=re.MULTILINE)
        assert len(guides) == page.count(".. auto"), page
        assert [name for name in guides if not (ROOT / f"docs/{name}.md").exists()] == []
        names = re.findall(r"^ {4}([A-Za-z_][\w.]*)$", page, flags=re.MULTILINE)
        documented = {name: operator.attrgetter(name)(bosaris_py).__doc__ for name in names}
        assert [name for name, text in documented.items() if ">>>" not in text] == []
