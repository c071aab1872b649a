# SPDX-License-Identifier: Apache-2.0
# The commands that a newcomer types. The build itself is Meson's; this file only gathers its parts.
#
#   make          builds build/ascope
#   make demo     records a small PyTorch training run, finds its slow step, and lists the files to open
#   make example  runs, analyses and shows a program that records itself; EXAMPLE=threads for another one
#   make test     runs everything that must pass before a change goes in
#   make test-slurm  tests ascope cluster --launcher slurm on a private Slurm of three nodes on this machine
#   make bench    measures the speed, as ratios in one run
#   make fuzz     feeds damaged input to each reader for FUZZ_SECONDS
#   make torture  makes every call that can fail, fail once, fills the disk at every stage, damages every byte (hours);
#                 TORTURE=calls for one campaign
#   make viewer   tests the pages of ascope view in a browser, and takes pictures of a timeline in speedscope
#   make abi      regenerates the list of libascope's symbols and structures, after an intended change (docs/abi.md)
#   make format   formats the source with clang-format
#   make docs     regenerates man page, completions, the page of recording options and the Python stub from the option
#                 tables, and what commands print in README and docs/
#   make cross    runs the tests for aarch64, emulated, and compares results with this machine's byte by byte
#   make static   builds one file that runs on any Linux, for x86_64 and aarch64: build-static/ascope-*
#   make wheel    builds one Python wheel for all installed versions of Python: dist/*.whl; PYTHONS="python3.9 ..." for others
#   make deb      builds Debian packages of this tree: dist/*.deb
#   make install  installs into PREFIX (DESTDIR is honoured); make uninstall removes it from there
#   make clean    removes everything that was built, and the demo

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
EXAMPLE ?= training
NICE ?= nice
NINJA_JOBS ?= $(shell nproc)
# Tests wait for each other's processes: with two for a processor it was idle for a third of the time.
TEST_JOBS ?= $(shell expr 3 '*' $$(nproc))

# What each job needs of Debian, and why; `make test` and `make demo` install what is missing.
NEEDS_build = gcc libc6-dev meson ninja-build pkg-config libjansson-dev libsqlite3-dev zlib1g-dev
WHY_build = compiler, build system, and the three libraries that ascope uses (JSON settings, database output, compressed output)
NEEDS_demo = $(NEEDS_build) g++ python3-dev python3-torch libtorch-dev
WHY_demo = what the build needs, PyTorch, and the compiler and headers for the part of ascope that listens to it
NEEDS_test = $(NEEDS_demo) clang libclang-rt-dev libcmocka-dev valgrind musl-tools python3 python3-pytest mandoc clang-format codespell
WHY_test = what the build and PyTorch need, a second compiler with its sanitizers, the C test library, a checker of memory, a second C library, Python for the tests of the command and of the package, checks of the man page, of the layout of the source and of its spelling

NEEDS_cross = $(NEEDS_build) gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static python3
WHY_cross = what the build needs, a compiler for aarch64 and an emulator for what it makes

NEEDS_wheel = $(NEEDS_build) binutils python3-dev python3-pip python3-mesonpy
WHY_wheel = what the build needs, the headers of Python, and what builds wheels with Meson

NEEDS_deb = $(NEEDS_build) dpkg-dev debhelper dh-python python3-dev lintian
WHY_deb = what the build needs, the headers of Python, and what makes and checks packages

NEEDS_slurm = $(NEEDS_build) slurm-wlm munge python3
WHY_slurm = what the build needs, and Slurm, of which a private copy is started

# By their commands: Node.js is often not Debian's, and has npm with it.
NEEDS_viewer = $(NEEDS_build) $(shell command -v chromium >/dev/null || echo chromium) \
    $(shell command -v node >/dev/null || echo nodejs) $(shell command -v npm >/dev/null || echo npm)
WHY_viewer = what the build needs, a browser, and what drives it

# A person sees how far a build is; a log contains only what goes wrong.
BUILD = NINJA_STATUS='building ascope: %f of %t files ' $(NICE) ninja -j $(NINJA_JOBS) $(shell test -t 2 || echo --quiet) -C

MESON_SETUP = meson setup --prefix "$(abspath $(PREFIX))"
VERSION = $(shell sed -n "s/^project.* version: '\([^']*\)'.*/\1/p" meson.build)
MACHINE := $(shell uname -m)
FOREIGN = $(filter-out $(MACHINE),aarch64)
AARCH64 = build-aarch64-root

.PHONY: all program demo demo-built example test test-build test-gcc test-sanitized test-slurm bench faults fuzz torture viewer abi format docs cross static wheel deb \
    install uninstall clean need-build need-demo need-test need-slurm need-cross need-wheel need-deb need-viewer viewer-modules
all: program
	@echo "built build/ascope; try: build/ascope --help, or make demo"

program: build/build.ninja
	@$(BUILD) build

build/build.ninja: | need-build
	@$(MESON_SETUP) build >/dev/null

# Says what is missing and why, and installs it as root or through sudo. Silent when everything is there.
need-build need-demo need-test need-slurm need-cross need-wheel need-deb need-viewer: need-%:
	@command -v dpkg-query >/dev/null || exit 0; \
	missing=; for p in $(NEEDS_$*); do \
	    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; \
	done; \
	test -z "$$missing" && exit 0; \
	echo "installing$$missing ($(WHY_$*))"; \
	sudo=; test "$$(id -u)" = 0 || sudo=sudo; \
	if test -n "$$sudo" && ! command -v sudo >/dev/null; then \
	    echo "neither root nor sudo: run this as root, then again what you ran: apt-get install$$missing" >&2; exit 1; \
	fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$sudo apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 $$missing >/dev/null 2>&1 || \
	    { $$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 $$missing >/dev/null; }

# What is installed is used as it is, unless there is a build. A build that was made before PyTorch and the headers of
# Python were there has left the package out, or made it for another Python.
HAS_TORCH = import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)
demo:
	@if test ! -e build/build.ninja && test "$$(ascope --version 2>/dev/null)" = "ascope $(VERSION)" && \
	    python3 -c 'import ascope.torch' 2>/dev/null; then scripts/demo ascope python3 demo; \
	else $(MAKE) --no-print-directory demo-built; fi

demo-built: need-demo build/build.ninja
	@build/python/python3 -c '$(HAS_TORCH)' 2>/dev/null || meson setup --reconfigure build >/dev/null
	@$(BUILD) build
	@scripts/demo build/ascope build/python/python3 demo

example: need-build program
	@scripts/example build/ascope build/examples/$(EXAMPLE) demo/example-$(EXAMPLE)

test: test-gcc test-sanitized
	@echo "all tests passed"

# A build that was made before the libraries for tests and the headers of Python were there has left both out.
test-build: need-test build/build.ninja
	@meson configure build -Dtests=enabled -Dpython=enabled
	@$(BUILD) build

# Where there is a browser, the pages of the viewer are tested in it: with what npm installs, if that can be had.
viewer-modules:
	@test -d tests/viewer/node_modules/@modelcontextprotocol || ! command -v chromium npm >/dev/null || \
	    (cd tests/viewer && npm install --silent --no-audit --no-fund) || true

test-gcc: test-build viewer-modules
	@$(NICE) meson test -C build --print-errorlogs --no-rebuild --num-processes $(TEST_JOBS)

# One tree for two things: the other compiler (whose warnings are errors, too) and the sanitizers.
SANITIZED = CC=clang CXX=clang++ $(MESON_SETUP) -Db_sanitize=address,undefined -Db_lundef=false
build-sanitized/build.ninja: | need-test
	@$(SANITIZED) build-sanitized >/dev/null
build-fuzz/build.ninja: | need-test
	@$(SANITIZED) -Dfuzz=true build-fuzz >/dev/null

test-sanitized: build-sanitized/build.ninja
	@$(BUILD) build-sanitized
	@$(NICE) meson test -C build-sanitized --print-errorlogs --no-rebuild --num-processes $(TEST_JOBS) --timeout-multiplier 4

# Its daemons and their files are in a temporary folder; a Slurm of the machine is not touched.
test-slurm: need-slurm program
	@$(NICE) python3 tests/slurm/test_slurm.py build/ascope

# The tables of docs/answers.md: each planted fault with some seeds and three noises; minutes.
faults: program
	@ASCOPE_FAULT_SEEDS=$(or $(SEEDS),3) PYTHONPATH=tests/support $(NICE) python3 tests/command/answers/test_fault_traces.py build/ascope .

# BENCH="--sizes 20000 --operators 20000 --repeat 1 --torch 1" for a first look; a million kernels take minutes and 6 GB.
bench: need-build program
	@$(NICE) ninja -C build --quiet bench/bench_rows bench/bench_record bench/bench_samplers bench/bench_os_calls
	@python3 bench/bench.py build/ascope $(BENCH)

# A picture of each row of two timelines in speedscope, which must not complain: of a PROF and of a *_ascend_pt directory.
viewer: need-viewer program
	@cd tests/viewer && npm install --silent --no-audit --no-fund && npx tsc -p .
	@rm -rf build/viewer && build/ascope export timeline $(or $(PROF),tests/data/prof-a) --out build/viewer --time-base start --quiet
	@node tests/viewer/view.js build/viewer/PROF_*/*/msprof_2*.json build/viewer/row
	@node tests/viewer/pages.js build/ascope . build/viewer/pages
	@build/ascope export-trace $(or $(SESSION),tests/data/pt-a-npu/raw/*_ascend_pt) build/viewer --time-base start --quiet
	@node tests/viewer/view.js build/viewer/trace_view.json build/viewer/session

# What a target finds is kept: build-fuzz/crash-* can be given to it again.
fuzz: build-fuzz/build.ninja
	@$(NICE) ninja -C build-fuzz -j $(NINJA_JOBS) --quiet
	@fuzz/run build-fuzz tests/data $(FUZZ_SECONDS)

torture: test-build build-sanitized/build.ninja
	@$(NICE) ninja -C build-sanitized -j $(NINJA_JOBS) --quiet
	@tests/torture/run build $(TORTURE)

# The libraries for aarch64 are downloaded into build-aarch64-root; nothing of another architecture is installed.
$(AARCH64)/meson.ini: | need-cross
	@scripts/sysroot $(AARCH64)

build-aarch64/build.ninja: $(AARCH64)/meson.ini
	@$(MESON_SETUP) --cross-file $< -Dpython=disabled -Dtests=enabled build-aarch64 >/dev/null

cross: program build-aarch64/build.ninja
	@$(NICE) ninja -C build-aarch64 -j $(NINJA_JOBS) --quiet
	@$(NICE) meson test -C build-aarch64 --print-errorlogs --no-rebuild --suite unit --timeout-multiplier 4
	@PYTHONPATH=tests/support $(NICE) python3 tests/package/cross.py build/ascope tests/data qemu-aarch64-static -L $(AARCH64) build-aarch64/ascope

build-static/$(MACHINE)/build.ninja: | need-build
	@$(MESON_SETUP) -Dstatic=true build-static/$(MACHINE) >/dev/null

ifneq ($(FOREIGN),)
build-static/aarch64/build.ninja: $(AARCH64)/meson.ini
	@$(MESON_SETUP) -Dstatic=true --cross-file $< build-static/aarch64 >/dev/null
endif

# Each is tried in a root directory that holds nothing else.
static: $(foreach arch,$(MACHINE) $(FOREIGN),build-static/$(arch)/build.ninja)
	@for arch in $(MACHINE) $(FOREIGN); do \
	    program=build-static/ascope-$(VERSION)-linux-$$arch; \
	    $(NICE) ninja -C build-static/$$arch -j $(NINJA_JOBS) --quiet && \
	    cp build-static/$$arch/ascope $$program && \
	    tests/package/alone.sh $$program $$(test $$arch = $(MACHINE) || echo qemu-$$arch-static) || exit 1; \
	done

# By an interpreter that has meson-python: Debian's, where another one comes first in PATH.
wheel: need-wheel
	@python=$$(for p in python3 /usr/bin/python3; do $$p -c 'import mesonpy' 2>/dev/null && echo $$p && break; done); \
	test -n "$$python" || { echo "no python3 with meson-python: pip install meson-python" >&2; exit 1; }; \
	$(NICE) "$$python" scripts/wheel.py dist $(PYTHONS)

# In a copy of the tree: the tools leave files beside it. With Debian's own Python, whichever comes first in PATH.
deb: need-deb
	@rm -rf build-deb && mkdir -p build-deb/ascope dist && git ls-files -z | tar c --null -T - | tar x -C build-deb/ascope
	@cd build-deb/ascope && PATH=/usr/sbin:/usr/bin:/sbin:/bin DEB_BUILD_OPTIONS="parallel=$(NINJA_JOBS)" \
	    $(NICE) dpkg-buildpackage --build=binary --no-sign >../log 2>&1 || { tail -n 30 ../log; exit 1; }
	@lintian --pedantic --fail-on error,warning,info,pedantic --tag-display-limit 0 build-deb/*.changes
	@cp build-deb/*.deb dist/ && ls dist/*.deb

# A tree that was configured for another place is configured anew: programs find the library by it.
install: program
	@scripts/install build "$(abspath $(PREFIX))" "$(DESTDIR)"

uninstall:
	@scripts/uninstall "$(abspath $(PREFIX))" "$(DESTDIR)"

abi: program
	@python3 tests/package/test_abi.py build/libascope.so . build --write

format:
	@git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' | xargs -0 clang-format -i

docs: program
	@scripts/docs build/ascope

clean:
	@rm -rf build build-sanitized build-fuzz build-aarch64 build-static $(AARCH64) demo dist
