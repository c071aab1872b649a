#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One wheel for every Python: wheel.py FOLDER [PYTHON...]

The package is the same for all, but for ascope._core: it reads frames and thread states, which every version of Python lays
out in its own way, so the stable ABI (abi3) does not have them. The wheel holds a core for each PYTHON (default: all from 3.8 to
3.13 that are found, with headers), and each interpreter imports its own by the suffix of its name.

pip builds the package for the interpreter that runs this script; it needs meson-python. The other cores need a compiler alone.
Each core is tried with its interpreter. The platform tag is the oldest glibc that all parts run with (manylinux_2_X); where a part
needs a library that not every Linux has, it is linux, and auditwheel can repair it.
"""
import base64
import glob
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 8), (3, 13)  # that the core was tried with
# What every Linux with glibc has, by PEP 600.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1", "libz.so.1",
              "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libascope.so.0"}
FLAGS = ["-std=gnu17", "-O2", "-fwrapv", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-fstack-protector-strong",
         "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro,-z,now", "-Wl,-rpath,$ORIGIN"]
ABOUT = """import json, os, platform, sys, sysconfig as s
print(json.dumps(dict(version=sys.version_info[:2], kind=platform.python_implementation(), suffix=s.get_config_var("EXT_SUFFIX"),
                      headers=s.get_path("include"), threads=bool(s.get_config_var("Py_GIL_DISABLED")),
                      has=os.path.isfile(os.path.join(s.get_path("include"), "Python.h")))))"""
TRY = """import sys, tempfile; sys.path.insert(0, sys.argv[1])
import ascope; from ascope import _core
with tempfile.TemporaryDirectory() as place:
    p = _core.Profiler({"parent_dir": place, "device": "sim", "with_stack": True}, None, lambda path: None)
    p.start(); sorted([3, 1, 2], key=lambda x: -x); p.stop()
    assert p.path.endswith("_ascend_pt")
print(ascope.__version__)"""


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def about(python):
    try:
        found = json.loads(run(python, "-c", ABOUT, stderr=subprocess.DEVNULL))
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    is_usable = OLDEST <= tuple(found["version"]) <= NEWEST and found["kind"] == "CPython" and found["has"] and not found["threads"]
    return dict(found, python=python) if is_usable else None


def pythons(asked):
    """One for each version, the one that runs this first."""
    places = asked or [*sorted(path for folder in os.environ["PATH"].split(os.pathsep) for path in glob.glob(folder + "/python3*")
                               if re.fullmatch(r"python3(\.\d+)?", os.path.basename(path))),
                       *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))),
                       *sorted(glob.glob("/opt/python/cp3*/bin/python"))]
    chosen = {}
    for python in [sys.executable, *places]:
        found = about(python)
        if found:
            chosen.setdefault(tuple(found["version"]), found)
        elif python in asked or python == sys.executable:
            sys.exit(f"wheel: {python}: not a CPython 3.8 to 3.13 with headers (apt-get install python3-dev)")
    return [chosen[version] for version in sorted(chosen)]


def build_base(into):
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "-w", into, ROOT,
        "--config-settings=setup-args=-Dprefer_static=true", env=dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1"))
    wheel, = pathlib.Path(into).glob("*.whl")
    return wheel


def build_core(package, python, version):
    path = package / ("_core" + python["suffix"])
    if not path.exists():
        run(*shlex.split(os.environ.get("CC", "cc")), *FLAGS, f'-DASCOPE_VERSION="{version}"', "-I", package / "include", "-I",
            ROOT / "src", "-isystem", python["headers"], *sorted((ROOT / "python/ascope/_core").glob("*.c")), "-o", path,
            package / "libascope.so.0", "-lpthread")
    assert run(python["python"], "-c", TRY, package.parent).strip() == version


def try_run(program):
    """The program records another one, by the library that lies in the package with it."""
    env = {k: v for k, v in os.environ.items() if k not in ("ASCOPE_RUN_LIBRARY", "LD_PRELOAD")}
    checks = json.loads(subprocess.run([program, "doctor", "--json"], env=env, stdout=subprocess.PIPE, text=True, check=False).stdout)["checks"]
    library, = (check["fact"] for check in checks if check["name"] == "libascope-run.so")
    assert library == str(program.resolve().parent.parent / "libascope-run.so"), library
    with tempfile.TemporaryDirectory() as place:
        run(program, "run", "--output", place, "--", "cat", __file__, env=env, stderr=subprocess.DEVNULL)
        with open(*glob.glob(place + "/PROF_*/mindstudio_profiler_output/os_runtime_statistic_*.csv"), encoding="utf-8") as f:
            assert ",read," in f.read()


def platform_tag(package):
    """manylinux_2_X_MACHINE, or linux_MACHINE with a warning."""
    machine, glibc, missing = os.uname().machine, (2, 17), set()
    for path in [*package.glob("*.so*"), package / "bin/ascope"]:
        missing |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path))) - EVERYWHERE
        glibc = max([glibc, *((2, int(minor)) for minor in re.findall(r"GLIBC_2\.(\d+)", run("readelf", "-VW", path)))])
    if missing:
        print(f"wheel: needs {', '.join(sorted(missing))} of the system; auditwheel repair packs them in", file=sys.stderr)
        return f"linux_{machine}"
    return f"manylinux_2_{glibc[1]}_{machine}"


def put(archive, name, data, mode=0o644):
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same bytes whenever it is built
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
    archive.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def pack(tree, info, tags, into):
    out, record = io.BytesIO(), ""
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(path for path in tree.rglob("*") if path.is_file() and path.name != "RECORD"):
            if "__pycache__" not in path.parts:
                is_program = path.suffix == "" and path.parent.name == "bin"
                record += put(archive, path.relative_to(tree).as_posix(), path.read_bytes(), 0o755 if is_program else 0o644)
        put(archive, f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode())
    into.mkdir(parents=True, exist_ok=True)
    wheel = into / f"{info[:-len('.dist-info')]}-{tags}.whl"
    wheel.write_bytes(out.getvalue())
    return wheel


def main(into, asked):
    chosen = pythons(asked)
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder, "tree")
        with zipfile.ZipFile(build_base(folder)) as base:
            base.extractall(tree)
        (tree / "ascope/bin/ascope").chmod(0o755)
        info, = (path.name for path in tree.glob("*.dist-info"))
        version = info[len("ascope-"):-len(".dist-info")]
        for python in chosen:
            build_core(tree / "ascope", python, version)
        names = ["cp%d%d" % tuple(python["version"]) for python in chosen]
        try_run(tree / "ascope/bin/ascope")
        platform = platform_tag(tree / "ascope")
        (tree / info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: ascope scripts/wheel.py\nRoot-Is-Purelib: false\n" +
                                           "".join(f"Tag: {name}-{abi}-{platform}\n" for name in names for abi in names))
        print(pack(tree, info, f"{'.'.join(names)}-{'.'.join(names)}-{platform}", pathlib.Path(into)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
