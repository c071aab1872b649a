#!/bin/sh
# The listener with another PyTorch, on a machine that may have nothing but a compiler: try_torch.sh [PYTHON]
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${1:-python3}
out=${OUT:-/tmp}/ascope-try
"$root/tests/python/build_plain.sh" "$out"
export ASCOPE_PROGRAM="$out/ascope" ASCOPE_CACHE="$out/cache"
"$python" -c 'import sys, torch; print("PyTorch", torch.__version__, "Python", sys.version.split()[0])'
time "$python" -c 'import sys; sys.path.insert(0, "'"$root"'/tests/python"); import recorded; print("compiled and loaded")'
if "$python" -c 'import pytest' 2>/dev/null; then
    "$python" -m pytest -q -p no:cacheprovider "$root/tests/python/test_listener.py"
else
    "$python" "$root/tests/python/without_pytest.py" "$root/tests/python/test_listener.py"
fi
