"""Change one operator, number or word of a module at a time, and see whether its tests notice.

Which changes are drawn is decided by the seed. The file is put back after each; run this in a clone
in which nobody works. A survivor is no fault by itself: some changes change no behaviour.

    python benchmarks/mutate.py bosaris_py/_tables.py tests/test_tables.py --count 20 --seed 1
"""

import argparse
import ast
import json
import random
import subprocess
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
    # Annotations do nothing, and docstrings hold no numbers that are run.
    silent = set()
    for node in ast.walk(tree):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            silent.update(map(id, ast.walk(part)) if part is not None else ())
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


def _notice(command: list[str]) -> bool:
    """Tell whether tests fail, or do not end."""
    try:
        run = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return run.returncode != 0


def main() -> None:
    """Draw changes, run the tests with each, and print what survives."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--then", nargs="*", default=[], help="tests of what survives the others")
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=30.0)
    args = parser.parse_args()
    text = args.module.read_text(encoding="utf-8")
    every = mutants(text)
    drawn = random.Random(args.seed).sample(every, min(args.count, len(every)))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-o", "addopts=", "-m", "not slow"]
    command += ["-p", "no:cacheprovider", "--import-mode=importlib"]
    rounds = [tests for tests in (args.tests, args.then) if tests]
    if any(_notice([*command, *tests]) for tests in rounds):
        sys.exit("The tests fail without any change.")
    killed, n_run, began = 0, 0, time.monotonic()
    try:
        for line, old, new, whole in drawn:
            if time.monotonic() - began > 60.0 * args.minutes:
                break
            args.module.write_text(whole, encoding="utf-8")
            n_run += 1
            noticed = any(_notice([*command, *tests]) for tests in rounds)
            killed += noticed
            if not noticed:
                survivor = {"line": line, "old": old[:200], "new": new[:200]}
                print(json.dumps(survivor), flush=True)
    finally:
        args.module.write_text(text, encoding="utf-8")
    print(f"{args.module}: {killed} of {n_run} killed, of {len(every)} possible; seed {args.seed}")


if __name__ == "__main__":
    main()
