"""What an installation brings, and what holds for the tree as a whole."""

import ast
import configparser
import email
import importlib
import importlib.util
import inspect
import operator
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import bosaris_py
from bosaris_py._version import __version__

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bosaris_py"
# Of the score sets that come with the package.
PARTS = ("dev", "eval")
TREE = ("bosaris_py", "tests", "docs", "examples", "benchmarks", ".ci")


def _python(code: str) -> str:
    """Run `code` in a fresh interpreter, warnings being errors, and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _requirement_name(requirement: str) -> str:
    matched = re.match(r"[\w.-]+", requirement)
    assert matched, requirement
    return matched.group().lower()


@cache
def _imports(path: Path) -> set[str]:
    """Return the top-level modules that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def _importable() -> Iterator[Path]:
    """Yield the modules that this installation can import: one needs scikit-learn."""
    has_sklearn = importlib.util.find_spec("sklearn") is not None
    yield from (p for p in PACKAGE.rglob("*.py") if has_sklearn or p != PACKAGE / "sklearn.py")


def _text_files() -> Iterator[Path]:
    """Yield the text files of the tree, without what tools wrote into it."""
    written = {"__pycache__", "_build", "generated"}
    # In a worktree .git is a file; .coverage is binary.
    tools = {".git", ".coverage"}
    candidates = [path for path in ROOT.iterdir() if path.is_file() and path.name not in tools]
    for folder in TREE:
        candidates += (path for path in (ROOT / folder).rglob("*") if path.is_file())
    for path in candidates:
        if written.isdisjoint(path.relative_to(ROOT).parts) and path.suffix in {
            *(".py", ".md", ".rst", ".cfg", ".toml", ".json", ".txt", ".html", ".css", "")
        }:
            yield path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel from a copy, so that the tree stays as it is."""
    source = tmp_path_factory.mktemp("source")
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(PACKAGE, source / "bosaris_py", ignore=shutil.ignore_patterns("__pycache__"))
    code = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = (source / "dist").glob("*.whl")
    return zipfile.ZipFile(path)


class TestWheel:
    @pytest.mark.slow
    def test_holds_every_module_and_the_type_marker_and_nothing_else(self, wheel):
        shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
        expected = {path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py")}
        names = ("look.css", "page.html", "sort.js")
        report = {f"bosaris_py/report/{name}" for name in names}
        sets = {f"{name}_{part}.h5" for name in ("asvspoof2019_la", "forensic") for part in PARTS}
        examples = {f"bosaris_py/examples/{name}" for name in sets | {"README.md"}}
        assert shipped == expected | report | examples | {"bosaris_py/py.typed"}

    def test_examples_load_where_only_it_is(self, wheel, tmp_path):
        """In an empty folder, from the files of the wheel and no others."""
        wheel.extractall(tmp_path / "site")
        (tmp_path / "empty").mkdir()
        code = (
            "import bosaris_py as b; print(b.__file__, b.load_example('forensic').eval.key.n_tar)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path / "empty",
            env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
            capture_output=True,
            text=True,
            check=True,
        )
        # 60 speakers, two recordings of each on either side.
        assert done.stdout.split() == [str(tmp_path / "site/bosaris_py/__init__.py"), "240"]

    def test_is_small(self, wheel):
        assert Path(wheel.filename).stat().st_size < 4_000_000

    def test_metadata(self, wheel):
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(wheel.read(name))
        assert metadata["Version"] == __version__
        assert metadata["Requires-Python"] == ">=3.11"
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        assert metadata.get_payload(decode=True).decode().strip() == readme.strip()

    def test_licence_is_included(self, wheel):
        assert any(Path(name).name == "LICENSE" for name in wheel.namelist())


class TestImport:
    def test_brings_no_heavy_packages_along(self):
        loaded = _python("import sys, bosaris_py; print(*sys.modules)").split()
        assert "bosaris_py" in loaded
        assert not {"h5py", "matplotlib", "numpy", "scipy", "pandas", "dask"} & set(loaded)

    @pytest.mark.slow
    def test_layers_are_reached_after_one_import(self):
        code = (
            "import bosaris_py\n"
            "print(bosaris_py.uncertainty.EER(), bosaris_py.plots.DETPlot, bosaris_py.matlab.rocch)"
        )
        assert "EER" in _python(code)

    def test_numbers_need_no_matplotlib(self):
        # None in sys.modules makes every import of matplotlib fail.
        code = (
            "import sys; sys.modules['matplotlib'] = None\n"
            "import bosaris_py\n"
            "print(bosaris_py.eer([1.0, 2.0], [-1.0, 0.0]))"
        )
        assert float(_python(code)) == 0.0  # separated classes

    @pytest.mark.slow
    def test_every_module_imports_alone(self):
        """No module relies on another having been imported before it."""
        modules = sorted(
            ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for path in _importable()
            if path.name != "__init__.py"
        )
        # Forgetting the package between two imports spares starting an interpreter for each.
        code = (
            "import importlib, sys\n"
            f"for name in {modules}:\n"
            "    for loaded in [m for m in sys.modules if m.split('.')[0] == 'bosaris_py']:\n"
            "        del sys.modules[loaded]\n"
            "    importlib.import_module(name)\n"
        )
        _python(code)


class TestPublicNames:
    def test_unique(self):  # that they are sorted is checked by ruff
        assert len(bosaris_py.__all__) == len(set(bosaris_py.__all__))

    @pytest.mark.parametrize("name", bosaris_py.__all__)
    def test_resolves_and_has_a_docstring(self, name):
        public = getattr(bosaris_py, name)
        if name != "__version__":
            assert (public.__doc__ or "").strip()

    @pytest.mark.parametrize("package", ["bosaris_py", "bosaris_py.matlab"])
    def test_type_checkers_see_what_is_imported_on_demand(self, package):
        module = importlib.import_module(package)
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        (block,) = [
            node
            for node in tree.body
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ]
        imports = [node for node in [*tree.body, *block.body] if isinstance(node, ast.ImportFrom)]
        seen = {(node.module, alias.asname) for node in imports for alias in node.names}
        seen = {(home, name) for home, name in seen if name}
        homes = {
            (home if home.startswith("bosaris_py") else f"{package}.{home}", name)
            for home, names in module._NAMES.items()
            for name in names.split()
        }
        modules = {(package, name) for name in getattr(module, "_MODULES", "").split()}
        assert seen - {("bosaris_py._version", "__version__")} == homes | modules

    @pytest.mark.parametrize(
        "package", ["bosaris_py", "bosaris_py.matlab", "bosaris_py.uncertainty", "bosaris_py.plots"]
    )
    def test_help_shows_signatures_as_they_are_written(self, package):
        """An array_like argument is one word, not the union of all that numpy takes for one."""
        module = importlib.import_module(package)
        for name in module.__all__:
            public = getattr(module, name)
            members = inspect.getmembers(public) if inspect.isclass(public) else []
            for part, value in [("", public), *members]:
                if callable(value) and not (part.startswith("_") and part != "__init__"):
                    try:
                        signature = str(inspect.signature(value))
                    except ValueError:  # what is written in C has none
                        continue
                    assert not re.search(r"numpy\.|Union|<function", signature), f"{name}.{part}"

    def test_dir_lists_them(self):
        assert set(bosaris_py.__all__) <= set(dir(bosaris_py))

    def test_unknown_name_is_an_attribute_error(self):
        with pytest.raises(AttributeError, match="no_such_name"):
            _ = bosaris_py.no_such_name

    def test_version(self):
        assert bosaris_py.__version__ == __version__

    def test_reference_lists_exactly_these(self):
        pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.rst")]
        listed = re.findall(r"^ {4}(\w+)$", "".join(pages), flags=re.MULTILINE)
        assert len(listed) == len(set(listed))
        # Plots and what is commonest of `uncertainty` stand with their layer.
        form = r"^ {4}(?:plots|uncertainty)\.(\w+)$"
        of_layers = set(re.findall(form, "".join(pages), flags=re.MULTILINE))
        public = set(bosaris_py.__all__) - {"__version__"}
        assert set(listed) | (of_layers & public) == public

    def test_each_list_of_the_reference_names_a_guide(self):
        for path in (ROOT / "docs" / "api").glob("*.rst"):
            page = path.read_text(encoding="utf-8")
            form = r"^Guide: :(?:doc:`/(.*)|ref:`(.*))`\n\n\.\. auto"
            guides = re.findall(form, page, flags=re.MULTILINE)
            assert len(guides) == page.count(".. auto"), path
            pages = [guide for guide, _ in guides if guide]
            assert [guide for guide in pages if not (ROOT / f"docs/{guide}.md").exists()] == []

    def test_each_name_of_the_reference_has_an_example_or_its_section_has(self):
        for path in (ROOT / "docs" / "api").glob("*.rst"):
            for section in path.read_text(encoding="utf-8").split("Guide: ")[1:]:
                names = re.findall(r"^ {4}([A-Za-z_][\w.]*)$", section, flags=re.MULTILINE)
                documented = [operator.attrgetter(name)(bosaris_py).__doc__ for name in names]
                assert "\n>>> " in section or all(">>>" in text for text in documented), names

    def test_all_of_every_module_resolves(self, request):
        # The command takes over Ctrl-C where it is imported: tests that interrupt would end all.
        heard = signal.getsignal(signal.SIGINT)
        request.addfinalizer(lambda: signal.signal(signal.SIGINT, heard))
        for path in _importable():
            parts = path.relative_to(ROOT).with_suffix("").parts
            module = importlib.import_module(".".join(p for p in parts if p != "__init__"))
            missing = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
            assert not missing, f"{path}: {missing}"
        # The command's module lets Ctrl-C end the process, and other tests send it.
        signal.signal(signal.SIGINT, signal.default_int_handler)


class TestTree:
    def test_requirements_are_what_the_package_imports(self):
        config = configparser.ConfigParser()
        config.read(ROOT / "setup.cfg", encoding="utf-8")
        lines = config["options"]["install_requires"].split()
        required = {_requirement_name(line) for line in lines}
        # Imported by the one module that is for it.
        optional = {"sklearn"}
        imported = {name for path in PACKAGE.rglob("*.py") for name in _imports(path)}
        assert required | optional == imported - set(sys.stdlib_module_names) - {"bosaris_py"}

    def test_no_pickle(self):
        """Reading a file of unknown origin must never run code."""
        for path in PACKAGE.rglob("*.py"):
            assert not {"pickle", "shelve", "marshal", "joblib"} & _imports(path), path
            assert "allow_pickle=True" not in path.read_text(encoding="utf-8"), path

    def test_no_folder_of_a_developer_s_machine(self):
        """Examples and tests run anywhere, so nothing names somebody's folders."""
        somebodys = re.compile(r"(?<![\w.$}])/(?:home|root|Users|work|tmp)/\w")
        for path in _text_files():
            if path.samefile(__file__):  # the pattern finds itself
                continue
            found = somebodys.search(path.read_text(encoding="utf-8"))
            assert found is None, f"{path}: {found}"

    def test_no_large_files(self):
        for folder in TREE:
            for path in (ROOT / folder).rglob("*"):
                if path.is_file() and not {"_build", "__pycache__", "generated"} & set(path.parts):
                    assert path.stat().st_size < 1_500_000, path


class TestOtherDescriptions:
    """CITATION.cff and the conda recipe say what setup.cfg says."""

    def test_the_citation_names_the_version(self):
        citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
        assert f"\nversion: {__version__}\n" in citation

    def test_the_conda_recipe_has_the_same_requirements(self):
        setup = configparser.ConfigParser()
        setup.read(ROOT / "setup.cfg", encoding="utf-8")
        expected = set(setup["options"]["install_requires"].split())
        recipe = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8")
        run = recipe.split("  run:\n")[1].split("\n\n")[0]
        found = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
        expected.add(f"python{setup['options']['python_requires']}")
        assert {name.replace("matplotlib-base", "matplotlib") for name in found} == expected

    def test_the_pins_are_what_the_requirements_allow(self):
        """constraints.txt has a version of each."""
        setup = configparser.ConfigParser()
        setup.read(ROOT / "setup.cfg", encoding="utf-8")
        wanted = [setup["options"]["install_requires"]]
        wanted += [setup["options.extras_require"][extra] for extra in ("test", "docs", "dev")]
        pin = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
        pins = pin.findall((ROOT / "constraints.txt").read_text(encoding="utf-8"))
        for line in "\n".join(wanted).split("\n"):
            if line and not line.startswith("#"):
                requirement = Requirement(line)
                versions = [version for name, version in pins if name == requirement.name.lower()]
                assert versions, line
                assert all(requirement.specifier.contains(version) for version in versions), line


class TestFreshMachine:
    """What `make test` collects and installs needs no other extra."""

    def test_no_module_of_the_docs_is_collected(self):
        setup = configparser.ConfigParser()
        setup.read(ROOT / "setup.cfg", encoding="utf-8")
        named = setup["tool:pytest"]["testpaths"].split()
        collected = [path for pattern in named for path in ROOT.glob(pattern)]
        assert {"tests", "bosaris_py"} <= {path.name for path in collected}
        files = {path for path in collected if path.is_file()}
        assert files >= set((ROOT / "docs").glob("*.md"))
        assert {path.suffix for path in files} == {".md", ".rst"}
        assert not {"docs", "examples", "benchmarks"} & {path.name for path in collected}

    @pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
    def test_the_lock_brings_nothing(self):
        command = ["make", "--dry-run", "--always-make", "LOCKED=1", ".venv/installed/test"]
        # `make VENV=.venv-test test` hands its variable on to the makes below it.
        command.append("VENV=.venv")
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        installs = [line for line in done.stdout.splitlines() if "pip install" in line]
        assert len(installs) == 1
        words = installs[0].split()
        assert words[-4:] == ["--constraint", "constraints.txt", "--editable", "'.[test]'"]

    def test_ci_tests_first_in_an_environment_of_its_own(self):
        lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
        makes = [line for line in lines if line.startswith("make ")]
        assert makes == ["make VENV=.venv-test test", "make check", "make docs", "make test-all"]
        assert lines.index("rm -rf .venv-test") < lines.index(makes[0])


@pytest.mark.parametrize(
    "layer",
    ["calibration", "evaluation", "fusion", "numerics", "plots", "report", "trials", "uncertainty"],
)
def test_completion_of_a_layer_offers_its_public_names_only(layer: str) -> None:
    module = importlib.import_module(f"bosaris_py.{layer}")
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))
