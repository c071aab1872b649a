#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A static program runs where there is nothing else: alone.sh PROGRAM [EMULATOR]. In a root directory that holds the program (and the
# emulator), it simulates, exports and analyses, and makes pages and timelines, for which it wants neither /dev nor /proc nor /tmp;
# without an emulator it also records a program, with one note about what it cannot.
set -e
root=$(mktemp -d)
trap 'rm -rf "$root" "$root.log"' EXIT
cp "$1" "$root/ascope"
run="/ascope"
if test -n "$2"; then
    cp "$(command -v "$2")" "$root/emulator"
    run="/emulator /ascope"
fi
enter=
test "$(id -u)" = 0 || enter="unshare --user --map-root-user"
alone() { $enter chroot "$root" $run "$@" >"$root.log" 2>&1 || { cat "$root.log"; exit 1; }; }
mkdir "$root/prof" "$root/pt"
alone --version
alone sim --out /prof
alone sim --framework pt --out /pt
alone export -dir /prof
alone analyse /pt --export-type text,db
alone sim --framework pt --ranks 2 --dp 2 --out /job
pt=/$(cd "$root" && ls -d pt/*_ascend_pt)
alone export-trace $pt /trace.json
cp "$root/trace.json" "$root/other.json"
alone export-trace $pt /trace.pftrace
for what in $pt $pt/ASCEND_PROFILER_OUTPUT /trace.json "/trace.json /other.json" /prof /job; do
    rm -f "$root/page.html"
    alone view --export /page.html $what
    grep -q '</svg>' "$root/page.html" || { echo "no timeline of $what"; exit 1; }
done
alone view --export - $pt
grep -q '</svg>' "$root.log"
alone why /trace.json
alone advise $pt
alone compare /trace.json /other.json
alone export-stacks $pt /stacks.txt
alone export-memory-timeline $pt /memory.html
alone cluster /job
mkdir "$root/etc"
echo 'user:x:0:0::/prof:/bin/sh' >"$root/etc/passwd"
alone export summary -dir '~user' --out /again # no library of the system is asked who that is
alone install-msprof /vendor
grep -q "^program='/ascope'$" "$root/vendor/bin/msprof"
ls "$root"/prof/PROF_*/mindstudio_profiler_output/op_summary_*.csv "$root"/pt/*/ASCEND_PROFILER_OUTPUT/trace_view.json >/dev/null
if test -z "$2"; then # an emulator starts no program of another architecture
    alone cluster --launcher local /job
    alone run --output /run -- /ascope --version
    test "$(grep -c 'libascope-run.so is not installed' "$root.log")" = 1 || { cat "$root.log"; exit 1; }
    ls -d "$root"/run/PROF_* >/dev/null
fi
echo "$1 runs alone"
