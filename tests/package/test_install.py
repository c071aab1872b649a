#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library as a user meets it: installed somewhere, found by pkg-config, used from C and from C++.

    test_install.py BUILD SOURCE Installed|Elsewhere
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
C = [c for c in ("gcc", "clang") if shutil.which(c)]
CPP = [c for c in ("g++", "clang++") if shutil.which(c)]
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread)\.so|ld-linux")

# README's own program is compiled and run, too: what a newcomer copies must work.
USER_CPP = """
#include <ascope/ascope.h>
#include <cstdio>
int main(int, char **arg)
{
    struct ascope_options o;
    struct ascope_error e;
    ascope_options_init(&o);
    o.parent_dir = arg[1];
    o.device = "none";
    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e))
        return std::fprintf(stderr, "%s\\n", e.text), 1;
    struct ascope_op op;
    ascope_op_begin(&op, "aten::add");
    ascope_op_end(&op);
    std::printf("%s %s\\n", ascope_version(), ascope_session_path(s));
    return ascope_session_stop(s, &e) && ascope_session_end(s, &e) ? 0 : 1;
}
"""

# Two languages, and the simulated NPU: what pkg-config and CMake name has to be enough for all of it.
USER_CMAKE = """
cmake_minimum_required(VERSION 3.10)
project(user C CXX)
find_package(ascope %s REQUIRED)
add_executable(in_c user.c)
target_link_libraries(in_c ascope::ascope)
add_executable(in_cpp user.cpp)
target_link_libraries(in_cpp ascope::ascope)
message(STATUS "found ${ascope_VERSION}")
"""
USER_C = """
#include <ascope/ascope.h>
#include <ascope/sim.h>
#include <stdio.h>
#if !ASCOPE_VERSION_AT_LEAST(0, 1, 0) || ASCOPE_VERSION_AT_LEAST(ASCOPE_VERSION_MAJOR + 1, 0, 0)
#error the version of the headers
#endif
int main(int n, char **arg)
{
    struct ascope_options o;
    struct ascope_error e;
    ascope_options_init(&o);
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "sim";
    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e))
        return fprintf(stderr, "%s\\n", e.text), 1;
    struct ascope_sim_tensor t = { ASCOPE_SIM_FLOAT, 2, { 64, 64 } };
    struct ascope_sim_kernel k = { "Add", NULL, &t, &t, 1, 1 };
    ascope_sim_launch(NULL, &k);
    ascope_sim_synchronize(NULL);
    printf("%d.%d.%d %s\\n", ASCOPE_VERSION_MAJOR, ASCOPE_VERSION_MINOR, ASCOPE_VERSION_PATCH, ascope_version());
    return ascope_session_end(s, &e) ? 0 : 1;
}
"""

THROWS_CPP = """
#include <ascope/ascope.hpp>
#include <stdexcept>
int main(int, char **arg)
{
    ascope::options o;
    o.parent_dir = arg[1];
    o.device = "none";
    o.mstx = true;
    ascope::schedule plan(3);
    plan.repeat = 1;
    ascope::profiler profiler(o, &plan);
    ascope_domain *const loader = ascope::domain("loader");
    for (int step = 0; step < 3; step++) {
        try {
            ascope::range range("batch", loader);
            ascope::op op("my::operator");
            if (op)
                op->sequence = step;
            ascope::mark("here", loader);
            throw std::runtime_error("left");
        } catch (const std::runtime_error &) {
        }
        profiler.step();
    }
}
"""

USER_THREAD = """
#include <pthread.h>
static void *thread(void *of) { return of; }
int main(void)
{
    pthread_t t;
    return pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL);
}
"""


def run(*command, **more):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if p.returncode:
        raise AssertionError("%s: %d\n%s" % (" ".join(command), p.returncode, p.stdout))
    return p.stdout


def thread_calls_recorded(program, home):
    """By the library that `ascope run` preloads: which one it found, and the calls of a program that starts a thread."""
    env = {k: v for k, v in os.environ.items() if k not in ("ASCOPE_RUN_LIBRARY", "LD_PRELOAD")}
    checks = json.loads(subprocess.run([program, "doctor", "--json"], env=env, stdout=subprocess.PIPE, text=True, check=False).stdout)["checks"]
    library = next(c["fact"] for c in checks if c["name"] == "libascope-run.so")
    out = tempfile.mkdtemp(dir=home)
    with open(out + "/user.c", "w") as f:
        f.write(USER_THREAD)
    run(C[0], out + "/user.c", "-o", out + "/user", "-pthread")
    run(program, "run", "--output", out, "--", out + "/user", env=env)
    with open(*glob.glob(out + "/PROF_*/mindstudio_profiler_output/os_runtime_statistic_*.csv")) as f:
        return library, sorted(line.split(",")[3] for line in f if "pthread" in line)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = tempfile.mkdtemp(prefix="ascope-install-")
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.stage)
        found = {n: os.path.join(base, n) for base, _, names in os.walk(cls.stage) for n in names}
        cls.library, cls.pc = found["libascope.so"], found["ascope.pc"]
        cls.program = next(p for p in glob.glob(cls.stage + "/**/bin/ascope", recursive=True))
        cls.run_library = found.get("libascope-run.so")
        cls.cmake_dir = os.path.dirname(found["ascopeConfig.cmake"])
        cls.include = os.path.dirname(os.path.dirname(found["ascope.h"]))
        cls.env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(cls.pc), PKG_CONFIG_SYSROOT_DIR=cls.stage,
                       LD_LIBRARY_PATH=os.path.dirname(cls.library))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.stage)

    def flags(self):
        return run("pkg-config", "--cflags", "--libs", "ascope", env=self.env).split()

    def build_and_run(self, compiler, name, text, *more):
        source, program = os.path.join(self.stage, name), os.path.join(self.stage, name + ".program")
        with open(source, "w") as f:
            f.write(text)
        run(compiler, *more, *STRICT, source, "-o", program, *self.flags())
        out = tempfile.mkdtemp(dir=self.stage)
        said = run(program, out, env=self.env, cwd=out)
        self.assertTrue([n for n in os.listdir(out) if n.endswith("_ascend_pt")], said)
        return said

    def test_the_program_of_the_readme(self):
        with open(os.path.join(SOURCE, "README.md")) as f:
            text = re.search(r"```c\n(.*?)```", f.read(), re.S).group(1)
        for compiler in C:
            self.build_and_run(compiler, "readme.c", text, "-std=c99")
        for compiler in CPP:
            for standard in "c++11", "c++20":
                self.build_and_run(compiler, "readme.cpp", text, "-std=" + standard)

    def test_the_cpp_program_of_the_readme(self):
        with open(os.path.join(SOURCE, "README.md")) as f:
            text = re.search(r"```cpp\n(.*?)```", f.read(), re.S).group(1)
        for compiler in CPP:
            self.build_and_run(compiler, "readme.cpp", text, "-std=c++11")

    def test_blocks_that_an_exception_leaves_end_what_they_began(self):
        for compiler in CPP:
            self.build_and_run(compiler, "throws.cpp", THROWS_CPP, "-std=c++11")
            out = sorted((d for d in os.listdir(self.stage) if d.startswith("tmp")),
                         key=lambda d: os.stat(os.path.join(self.stage, d)).st_mtime_ns)[-1]
            report = json.loads(run(os.path.join(BUILD, "ascope"), "analyse", os.path.join(self.stage, out), "--json"))
            d = report["directories"][0]
            self.assertEqual([(r["domain"], r["name"], r["count"]) for r in d["ranges"]], [("loader", "batch", 3)])
            self.assertEqual([(r["name"], r["count"]) for r in d["top_on_host"]], [("my::operator", 3)])
            self.assertEqual([s["step"] for s in d["steps"]], ["0", "1", "2"])
            self.assertEqual(d["recording"]["open_ranges"], 0)

    def test_a_program_in_cpp(self):
        version = run("pkg-config", "--modversion", "ascope", env=self.env).strip()
        for compiler in CPP:
            said = self.build_and_run(compiler, "user.cpp", USER_CPP, "-std=c++11")
            self.assertEqual(said.split()[0], version)

    def test_a_program_in_c_with_the_simulated_device(self):
        version = run("pkg-config", "--modversion", "ascope", env=self.env).strip()
        for compiler in C:
            said = self.build_and_run(compiler, "user.c", USER_C, "-std=c99")
            self.assertEqual(said.split(), [version, version])

    def test_a_program_for_another_version_is_refused_by_the_loader(self):
        """Of sim.h, whose structures may have changed, and one that needs what only a later version has."""
        self.build_and_run(C[0], "user.c", USER_C, "-std=c99")
        with open(os.path.join(self.stage, "user.c.program"), "rb") as f:
            program = f.read()
        nodes = re.findall(rb"\0(LIBASCOPE_[\w.]+)(?=\0)", program)
        self.assertEqual(len(nodes), 2, "one of the stable functions, and one of sim.h")
        for node in nodes:
            other = re.sub(rb"\d", b"9", node)
            changed = os.path.join(self.stage, "other.program")
            with open(changed, "wb") as f:
                f.write(program.replace(b"\0" + node + b"\0", b"\0" + other + b"\0"))
            os.chmod(changed, 0o755)
            ended = subprocess.run([changed, self.stage], env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn("version `%s' not found" % other.decode(), ended.stdout)

    def cmake(self, wanted):
        """What CMake says, and its exit status, for programs that want this version."""
        source = tempfile.mkdtemp(dir=self.stage, prefix="cmake-")
        for name, text in ("user.c", USER_C), ("user.cpp", USER_CPP), ("CMakeLists.txt", USER_CMAKE % wanted):
            with open(os.path.join(source, name), "w") as f:
                f.write(text)
        done = subprocess.run(["cmake", "-S", source, "-B", source + "/build", "-Dascope_DIR=" + self.cmake_dir], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return source + "/build", done

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed: the package for it is not tested")
    def test_cmake_finds_it(self):
        version = run("pkg-config", "--modversion", "ascope", env=self.env).strip()
        major, minor, _ = version.split(".")
        build, done = self.cmake("%s.%s" % (major, minor))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("found " + version, done.stdout)
        run("cmake", "--build", build)
        for program in "in_c", "in_cpp":
            out = tempfile.mkdtemp(dir=self.stage)
            self.assertIn(version, run(os.path.join(build, program), out, cwd=out))
            self.assertTrue([n for n in os.listdir(out) if n.endswith("_ascend_pt")])
        for wanted in "%s.%d" % (major, int(minor) + 1), "%d.0" % (int(major) + 1):
            _, done = self.cmake(wanted)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("compatible", done.stdout)

    def test_each_header_stands_alone(self):
        headers = sorted(os.listdir(os.path.join(self.include, "ascope")))
        for h in headers:
            for compilers, suffix, standards in ((C, "c", ("c99", "c11", "c17")), (CPP, "cpp", ("c++11", "c++17"))):
                if h.endswith(".hpp") and suffix == "c":
                    continue
                source = os.path.join(self.stage, "alone." + suffix)
                with open(source, "w") as f:
                    f.write("#include <ascope/%s>\n#include <ascope/%s>\nint x;\n" % (h, h))
                for compiler in compilers:
                    for standard in standards:
                        with self.subTest(header=h, compiler=compiler, standard=standard):
                            run(compiler, "-std=" + standard, *STRICT, "-fsyntax-only", "-I" + self.include, source)

    def test_what_is_exported_is_what_the_headers_declare(self):
        declared = set()
        folder = os.path.join(self.include, "ascope")
        for h in os.listdir(folder):
            with open(os.path.join(folder, h)) as f:
                text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
            declared.update(re.findall(r"^ASCOPE_API\b[^;(]*?(\w+)\s*[(;]", text, re.M))
        symbols = run("nm", "-D", "--defined-only", self.library)
        exported = set(re.findall(r" [A-Z] (\w+)@@LIBASCOPE_", symbols))
        self.assertEqual(exported - declared, set(), "exported, but in no header")
        self.assertEqual(declared - exported, set(), "in a header, but not exported")

    def test_the_program_finds_the_library_that_it_preloads(self):
        if not self.run_library:
            self.skipTest("this C library has no libascope-run.so")
        found, calls = thread_calls_recorded(self.program, self.stage)
        self.assertEqual(found, os.path.realpath(self.run_library))
        self.assertEqual(calls, ["pthread_create", "pthread_join"])

    def test_not_the_library_of_another_processor(self):
        """Debian installs packages of several architectures side by side: lib/aarch64-linux-gnu, lib/x86_64-linux-gnu."""
        if not self.run_library:
            self.skipTest("this C library has no libascope-run.so")
        home = tempfile.mkdtemp(dir=self.stage, prefix="[1]*?\\")
        with open(self.run_library, "rb") as f:
            library = f.read()
        # e_machine is the 19th byte; then what is no library, and one that ends too early
        for folder, data in (("a", library[:18] + b"\x2a\0" + library[20:]), ("b", b"text"), ("c", b""), ("d", library)):
            os.makedirs(home + "/lib/%s/ascope" % folder)
            with open(home + "/lib/%s/ascope/libascope-run.so" % folder, "wb") as f:
                f.write(data)
        os.mkdir(home + "/bin")
        shutil.copy(self.program, home + "/bin")
        found, calls = thread_calls_recorded(home + "/bin/ascope", self.stage)
        self.assertEqual(found, home + "/lib/d/ascope/libascope-run.so")
        self.assertEqual(calls, ["pthread_create", "pthread_join"])

    def test_it_needs_nothing_but_the_system(self):
        dynamic = run("readelf", "-d", self.library)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        self.assertEqual([n for n in needed if not SYSTEM.match(n)], [])
        self.assertIn("[libascope.so.0]", re.search(r"\(SONAME\).*", dynamic).group())

    def test_it_is_hardened(self):
        for path in filter(None, (self.library, self.program, self.run_library)):
            with self.subTest(file=os.path.basename(path)):
                seen = run("readelf", "--wide", "--file-header", "--segments", "--dynamic", "--dyn-syms", path)
                for wanted in ("DYN \\(", "GNU_RELRO", r"\bNOW\b", r"GNU_STACK.* RW ", "__stack_chk_fail", r"__\w+_chk\b"):
                    self.assertRegex(seen, wanted)


class Elsewhere(unittest.TestCase):
    """make install into a place that the tree was not configured for."""

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="ascope-install-")
        self.configured = self.option("prefix")

    def tearDown(self):
        if self.option("prefix") != self.configured:
            run("meson", "configure", BUILD, "--prefix", self.configured)
            run("ninja", "-C", BUILD)
        shutil.rmtree(self.home)

    def option(self, name):
        return next(o["value"] for o in json.loads(run("meson", "introspect", BUILD, "--buildoptions")) if o["name"] == name)

    def install(self, prefix, destdir=""):
        return subprocess.run([SOURCE + "/scripts/install", BUILD, prefix, destdir], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def check(self, place, prefix):
        run(place + "/bin/ascope", "--version")
        with open(place + "/" + self.option("libdir") + "/pkgconfig/ascope.pc") as f:
            self.assertIn("prefix=" + prefix.replace(" ", "\\ ") + "\n", f.read())
        for module in glob.glob(place + "/lib/python*/**/_core.*.so", recursive=True):
            self.assertIn("[" + prefix + "/", run("readelf", "-d", module))

    def test_another_prefix_and_a_stage(self):
        prefix = os.path.join(self.home, "another place")
        title, how, *exports = self.install(prefix).stdout.splitlines()
        self.assertEqual((title, how), ("installed into " + prefix, "to use it from there:"))
        self.check(prefix, prefix)
        with open(self.home + "/program.c", "w") as f:
            f.write("#include <ascope/ascope.h>\nint main(void) { return !ascope_profiler_new(0, 0, 0, 0); }\n")
        use = ["command -v ascope", 'eval "cc program.c $(pkg-config --cflags --libs ascope) -o program"', "./program"]
        said = run("bash", "-ec", "\n".join(exports + use), cwd=self.home)
        self.assertIn(prefix + "/bin/ascope\n", said)
        said = run(prefix + "/bin/ascope", "run", "--no-export", "--output", self.home, "--", "true")
        if glob.glob(prefix + "/**/libascope-run.so", recursive=True):
            self.assertIn("not recorded: ld.so loads nothing from a path with a blank or a colon: " + prefix, said)
        self.assertEqual(self.install(prefix, self.home + "/stage").returncode, 0)
        self.check(self.home + "/stage" + prefix, prefix)
        os.mkdir(prefix + "/share/kept")
        for place, destdir in ((prefix, ""), (self.home + "/stage" + prefix, self.home + "/stage")):
            self.assertIn("from " + place + "\n", run(SOURCE + "/scripts/uninstall", prefix, destdir))
        self.assertEqual([f for d, _, names in os.walk(self.home) for f in names if "/stage" in d or "/another" in d], [])
        self.assertEqual(os.listdir(prefix), ["share"])
        self.assertEqual(os.listdir(prefix + "/share"), ["kept"])

    def test_a_place_that_cannot_be_written(self):
        with open(self.home + "/file", "w"):
            pass
        os.mkdir(self.home + "/closed", 0o555)
        for place in ("file", "closed") if os.getuid() else ("file",):
            ended = self.install(os.path.join(self.home, place, "below"))
            self.assertEqual((ended.returncode, ended.stdout.count("\n")), (1, 1), ended.stdout)
            self.assertIn("cannot be written", ended.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
