#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The package with another Python and PyTorch, on a machine that may have nothing but a compiler: try_torch.sh [PYTHON]
# ASCOPE_PROGRAM: the program, for what needs it (a static one runs anywhere). JOBS: files of tests at a time (1).
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${1:-python3}
out=${TMPDIR:-/tmp}/ascope-try
rm -rf "$out"
"$root/tests/python/build_plain.sh" "$out" "$python"
[ -z "$ASCOPE_PROGRAM" ] || cp "$ASCOPE_PROGRAM" "$out/ascope"
export ASCOPE_PROGRAM="$out/ascope" ASCOPE_CACHE="$out/cache" PYTHONPATH="$out/python:$PYTHONPATH"
"$python" -c 'import sys, torch; print("PyTorch", torch.__version__, "Python", sys.version.split()[0])'
time "$python" -c 'import sys; sys.path.insert(0, "'"$root"'/tests/python"); import recorded; print("compiled and loaded")'
cd "$root/tests/python"
if ! "$python" -c 'import pytest' 2>/dev/null; then
    exec "$python" without_pytest.py test_listener.py
fi
# package: needs Meson. Exit code 77: everything in it was left out.
export python out
ls test_*.py | grep -v test_package | xargs -P "${JOBS:-1}" -I{} sh -c '
    "$python" -W ignore run.py {} >"$out/{}.log" 2>&1
    code=$?
    [ $code -eq 77 ] || [ $code -eq 0 ] || echo "FAILED {}"
    tail -n 1 "$out/{}.log" | sed "s/^/{}: /"' | tee "$out/results"
! grep -q ^FAILED "$out/results"
