"""Test files mirror the package, so that the tests of a module are found by its name."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS, PACKAGE = ROOT / "tests", ROOT / "bosaris_py"

# Folders of tests that are not about one module; CONTRIBUTING.md says what they hold.
CROSS_CUTTING = {"contracts", "examples", "fuzz", "ledger"}


def names_a_module(test: Path) -> bool:
    """Tell whether tests/layer/test_module.py or test_module_topic.py has its module or package."""
    modules = {path.stem.strip("_") for path in (PACKAGE / test.parent).glob("[!.]*")} - {"init"}
    name = test.stem.removeprefix("test_")
    return any(name == module or name.startswith(f"{module}_") for module in modules)


def test_every_file_names_its_module() -> None:
    tests = [path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")]
    lost = [str(path) for path in tests if not CROSS_CUTTING & {*path.parts}]
    lost = sorted(path for path in lost if not names_a_module(Path(path)))
    assert not lost, (
        "a test file is called test_<module>.py or test_<module>_<topic>.py, in the folder of the "
        f"module's layer, or stands in a folder {sorted(CROSS_CUTTING)}; rename with git mv"
    )


def test_what_a_wrong_name_would_be() -> None:
    assert names_a_module(Path("numerics/test_roc.py"))
    assert names_a_module(Path("numerics/test_metrics_eer.py"))
    assert names_a_module(Path("test_cli.py"))
    assert not names_a_module(Path("numerics/test_descent.py"))
    assert not names_a_module(Path("plots/test_roc.py"))
    assert not names_a_module(Path("no_layer/test_roc.py"))


def test_contributing_names_the_other_folders() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in CROSS_CUTTING:
        assert f"`{name}/`" in page
        assert [*TESTS.rglob(f"{name}/test_*.py")]
