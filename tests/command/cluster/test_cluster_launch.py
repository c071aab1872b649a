#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope cluster --launcher`: processes, and Slurm with stand-ins for its commands (tests/fakes/fake_slurm); `make test-slurm` has a real one."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from launch_cases import Launching

FAKES = pathlib.Path(__file__).resolve().parents[2] / "fakes/fake_slurm"


def fake(top, name, *files):
    """An environment with the stand-ins, whose folder has these files."""
    folder = top / name
    folder.mkdir()
    for file in files:
        (folder / file).touch()
    return {**os.environ, "PATH": f"{FAKES.resolve()}:{os.environ['PATH']}", "FAKE_SLURM": str(folder)}


def words(environment):
    return (pathlib.Path(environment["FAKE_SLURM"]) / "words").read_bytes().split(b"\0")


def lost_tasks(l, job):
    """What the lost tasks had is missing, and named; everything else is there."""
    l.environment = fake(l.top, "lost", "lose_2", "lose_6", "forgotten")
    done = l.run(job, "-o", l.top / "of-lost", "--launcher", "slurm", "--json", code=3)
    report = json.loads(done.stdout)
    l.check([rank["rank"] for rank in report["job_ranks"]] == [0, 2, 3, 4], "the others are there")
    l.check(done.stderr.count("2 of 6 ranks are missing: 1, 5") == 1, f"missing ranks are named, the last one, too: {done.stderr}")
    l.check("task 1_2 (rank 1): NODE_FAIL on n2" in done.stderr, "and why")
    l.environment = fake(l.top, "lost-some", "lose_2")
    done = l.run(job, "-o", l.top / "of-some", "--launcher", "slurm", "--ranks", "2-4", code=3)
    l.check("ranks are missing: 3" in done.stderr, f"of some ranks, too: {done.stderr}")
    l.environment = fake(l.top, "lost-all", *(f"lose_{i}" for i in range(1, 4)))
    done = l.run(job, "-o", l.top / "of-none", "--launcher", "slurm", "--processes", 3, code=1)
    l.check("no part of the ranks has left a summary" in done.stderr, f"nothing at all: {done.stderr}")


def tries(l, job):
    """A part that fails is started once more, and not a third time. The program of the machine is used where this one is not."""
    folder = l.top / "tries"
    folder.mkdir()
    copy = shutil.copy(l.ascope, folder / "copy")
    wrapper = folder / "ascope"
    wrapper.write_text(f"""#!/bin/sh
echo "$SLURM_ARRAY_TASK_ID" >>"{folder}/started"
n=$(grep -c "^$SLURM_ARRAY_TASK_ID\\$" "{folder}/started")
if test "$SLURM_ARRAY_TASK_ID" = 3 && test "$n" = 1; then kill -9 $$; fi
if test "$SLURM_ARRAY_TASK_ID" = 5; then exit 7; fi
exec "{l.ascope}" "$@"
""")
    wrapper.chmod(0o755)
    l.environment = fake(l.top, "tried")
    l.environment.update(PATH=f"{folder}:{l.environment['PATH']}", FAKE_SLURM_REMOVES=str(copy))
    done = l.run(job, "-o", l.top / "of-tried", "--launcher", "slurm", code=3, ascope=copy)
    started = (folder / "started").read_text().split()
    l.check([started.count(part) for part in "123456"] == [1, 1, 2, 1, 2, 1], f"twice at most: {started}")
    l.check("1 of 6 ranks are missing: 4" in done.stderr and "part 5: ascope ended with exit status 7" in done.stderr, done.stderr)
    l.environment = {**fake(l.top, "again"), "SLURM_RESTART_COUNT": "2"}
    done = l.run(job, "-o", l.top / "of-again", "--launcher", "slurm", "--processes", 1, code=1)
    l.check("not tried a third time" in done.stderr, f"nor on a third node: {done.stderr}")


def refused(l, job):
    l.environment = {**os.environ, "PATH": "/nowhere"}
    done = l.run(job, "-o", l.top / "none", "--launcher", "slurm", code=1)
    l.check(done.stderr == "ascope: --launcher slurm: squeue: not found; install Slurm's commands, or add them to PATH\n", done.stderr)
    l.environment = fake(l.top, "refused", "refuse_1")
    done = l.run(job, "-o", l.top / "none", "--launcher", "slurm", "--launcher-args", "--partition=nowhere --comment='a b' -J \"x'y\"", code=1)
    l.check(done.stderr == "ascope: --launcher slurm: sbatch: Batch job submission failed: Invalid partition name specified\n", done.stderr)
    l.check({b"--partition=nowhere", b"--comment=a b", b"-J", b"x'y"} <= set(words(l.environment)), f"words for sbatch: {words(l.environment)}")
    l.environment = fake(l.top, "half", "refuse_2")
    done = l.run(job, "-o", l.top / "none", "--launcher", "slurm", "--quiet", code=1)
    cancelled = pathlib.Path(l.environment["FAKE_SLURM"]) / "cancelled"
    l.check(cancelled.exists() and cancelled.read_text() == "1\n", "the tasks are cancelled when there is no job for the results")
    l.check(done.stderr.count("\n") == 1 and list((l.top / "none").iterdir()) == [], f"one line, and nothing is left: {done.stderr}")
    done = l.run(job, "-o", l.top / "none", "--launcher", "slurm", "--launcher-args", "'open", code=2)
    l.check("--launcher-args: unbalanced '" in done.stderr, done.stderr)


def interrupts(l, job):
    for number, state, words_of_it in ((signal.SIGINT, [], "jobs 1 and 2 are cancelled"),
                                       (signal.SIGTERM, ["unreachable"], "may still run: --launcher slurm: scancel: Unable to contact")):
        environment = fake(l.top, f"held-{number}", "hold", *state)
        started = subprocess.Popen([l.ascope, "cluster", job, "-o", l.top / "held", "--launcher", "slurm"], stderr=subprocess.PIPE, text=True, env=environment)
        first = started.stderr.readline()
        l.check("submitted: job 1: 6 tasks for 6 ranks; job 2" in first, first)
        started.send_signal(number)
        rest = started.stderr.read()
        l.check(started.wait() == -number and words_of_it in rest, f"{started.returncode}: {rest}")
        cancelled = pathlib.Path(environment["FAKE_SLURM"]) / "cancelled"
        l.check(bool(state) or cancelled.read_text() == "1 2\n", "both jobs are cancelled")
        l.check(list((l.top / "held").iterdir()) == [], "and nothing is left")


def local_interrupts(l, job):
    """Wherever it is interrupted: its processes end before it, and no directory of theirs is left."""
    for number in signal.SIGINT, signal.SIGTERM:
        out = l.top / f"stopped-{number}"
        started = subprocess.Popen([l.ascope, "cluster", job, "-o", out, "--launcher", "local", "--processes", "3"], stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True)
        while started.poll() is None and not (out.is_dir() and any(out.iterdir())):
            time.sleep(0.001)
        started.send_signal(number)
        said = started.stderr.read()
        l.check(started.wait() in (-number, 0), f"{started.returncode}: {said}")
        left = [path.name for path in out.rglob("*") if ".part-" in path.name]
        l.check(left == [], f"nothing is left: {left} {said}")


def hangup(l, job):
    """Under nohup the end of a terminal is no interrupt."""
    started = subprocess.Popen(["nohup", l.ascope, "cluster", job, "-o", l.top / "nohup", "--launcher", "local", "--processes", "3"], stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
    while started.poll() is None:
        if "SigIgn:\t0000000000000001" in pathlib.Path(f"/proc/{started.pid}/status").read_text():  # from then on it is ascope's
            started.send_signal(signal.SIGHUP)
        time.sleep(0.01)
    said = started.stderr.read()
    l.check(started.returncode == 0, f"{started.returncode}: {said}")


with tempfile.TemporaryDirectory() as folder:
    l = Launching(sys.argv[1], folder, dict(os.environ))
    began = time.monotonic()
    l.environment = fake(l.top, "same")
    job = l.same_as_at_once("slurm")
    l.spoiled_ranks_have_a_line_each("slurm", "--processes", 4)
    l.spoiled_ranks_have_a_line_each("local", "--processes", 3)
    for test in lost_tasks, tries, refused, interrupts, local_interrupts, hangup:
        print(test.__name__)
        test(l, job)
    print(f"{time.monotonic() - began:.1f} s")
sys.exit(1 if l.failures else 0)
