# SPDX-License-Identifier: Apache-2.0
"""Which framework a script uses, before it runs: by what it and the modules beside it import, and what installed packages require.

Nothing is imported and nothing is run. What cannot be read has no imports.
"""
import ast
import importlib.machinery
import importlib.util
import os
import re
import sys
import sysconfig
import warnings
from typing import Dict, Iterator, List, NamedTuple, Optional, Set

# {a module or package: the framework whose front end records scripts that import it}. If a script imports several, the first row counts.
FRAMEWORKS = {
    "torch": "torch", "torch_npu": "torch", "ascope.torch": "torch", "ascope.torch_npu_compat": "torch",
    "mindspore": "mindspore", "ascope.mindspore": "mindspore", "ascope.mindspore_compat": "mindspore",
    "npu_bridge": "tensorflow", "npu_device": "tensorflow", "ascope.tensorflow": "tensorflow", "ascope.tensorflow_compat": "tensorflow",
    "tensorflow": "tensorflow", "ascope": "torch",
}
NOT_PROVIDED = {"torch", "tensorflow"}  # ascope provides the other modules itself where they are not installed
FILES_MOST, BYTES_MOST = 500, 4 << 20

_STANDARD = [os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")]
_PACKAGES = re.compile(r"[\\/](site|dist)-packages[\\/]")
_CALL = re.compile(r"^(__import__|import_module)$")


class _Import(NamedTuple):
    module: str
    level: int  # the number of dots in front of the name


def _imports(tree: ast.AST) -> Iterator[_Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _Import(alias.name, 0)
        elif isinstance(node, ast.ImportFrom):
            yield _Import(node.module or "", node.level)
            for alias in node.names:  # an imported name may be a submodule
                yield _Import((node.module + "." if node.module else "") + alias.name, node.level)
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            value = getattr(node.args[0], "value", None)
            if _CALL.match(name) and isinstance(value, str) and not value.startswith("."):
                yield _Import(value, 0)


def _imports_of(file: str) -> List[_Import]:
    try:
        if os.path.getsize(file) > BYTES_MOST:
            return []
        with open(file, "rb") as f, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about its literals: the interpreter issues them when the script runs
            return list(_imports(ast.parse(f.read())))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _find(name: str, path: List[str]) -> Optional[importlib.machinery.ModuleSpec]:
    """Finds a module by its dotted name. No package is imported on the way."""
    spec, found = None, ""
    for part in name.split("."):
        found = found + "." + part if found else part
        try:
            spec = importlib.machinery.PathFinder.find_spec(found, path)
        except Exception:  # a finder of somebody else
            return None
        path = list(spec.submodule_search_locations or []) if spec else []
        if not spec:
            return None
    return spec


def is_installed(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except Exception:  # a finder of somebody else
        return False


def _row(module: str) -> Optional[str]:
    """The row of FRAMEWORKS that names the module itself, or else the innermost package that contains it."""
    while module and module not in FRAMEWORKS:
        module = module.rpartition(".")[0]
    return module or None


def _is_usable(row: str) -> bool:
    return row not in NOT_PROVIDED or is_installed(row)


class _Installed:
    """Installed packages whose metadata require a framework. The metadata is read at the first question."""

    def __init__(self) -> None:
        self._of: Optional[Dict[str, str]] = None

    def row(self, module: str) -> Optional[str]:
        """The row of FRAMEWORKS that the package with this top-level module requires; None: it requires none."""
        if self._of is None:
            self._of = self._read()
        return self._of.get(module)

    @staticmethod
    def _read() -> Dict[str, str]:
        from importlib import metadata
        found: Dict[str, str] = {}
        for one in metadata.distributions():
            try:
                required = {re.split(r"[^\w.-]", text, maxsplit=1)[0].replace("-", "_").lower() for text in one.requires or []}
                row = next((name for name in FRAMEWORKS if name in required and _is_usable(name)), None)
                if row:
                    listed = (one.read_text("top_level.txt") or "").split() or [one.metadata["Name"].replace("-", "_")]
                    found.update((name, row) for name in listed)
            except Exception:  # metadata that cannot be read
                continue
        return found


def of_script(script: str, is_module: bool = False) -> Optional[str]:
    """The framework that a script, or the module with that name, imports; None: it imports none that has a front end."""
    here = os.getcwd() if is_module else script if os.path.isdir(script) else os.path.dirname(os.path.abspath(script))
    path = [here] + [entry or os.getcwd() for entry in sys.path]
    if is_module:
        row = _row(script)
        if row:
            return FRAMEWORKS[row]
        spec = _find(script, path)
        main = _find(script + ".__main__", path) if spec and spec.submodule_search_locations else None
        left = [one.origin for one in (spec, main) if one and one.origin]
    else:
        left = [os.path.join(script, "__main__.py") if os.path.isdir(script) else script]
    found = _rows_of(left, path)
    return next((FRAMEWORKS[row] for row in FRAMEWORKS if row in found), None)


def _rows_of(left: List[str], path: List[str]) -> Set[str]:
    """The rows of FRAMEWORKS that these files import, directly or through other files. Stops when the first row is found, which decides."""
    installed, seen, names, found = _Installed(), set(left), set(), set()  # type: ignore[var-annotated]
    while left and len(seen) <= FILES_MOST and next(iter(FRAMEWORKS)) not in found:
        file = left.pop()
        for one in _imports_of(file):
            row = None if one.level else _row(one.module)
            if row and _is_usable(row):
                found.add(row)
            for origin in [] if row else _origins(one, file, path, names):
                if _PACKAGES.search(origin):
                    asked = installed.row(one.module.split(".")[0])
                    if asked:
                        found.add(asked)
                elif origin not in seen:
                    seen.add(origin)
                    left.append(origin)
    return found


def _origins(one: _Import, file: str, path: List[str], names: Set[str]) -> List[str]:
    """The Python files that an import reads, without those of the standard library."""
    if one.level:
        folder = os.path.dirname(os.path.abspath(file))
        for _ in range(one.level - 1):
            folder = os.path.dirname(folder)
        places, known = [folder], folder + ":" + one.module
    else:
        places, known = path, one.module
        if one.module.split(".")[0] in getattr(sys, "stdlib_module_names", sys.builtin_module_names):
            return []
    if not one.module or known in names:
        return []
    names.add(known)
    found, parts = [], one.module.split(".")
    for n in range(1, len(parts) + 1):
        spec = _find(".".join(parts[:n]), places)
        if not spec:
            break
        origin = os.path.realpath(spec.origin) if spec.origin and spec.has_location else ""
        folders = list(spec.submodule_search_locations or [])
        if _PACKAGES.search(origin) or any(_PACKAGES.search(folder + os.sep) for folder in folders):
            return [origin or folders[0] + os.sep]
        if origin.endswith(".py") and not origin.startswith(tuple(_STANDARD)):
            found.append(origin)
    return found
