"""Completion: the scripts offer what the parser takes, and nothing else."""

import shlex
import shutil
import subprocess

import pytest

from bosaris_py import cli
from bosaris_py.cli.options import OPTIONS
from bosaris_py.cli.parser import COMMANDS


@pytest.fixture
def complete(capsys: pytest.CaptureFixture[str]):
    """Return what bash offers for a line whose last word is incomplete."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    assert cli.main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    def offered(line: str) -> set[str]:
        words = line.split(" ")
        ask = (
            f"COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; "
            '_bosaris; printf "%s\\n" "${COMPREPLY[@]}"; complete -p bosaris'
        )
        *found, setting = subprocess.run(
            ["bash", "--norc", "-uc", f"{script}\n{ask}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        assert "-F _bosaris bosaris" in setting
        return set(found) - {""}

    return offered


def test_commands(complete) -> None:
    assert complete("bosaris ") == {*COMMANDS, "--help", "--version"}
    assert complete("bosaris ca") == {"calibrate", "case"}
    assert complete("bosaris x") == set()


def test_options_are_those_of_the_command(complete) -> None:
    _, options = COMMANDS["det"]
    flags = {word.rstrip("!") for word in options.split() if word.startswith("--")}
    assert complete("bosaris det a.h5 -") == {*flags, "-o", "-h", "--help"}
    assert complete("bosaris compare a.h5 --sta") == {"--statistic"}


def test_values_are_the_choices(complete) -> None:
    assert complete("bosaris compare --statistic ") == set(OPTIONS["--statistic"]["choices"])
    assert complete("bosaris list ") == {"plans", "formats"}
    assert complete("bosaris completion z") == {"zsh"}
    # Names of files are the shell's own affair.
    assert complete("bosaris det --key ") == complete("bosaris det a") == set()


def test_zsh_reads_the_script_of_bash(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for shell in ("bash", "zsh"):
        assert cli.main(["completion", shell]) == 0
        texts.append(capsys.readouterr().out)
    first, rest = texts[1].split("\n", 1)
    assert "bashcompinit" in first
    assert rest == texts[0]


def test_fish_has_each_option_with_its_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "fish"]) == 0
    lines = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    for name, (_, options) in COMMANDS.items():
        where = [line for line in lines if f"__fish_seen_subcommand_from {name}" in line]
        found = {line[line.index("-l") + 1] for line in where if "-l" in line}
        flags = {word.strip("-!") for word in options.split() if word.startswith("--")}
        assert found == {*flags, "help"}
        (about,) = (
            line[-1] for line in lines if line[4] == "__fish_use_subcommand" and name in line
        )
        assert about.endswith(".")
    assert all(line[:3] == ["complete", "-c", "bosaris"] for line in lines)
