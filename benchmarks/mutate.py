"""Change one operator, number or word of a module at a time, and see whether its tests notice.

Which changes are drawn is decided by the seed. The file is put back after each; run this in a clone
in which nobody works, with ``PYTHONPATH=$PWD`` if the package is installed from elsewhere. Changes
that can change nothing are not drawn. A survivor is no fault by itself: others change nothing, too.

    python benchmarks/mutate.py bosaris_py/_tables.py tests/test_tables.py --count 20 --seed 1
"""

import argparse
import ast
import contextlib
import importlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

_COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SECONDS = 300

# Words that check what holds anyway, or forbid what nobody does.
_SILENT_WORDS = {"strict", "eq", "kw_only", "frozen", "slots", "repr", "stacklevel"}
# Calls for the eyes of a type checker.
_SILENT_CALLS = {"cast", "TypeVar", "ParamSpec", "dataclass"}
# They take longer to load than most tests to run: each run starts with them in memory.
_LOADED = (
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "h5py",
    "matplotlib.pyplot",
    "pandas",
    "pytest",
)


def _silent(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node that do nothing: annotations, and words for checkers."""
    parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.Call):
        words = [each for each in node.keywords if each.arg in _SILENT_WORDS]
        called = getattr(node.func, "id", getattr(node.func, "attr", None))
        unchanged = called in _SILENT_CALLS or (words and words[-1] is node.keywords[-1])
        parts += [*words, node if unchanged else None]
        if called in _SILENT_CALLS:
            parts += node.args[:1] + node.keywords
    elif isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
        parts.append(node)
    return [part for part in parts if part is not None]


def _changed(node: ast.AST) -> list[ast.AST]:
    """Return other forms of a node, each of which should matter."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        other = _COMPARED[type(node.ops[0])]()
        return [ast.Compare(node.left, [other, *node.ops[1:]], node.comparators)]
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        return [ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)]
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return [ast.BoolOp(other, node.values), *node.values[:1]]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return [ast.Constant(not node.value)]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return [ast.Constant(node.value + 1)]
    if isinstance(node, ast.Call) and node.keywords and node.keywords[-1].arg:
        return [ast.Call(node.func, node.args, node.keywords[:-1])]
    if isinstance(node, ast.Raise):
        return [ast.Pass()]
    return []


def mutants(text: str) -> list[tuple[int, str, str, str]]:
    """Return line, old text, new text and the whole module, of each possible change."""
    tree = ast.parse(text)
    silent = set()
    for node in ast.walk(tree):
        for part in _silent(node):
            # Of a call in which only its last word is silent, the rest is not.
            silent.update([id(part)] if part is node else map(id, ast.walk(part)))
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = []
    for node in ast.walk(tree):
        inside_function = hasattr(node, "lineno") and id(node) not in silent
        for other in _changed(node) if inside_function else ():
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            new = ast.unparse(ast.fix_missing_locations(other))
            new = f"({new})" if isinstance(node, ast.expr) else new
            code = text.encode()
            whole = (code[:begin] + new.encode() + code[end:]).decode()
            try:
                compile(whole, "mutant", "exec")
            except SyntaxError:
                # As within an f-string.
                continue
            found.append((node.lineno, code[begin:end].decode(), new, whole))
    return found


def _notice(arguments: list[str]) -> bool:
    """Tell whether tests fail, or do not end."""
    child = os.fork()
    if child == 0:
        code = 1
        # Those that it starts end with it.
        os.setsid()
        with contextlib.suppress(BaseException), Path(os.devnull).open("r+") as nothing:
            for stream in (sys.stdin, sys.stdout, sys.stderr):
                os.dup2(nothing.fileno(), stream.fileno())
            code = int(importlib.import_module("pytest").main(arguments))
        os._exit(code)
    begin = time.monotonic()
    while time.monotonic() - begin < _SECONDS:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status != 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _printed(mutant: tuple[int, str, str, str]) -> dict[str, int | str]:
    """Return what is said of a change that survives."""
    line, old, new, _ = mutant
    return {"line": line, "old": old[:200], "new": new[:200]}


def main() -> None:
    """Draw changes, run the tests with each, and print what survives."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--then", nargs="*", default=[], help="tests of what survives the others")
    parser.add_argument("--again", type=Path, help="draw none: those that an earlier run printed")
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=30.0)
    args = parser.parse_args()
    text = args.module.read_text(encoding="utf-8")
    every = mutants(text)
    drawn = random.Random(args.seed).sample(every, min(args.count, len(every)))
    if args.again:
        lines = args.again.read_text(encoding="utf-8").splitlines()
        known = [json.loads(line) for line in lines if line.startswith("{")]
        drawn = [each for each in every if _printed(each) in known]
    options = ["-x", "-q", "-o", "addopts=", "-m", "not slow", "-p", "no:cacheprovider"]
    options.append("--import-mode=importlib")
    rounds = [tests for tests in (args.tests, args.then) if tests]
    for name in _LOADED:
        importlib.import_module(name)
    # Two changes within a second have files of the same time: bytecode could be that of another.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.path.insert(0, str(Path.cwd()))
    if any(_notice([*options, *tests]) for tests in rounds):
        sys.exit("The tests fail without any change.")
    killed, n_run, began = 0, 0, time.monotonic()
    try:
        for each in drawn:
            if time.monotonic() - began > 60.0 * args.minutes:
                break
            args.module.write_text(each[-1], encoding="utf-8")
            n_run += 1
            noticed = any(_notice([*options, *tests]) for tests in rounds)
            killed += noticed
            if not noticed:
                print(json.dumps(_printed(each)), flush=True)
    finally:
        args.module.write_text(text, encoding="utf-8")
    print(f"{args.module}: {killed} of {n_run} killed, of {len(every)} possible; seed {args.seed}")


if __name__ == "__main__":
    main()
