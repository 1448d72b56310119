# SPDX-License-Identifier: BSD-3-Clause
"""Types of what the package makes when it is imported: a function for each solver of the library.

    make_stubs.py CORE SOURCES OUTPUT

CORE holds the compiled _core, SOURCES the package's files in Python; OUTPUT gets __init__.pyi and scipy_compat.pyi. Arguments are
those of the functions inside the makers, such as `_method` of _methods.py; no name is repeated here.
"""
from __future__ import annotations

import ast
import pathlib
import sys
from collections.abc import Iterator

HEAD = "# Made by python/make_stubs.py.\nfrom collections.abc import Callable, Iterator\nfrom typing import Any\n"


def function(name: str, arguments: ast.arguments, result: str) -> str:
    return f"def {name}({ast.unparse(arguments)}) -> {result}: ...\n"


def makers(tree: ast.Module) -> dict[str, ast.arguments]:
    """The arguments of the function that each maker, a function with a `method` inside, makes."""
    return {maker.name: inner.args for maker in tree.body if isinstance(maker, ast.FunctionDef)
            for inner in maker.body if isinstance(inner, ast.FunctionDef) and inner.name == "method"}


def own_makers(tree: ast.Module) -> dict[str, str]:
    """Solvers with a maker of their own: the table in `_made`."""
    made = next(f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == "_made")
    table = next(node for node in ast.walk(made) if isinstance(node, ast.Dict))
    return {ast.literal_eval(k): ast.unparse(v) for k, v in zip(table.keys, table.values, strict=True) if k is not None}


def assigned(tree: ast.Module, name: str) -> ast.expr:
    """What a name of the module is."""
    return next(node.value for node in tree.body
                if isinstance(node, ast.Assign) and any(ast.unparse(t) == name for t in node.targets))


def faces(tree: ast.Module) -> Iterator[str]:
    """Everything public of a module but what its makers make."""
    public = names_in(tree)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = ", ".join(f"{a.name} as {a.name}" for a in node.names if a.name in public)
            if names:
                yield f"from .{node.module or ''} import {names}\n"
        elif isinstance(node, ast.AnnAssign) and not ast.unparse(node.target).startswith("_"):
            yield f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}\n"
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            for decorator in node.decorator_list:
                yield f"@{ast.unparse(decorator)}\n"
            yield function(node.name, node.args, ast.unparse(node.returns) if node.returns else "Any")


def names_in(tree: ast.Module) -> list[str]:
    """The constants of __all__."""
    value = assigned(tree, "__all__")
    assert isinstance(value, ast.List)
    return [ast.literal_eval(e) for e in value.elts if isinstance(e, ast.Constant)]


def package(init: ast.Module, solve: ast.Module, solvers: list[str]) -> str:
    made, own = makers(solve), own_makers(solve)
    taken = names_in(init)
    solvers = [name for name in solvers if name not in taken]
    functions = [function(name, made[own.get(name, "_method")], "Result") for name in solvers]
    return "".join([HEAD, "from . import scipy_compat as scipy_compat\n", *faces(init), "__version__: str\n", *functions,
                    f"__all__ = {sorted([*solvers, *taken])}\n"])


def compat(tree: ast.Module, solvers: list[str]) -> str:
    table = assigned(tree, "_SCIPY")
    assert isinstance(table, ast.DictComp)
    pairs = table.generators[0].iter
    assert isinstance(pairs, ast.Tuple)
    made, functions = makers(tree), {}
    for pair in pairs.elts:
        assert isinstance(pair, ast.Tuple)
        maker, names = pair.elts
        for name in ast.literal_eval(names):
            if name in solvers:
                functions[name] = function(name, made[ast.unparse(maker)], "Any")
    return "".join([HEAD, "import contextlib\n", *faces(tree), *functions.values(), f"__all__ = {[*functions, 'patched']}\n"])


def main(core: str, sources: str, output: str) -> None:
    sys.path.insert(0, core)
    import _core  # type: ignore[import-not-found]

    solvers = [name for name, *_ in _core.solvers()]
    trees = {name: ast.parse((pathlib.Path(sources) / f"{name}.py").read_text()) for name in ("__init__", "_methods", "scipy_compat")}
    pathlib.Path(output, "__init__.pyi").write_text(package(trees["__init__"], trees["_methods"], solvers))
    pathlib.Path(output, "scipy_compat.pyi").write_text(compat(trees["scipy_compat"], solvers))


if __name__ == "__main__":
    main(*sys.argv[1:])
