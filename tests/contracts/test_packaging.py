"""What an installation brings, and what holds for the tree as a whole."""

import ast
import configparser
import email
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from bosaris_py import __version__

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bosaris_py"
MODULES = sorted(PACKAGE.rglob("*.py"))
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")


def python(code: str, **options: object) -> list[str]:
    """Run code in a fresh interpreter, warnings being errors; return the words it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    given = {"cwd": ROOT, "capture_output": True, "text": True, "check": False} | options
    done = subprocess.run(command, **given)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def requirements(*extras: str) -> list[Requirement]:
    """Return what an installation with some extras requires."""
    texts = [SETUP["options"]["install_requires"]]
    texts += [SETUP["options.extras_require"][extra] for extra in extras]
    lines = "\n".join(texts).split("\n")
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


@cache
def imports() -> set[str]:
    """Return the top-level modules that the package imports, inside functions too."""
    found = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    return found


@pytest.mark.slow
def test_wheel(tmp_path: Path) -> None:
    """It holds each module and the score sets, and nothing else, and works where only it is."""
    source, site = tmp_path / "source", tmp_path / "site"
    shutil.copytree(PACKAGE, source / "bosaris_py", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, check=True)
    (path,) = (source / "dist").glob("*.whl")
    assert path.stat().st_size < 4_000_000
    wheel = zipfile.ZipFile(path)
    shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert {f"{path.relative_to(ROOT)}" for path in MODULES} <= shipped
    others = {Path(name).name for name in shipped if not name.endswith(".py")}
    sets = {f"{n}_{part}.h5" for n in ("asvspoof2019_la", "forensic") for part in ("dev", "eval")}
    assert sets | {"README.md", "py.typed", "look.css", "page.html"} <= others
    suffixes = {".h5", ".md", ".typed", ".css", ".html", ".js", ".toml"}
    assert {Path(name).suffix for name in others} <= suffixes
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))
    assert metadata["Version"] == __version__
    assert metadata["Requires-Python"] == ">=3.11"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata.get_payload(decode=True).decode().strip() == readme.strip()  # type: ignore[union-attr]
    wheel.extractall(site)
    code = "import bosaris_py as b; print(b.__file__, b.load_example('forensic').eval.key.n_tar)"
    found = python(code, cwd=source / "dist", env={**os.environ, "PYTHONPATH": str(site)})
    # 60 speakers, two recordings of each on either side.
    assert found == [str(site / "bosaris_py/__init__.py"), "240"]


# What an import brings


def test_an_import_brings_no_heavy_packages_along() -> None:
    loaded = python("import sys, bosaris_py; print(*sys.modules)")
    assert "bosaris_py" in loaded
    assert not {"h5py", "matplotlib", "numpy", "scipy", "pandas", "dask"} & set(loaded)
    # It takes as long as all else that a first table needs.
    table = "b.evaluate({'a': ([1.0, 3.0, 4.0, 2.5, 3.5], [0.0, 2.0, -1.0, 1.5, 0.5])}, prior=0.5)"
    loaded = python(f"import sys, bosaris_py as b; {table}; print(*sys.modules)")
    assert "scipy.special" not in loaded


@pytest.mark.slow
def test_numbers_need_no_matplotlib() -> None:
    # None in sys.modules makes every import of matplotlib fail.
    for package in ("bosaris_py", "bosaris_py.matlab"):
        code = f"import sys; sys.modules['matplotlib'] = None\nimport {package} as b\n"
        assert python(code + "print(b.eer([1.0, 2.0], [-1.0, 0.0]), b.__all__ and 1)") == [
            "0.0",
            "1",
        ]


@pytest.mark.slow
def test_every_module_imports_alone_and_has_what_it_lists() -> None:
    """No module relies on another having been imported before it."""
    parts = [path.relative_to(ROOT).with_suffix("").parts for path in MODULES]
    names = [".".join(part for part in each if part != "__init__") for each in parts]
    if importlib.util.find_spec("sklearn") is None:
        names.remove("bosaris_py.sklearn")
    # Forgetting the package between two imports spares starting an interpreter for each.
    code = f"""import importlib, sys
for name in {names}:
    for loaded in [m for m in sys.modules if m.split('.')[0] == 'bosaris_py']:
        del sys.modules[loaded]
    module = importlib.import_module(name)
    assert all(hasattr(module, public) for public in getattr(module, '__all__', ()))
"""
    assert python(code) == []


# The tree


def test_requirements_are_what_the_package_imports() -> None:
    # Imported by the one module that is for it.
    required = {requirement.name for requirement in requirements()} | {"sklearn"}
    assert required == imports() - set(sys.stdlib_module_names) - {"bosaris_py"}
    # Reading a file of unknown origin must never run code.
    assert not {"pickle", "shelve", "marshal", "joblib"} & imports()
    assert not [p for p in MODULES if "allow_pickle=True" in p.read_text(encoding="utf-8")]


def test_no_folder_of_a_developer_s_machine_and_no_large_file() -> None:
    """Examples and tests run anywhere, so nothing names somebody's folders."""
    somebodys = re.compile(r"(?<![\w.$}])/(?:home|root|Users|work|tmp)/\w")
    written = {"__pycache__", "_build", "_drawn", "generated"}
    texts = {".py", ".md", ".rst", ".cfg", ".toml", ".json", ".txt", ".html", ".css"}
    folders = ("bosaris_py", "tests", "docs", "examples", "benchmarks", ".ci")
    paths = [*ROOT.iterdir(), *(path for name in folders for path in (ROOT / name).rglob("*"))]
    for path in paths:
        if path.is_file() and written.isdisjoint(path.relative_to(ROOT).parts):
            assert path.stat().st_size < 1_500_000, path
            # The pattern finds itself.
            if (path.suffix in texts or path.parent.name == ".ci") and path != Path(__file__):
                assert somebodys.search(path.read_text(encoding="utf-8")) is None, path


def test_other_descriptions_say_what_the_setup_says() -> None:
    """The citation, the conda recipe, and the pins."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    recipe = (ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\n\n")[0].replace("matplotlib-base", "matplotlib")
    found = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
    python_requires = f"python{SETUP['options']['python_requires']}"
    assert found == {str(each) for each in requirements()} | {python_requires}
    lock = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([\w.-]+)==([\w.]+)", lock, re.MULTILINE))
    for each in requirements("test", "docs", "dev"):
        assert each.specifier.contains(pins[each.name.lower()]), each


def test_make_test_needs_no_other_extra() -> None:
    """No module of the docs is collected; the lock brings nothing; CI tests in a fresh place."""
    named = SETUP["tool:pytest"]["testpaths"].split()
    collected = {path for pattern in named for path in ROOT.glob(pattern)}
    assert {"tests", "bosaris_py"} == {path.name for path in collected if path.is_dir()}
    assert {path.suffix for path in collected if path.is_file()} == {".md", ".rst"}
    assert collected >= set((ROOT / "docs").glob("*.md"))
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    makes = [line for line in lines if line.startswith("make ")]
    assert makes == ["make VENV=.venv-test test", "make check", "make docs", "make test-all"]
    assert lines.index("rm -rf .venv-test") < lines.index(makes[0])
    if shutil.which("make"):
        # `make VENV=.venv-test test` hands its variable on to the makes below it.
        command = ["make", "--dry-run", "--always-make", "LOCKED=1", ".venv/installed/test"]
        command.append("VENV=.venv")
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        (install,) = [line for line in done.stdout.splitlines() if "pip install" in line]
        wanted = ["--constraint", "constraints.txt", "--editable", "'.[test]'"]
        assert install.split()[-4:] == wanted
