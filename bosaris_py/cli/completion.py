"""Scripts that complete the command in bash, zsh and fish, made from its parser.

They are plain text: to complete a word, no program starts.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator

from bosaris_py.cli.printing import emit

# A shell completes names of files where no word fits.
_BASH = """\
_bosaris() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} command= words=
    [ "$COMP_CWORD" -gt 1 ] && command=${{COMP_WORDS[1]}}
    case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
        *) case "$command $word" in
{options}
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o bashdefault -o default -F _bosaris bosaris"""

_ZSH = "autoload -U +X compinit bashcompinit && compinit && bashcompinit"


def complete(args: argparse.Namespace) -> None:
    """Print the script for a shell."""
    commands = _commands(args.root)
    if args.shell == "fish":
        lines = list(_fish(commands))
    else:
        lines = [_ZSH] if args.shell == "zsh" else []
        lines.append(_bash(commands))
    emit("\n".join(lines))


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the subcommands."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= action.choices
    return found


def _words(choices: Iterable[object] | None) -> str:
    return " ".join(map(str, choices or ()))


def _bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    """Return the script for bash; zsh reads it, too."""
    values = []
    options = [f'            " "*) words="{_words(commands)} --help --version" ;;']
    for name, command in commands.items():
        flags = [flag for action in command._actions for flag in action.option_strings]
        options.append(f'            "{name} -"*) words="{_words(flags)}" ;;')
        for action in command._actions:
            # Without choices, what follows an option is a file: no word fits.
            if not action.choices:
                continue
            words = _quoted(action.choices)
            starts = "|".join(f'"{name} {flag}"' for flag in action.option_strings)
            if starts:
                values.append(f"        {starts}) words={words} ;;")
            else:
                options.append(f'            "{name} "*) words={words} ;;')
    return _BASH.format(values="\n".join(values), options="\n".join(options))


def _quoted(choices: Iterable[object] | None) -> str:
    return shlex.quote(_words(choices))


def _fish(commands: dict[str, argparse.ArgumentParser]) -> Iterator[str]:
    """Yield the lines of the script for fish, which shows what options mean."""
    for name, command in commands.items():
        about = shlex.quote(command.description or "")
        yield f"complete -c bosaris -n __fish_use_subcommand -f -a {name} -d {about}"
        where = f"complete -c bosaris -n '__fish_seen_subcommand_from {name}'"
        for action in command._actions:
            flags = "".join(
                f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
                for flag in action.option_strings
            )
            takes = " -r" if flags and action.nargs != 0 else ""
            words = f" -f -a {_quoted(action.choices)}" if action.choices else ""
            if flags or words:
                about = shlex.quote((action.help or "").replace("%%", "%"))
                yield f"{where}{flags}{takes}{words} -d {about}"
