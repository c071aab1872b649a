#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The installed Debian packages work: packages.sh. The program simulates, analyses and records another one; a C program finds the
# library by pkg-config and records; Python imports the package, records and analyses.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset PYTHONPATH ASCOPE_PROGRAM ASCOPE_RUN_LIBRARY
ascope --version
man -w ascope >/dev/null 2>&1 || test -f /usr/share/man/man1/ascope.1.gz
ascope sim --out sim
ascope export -dir sim --quiet
test -n "$(find sim -name 'op_summary_*.csv')"
/usr/bin/python3 /usr/share/ascope/msprof.py export summary -dir sim >/dev/null
cat >program.c <<'C'
#include <ascope/ascope.h>
#include <stdio.h>

int main(void)
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    ascope_options_init(&o);
    o.parent_dir = "recorded";
    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e) || !ascope_session_stop(s, &e) || !ascope_session_end(s, &e))
        return fprintf(stderr, "%s\n", e.text), 1;
    return 0;
}
C
# shellcheck disable=SC2046 # words
cc program.c -o program $(pkg-config --cflags --libs ascope)
./program
ascope info recorded/*_ascend_pt >/dev/null
cat >threads.c <<'C'
#include <pthread.h>

static void *thread(void *of)
{
    return of;
}

int main(void)
{
    pthread_t t;
    return pthread_create(&t, 0, thread, 0) || pthread_join(t, 0);
}
C
cc threads.c -o threads -pthread
ascope run --quiet --output run -- ./threads
grep -q pthread_create run/PROF_*/mindstudio_profiler_output/os_runtime_statistic_*.csv # by libascope-run.so
cat >program.py <<'P'
import ascope, glob, subprocess
from ascope import _core
p = _core.Profiler({"parent_dir": "python", "device": "sim", "with_stack": True}, None, lambda path: None)
p.start()
sorted([3, 1, 2], key=lambda x: -x)
p.stop()
subprocess.run(["ascope", "analyse", p.path, "--quiet"], check=True)
assert glob.glob(p.path + "/ASCEND_PROFILER_OUTPUT/*.json")
P
/usr/bin/python3 program.py
/usr/bin/python3 -m ascope --help >/dev/null
echo "the packages work"
