"""What type checkers see of the package: no false error, mistakes found, no Any in users' hands."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TYPED = Path(__file__).parent / "typed"

# Public calls by what mypy reveals of them; `tar`, `scores` and the rest are those of idioms.py.
CALLS = """\
bp.eer(tar, non)
bp.auc(tar, non)
bp.prbep(tar, non)
bp.cllr(tar, non)
bp.min_cllr(tar, non)
bp.min_dcf(tar, non, 0.05)
bp.min_dcf(tar, non, [0.05, 0.1])
bp.min_dcf(tar, non, bp.OperatingPoint(0.05))
bp.act_dcf(tar, non, 0.05)
bp.act_dcf(tar, non, np.array([0.1]))
bp.norm_min_dcf(tar, non, 0.05)
bp.norm_act_dcf(tar, non, 0.05)
bp.effective_prior(0.1, 1, 1)
bp.logit(0.5)
bp.sigmoid(np.array([0.5]))
bp.probit(np.float32(0.5))
bp.posterior(1.0, 0.5)
bp.posterior([1.0, 2.0], 0.5)
bp.optimal_llrs(tar, non)
bp.error_rates_at(tar, non, 0.5)
bp.error_rates_at(tar, non, [0.5, 1.0])
bp.split_by_labels([True, False], [1.0, 2.0])
bp.a_dcf(tar, non, non, "ASVspoof5")
bp.llr_bounds(tar, non)
results.eer
results.min_dcf(0.05)
results.min_dcf([0.05, 0.1])
results.act_dcf(0.05, normalize=True)
results.norm_min_dcf(bp.OperatingPoint(0.05))
results.rocch.min_dcf(0.05)
results.error_rates_at(0.5)
results.threshold_at(pfa=0.1)
results.min_dcf_threshold(0.05)
results.metrics(0.05)
results.roc.pmiss
bp.validate(results)
bp.primary_cost(xvector, test, "SRE16")
bp.case_llr(3.0, xvector, test).low
bp.transfer(dev=(xvector, test.key), test=(xvector, test.key), point=bp.OperatingPoint(0.5))
table.table
table.compare()
table.to_markdown()
table.det()
table.bayes()
table.plot("forest")
bp.plot_det({"a": results})
calibration.apply(tar)
calibration.apply(xvector)
calibration.apply(3.0)
bp.PAVCalibration.fit(tar, non).apply([1.0])
fusion.apply(test.scores, test.key)
fusion.apply([tar, tar])
bp.cross_fit(bp.LinearFusion, llrs, test).scores
bp.Scores.read("x.h5")
bp.read_scores("x.h5")
bp.read_key("x.h5")
bp.read_model("x.json")
frame.scores
frame.metadata
xvector.align_with_ndx(test.key)
xvector.filter(["a"], ["b"], keep=True)
test.key.tar
test.key.to_ndx()
test.metadata.factor("gender")
test.trials.factor("attack")
unc.bootstrap(tar, non, unc.EER())
unc.bootstrap_scores(xvector, test, unc.EER())
unc.bootstrap_scores(xvector, test, [unc.EER()])
unc.paired_bootstrap(xvector, ecapa, test, unc.EER())
unc.compare_systems(llrs, test, unc.EER())
unc.speaker_interval(xvector, test, unc.EER())
unc.bootstrap_table(llrs, test, unc.EER())
""".splitlines()

# An array may have any shape, and scores any of the types of floating-point numbers.
_OF_ARRAYS = re.compile(r"tuple\[Any, \.\.\.\]|(?:numpy\.)?floating\[Any\]")


def by_mypy(folder: Path) -> list[tuple[str, int, str, str]]:
    """What mypy says, by file and line."""
    pytest.importorskip("mypy")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file", "setup.cfg"),
            *(str(folder / name) for name in ("asked.py", "mistakes.py")),
        ],
        **{"cwd": ROOT, "capture_output": True, "text": True, "timeout": 600},
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )
    lines = re.findall(r"(\w+)\.py:(\d+): (error|note): (.*)", run.stdout)
    assert lines, run.stdout + run.stderr
    return [(name, int(line), kind, text) for name, line, kind, text in lines]


def by_pyright(folder: Path) -> list[tuple[str, int, str, str]]:
    """What pyright says, with the rule of an error at its end, as mypy has it."""
    program = shutil.which("pyright")
    if program is None:
        pytest.skip("pyright is not installed")
    config = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    command = [program, "--outputjson", "--pythonpath", sys.executable, "asked.py", "mistakes.py"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    said = json.loads(run.stdout)["generalDiagnostics"]
    assert said
    return [
        (
            Path(each["file"]).stem,
            each["range"]["start"]["line"] + 1,
            "error" if each["severity"] == "error" else "note",
            each["message"].replace("Type of", "Revealed type of"),
        )
        for each in said
    ]


@pytest.fixture(scope="module", params=[by_mypy, by_pyright], ids=["mypy", "pyright"])
def found(request, tmp_path_factory):
    """What a checker says of the idioms, the mistakes, and of each of CALLS."""
    folder = tmp_path_factory.mktemp("typed")
    idioms = (TYPED / "idioms.py").read_text()
    asked = "\n".join(f"reveal_type({call})" for call in CALLS)
    (folder / "asked.py").write_text(f"{idioms}{asked}\n")
    (folder / "mistakes.py").write_text((TYPED / "mistakes.py").read_text())
    return request.param(folder)


@pytest.mark.slow
def test_no_false_error_on_documented_idioms(found):
    assert [x for x in found if x[0] == "asked" and x[2] == "error"] == []


@pytest.mark.slow
def test_mistakes_are_found(found):
    lines = (TYPED / "mistakes.py").read_text().splitlines()
    planted = {i: re.search(r"# ([a-z-]+):", text) for i, text in enumerate(lines, 1)}
    expected = {i: code[1] for i, code in planted.items() if code}
    codes = [
        (line, re.search(r"\[([a-z-]+)\]$", text))
        for name, line, kind, text in found
        if name == "mistakes" and kind == "error"
    ]
    assert len(expected) >= 5
    assert {line for name, line, kind, _ in found if (name, kind) == ("mistakes", "error")} == {
        *expected
    }
    if not codes[0][1]:  # pyright has codes of its own
        return
    assert {line: code[1] for line, code in codes if code} == expected


@pytest.mark.slow
def test_any_never_reaches_a_variable(found):
    revealed = [text for name, _, _, text in found if name == "asked" and "Revealed type" in text]
    assert len(revealed) == len(CALLS) >= 60
    with_any = {
        call: text
        for call, text in zip(CALLS, revealed, strict=True)
        if re.search(r"\bAny\b|\bUnknown\b", _OF_ARRAYS.sub("", text))
    }
    assert with_any == {}


def test_an_editable_install_is_a_path():
    """Type checkers do not run the import hooks that setuptools writes by default."""
    lines = (ROOT / "setup.cfg").read_text()
    assert re.search(r"^\[editable_wheel\]\nmode = compat$", lines, re.MULTILINE)
