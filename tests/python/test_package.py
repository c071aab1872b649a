# SPDX-License-Identifier: Apache-2.0
"""What a wheel has in it, found out without building one; and that the type hints of the extension are complete."""
import ast
import inspect
import json
import pathlib
import platform
import shutil
import subprocess
import sys

import pytest

from ascope import _core

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "python" / "ascope"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Where Meson would install what, as meson-python asks it to: [path below the packages' folder]."""
    if not shutil.which("meson"):
        pytest.skip("there is no meson")
    folder = tmp_path_factory.mktemp("wheel")
    native = folder / "native.ini"
    native.write_text("[binaries]\npython = '%s'\n" % sys.executable)
    build = folder / "build"
    done = subprocess.run(["meson", "setup", str(build), str(ROOT), "--native-file", str(native), "-Dwheel=true",
                           "-Dtests=disabled"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    plan = json.loads((build / "meson-info" / "intro-install_plan.json").read_text())
    return [entry["destination"] for kind in plan.values() for entry in kind.values()]


def test_everything_is_in_the_package(wheel):
    outside = [place for place in wheel if not place.startswith(("{py_platlib}/ascope", "{moduledir_shared}/ascope"))
               and "/dist-packages/ascope" not in place and "/site-packages/ascope" not in place]
    assert not outside


def test_program_library_and_headers_are_there(wheel):
    for end in ("ascope/bin/ascope", "ascope/libascope.so.0", "ascope/include/ascope", "ascope/include/ascope/version.h", "ascope/py.typed",
                *("ascope/torch/" + path.name for path in (PACKAGE / "torch").iterdir() if path.suffix in (".cpp", ".h"))):
        assert [place for place in wheel if place.endswith(end)], end


def test_nothing_is_in_it_twice(wheel):
    assert not {place for place in wheel if wheel.count(place) > 1}


def test_no_python_file_was_forgotten(wheel):
    for path in sorted(PACKAGE.rglob("*.py*")):
        if path.suffix in (".py", ".pyi"):
            name = path.relative_to(PACKAGE.parent).as_posix()
            assert [place for place in wheel if place.endswith(name)], name + " is not in its meson.build"


def test_project_file():
    text = (ROOT / "pyproject.toml").read_text()
    assert 'build-backend = "mesonpy"' in text and "-Dwheel=true" in text


def hints():
    return ast.parse((PACKAGE / "_core.pyi").read_text()).body


def test_hints_name_what_the_extension_has():
    hinted = {node.name: node for node in hints() if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    hinted.update({node.target.id: node for node in hints() if isinstance(node, ast.AnnAssign)})
    assert {name for name in dir(_core) if not name.startswith("_")} <= set(hinted) <= set(dir(_core))
    for name, node in hinted.items():
        if isinstance(node, ast.ClassDef) and name != "Error":
            members = {m.name for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("__")}
            assert members == {m for m in vars(getattr(_core, name)) if not m.startswith("_")}, name


def test_the_stub_of_the_parameters_is_that_of_the_option_table():
    """Type checkers see the stub instead of the module, whose parameters are made at run time."""
    made = subprocess.run([sys.executable, str(ROOT / "scripts" / "config_stub.py")], stdout=subprocess.PIPE, text=True, check=True)
    assert made.stdout == (PACKAGE / "torch" / "config.pyi").read_text(), "config.pyi is out of date: make docs"
    node, = (node for node in ast.parse(made.stdout).body if getattr(node, "name", None) == "_ExperimentalConfig")
    hinted, = (m.args for m in node.body if m.name == "__init__")
    rows = sorted((row for row in _core.option_table() if row["parameter"]), key=lambda row: row["parameter"])
    assert [one.arg for one in hinted.args] == ["self"] + [row["name"] for row in rows]
    assert len(hinted.defaults) == len(rows)


def test_everything_is_explained():
    for name, value in inspect.getmembers(_core):
        if callable(value) and not name.startswith("__"):
            assert value.__doc__, name


def test_the_interpreter_of_the_tree_knows_where_it_lies(tmp_path):
    """Also in a directory whose name has a blank, and from another one."""
    place = tmp_path / "a tree"
    place.mkdir()
    launcher = shutil.copy(pathlib.Path(_core.__file__).resolve().parent.parent / "python3", place)
    (place / "beside.py").write_text("")
    done = subprocess.run([launcher, "-c", "import beside; print(beside.__file__)"], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
                          check=True)
    assert done.stdout.strip() == str(place / "beside.py")


@pytest.mark.parametrize("built, wanted", [
    (["cpython-314t-x86_64-linux-gnu", "cpython-39-x86_64-linux-gnu", "cpython-310-x86_64-linux-gnu"], "built for Python 3.9, 3.10, 3.14 (free-threaded)."),
    ([], "built for no Python.")])
def test_an_interpreter_without_an_extension_says_so(tmp_path, built, wanted):
    place = tmp_path / "ascope"
    place.mkdir()
    for path in PACKAGE.glob("*.py"):
        shutil.copy(path, place)
    for name in built:
        (place / ("_core.%s.so" % name)).write_bytes(b"")
    done = subprocess.run([sys.executable, "-c", "import ascope"], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    line = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and line.startswith("ImportError: ascope: not built for %s %s" % (platform.python_implementation(), platform.python_version()))
    assert wanted in line and "ascope run" in line


@pytest.mark.parametrize("module", ["torch._nvtx", "mindspore.config"])
def test_names_of_mapped_files_may_be_any_bytes(tmp_path, module):
    """Both look through the libraries of the process, among which is such a file."""
    asked = {"torch._nvtx": "one.provide()", "mindspore.config": "assert not one.uses_cuda()"}[module]
    subprocess.run([sys.executable, "-c", """if True:
        import mmap, os
        file = open(b"\\xe4\\xff.bin", "w+b")
        file.write(bytes(mmap.PAGESIZE))
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0)
        os.environ.pop("NVTX_INJECTION64_PATH", None)
        from ascope.%s import %s as one
        %s
        """ % (*module.split("."), asked)], cwd=tmp_path, check=True, timeout=120)
