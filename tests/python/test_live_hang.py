# SPDX-License-Identifier: Apache-2.0
"""ascope hang of jobs that hang: three ranks of gloo, of which one does something else."""
import json
import os
import platform
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("this PyTorch has no torch.distributed", allow_module_level=True)
if not (3, 11) <= sys.version_info[:2] <= (3, 13) or platform.machine() != "x86_64":
    pytest.skip("ascope hang does not read stacks of this Python", allow_module_level=True)

JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hanging_job.py")
PATIENCE_S = 100  # until all ranks are where they hang; a busy machine needs long


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    with subprocess.Popen([sys.executable, JOB, str(tmp_path_factory.mktemp("jobs"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, bufsize=1) as process:
        yield process
        process.stdin.close()


def line_of(mark):
    with open(JOB, encoding="utf-8") as f:
        return next(i for i, line in enumerate(f, 1) if line.rstrip().endswith("# " + mark))


def hang(*words):
    done = subprocess.run([os.environ["ASCOPE_PROGRAM"], "hang", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0 or "--json" not in words, done.stderr
    return json.loads(done.stdout)["hangs"][0] if "--json" in words else done.stdout


class Job:
    def __init__(self, jobs, what):
        self.jobs, self.what = jobs, what

    def __enter__(self):
        self.jobs.stdin.write(self.what + "\n")
        self.place, *self.pids = self.jobs.stdout.readline().split()
        return self

    def __exit__(self, *_):
        self.jobs.stdin.write("\n")
        assert self.jobs.stdout.readline() == "gone\n"

    def when(self, is_there):
        """The answer when all ranks are where they stay."""
        end = time.monotonic() + PATIENCE_S
        while True:
            answer = hang(*self.pids, "--json")
            if is_there(answer) or time.monotonic() > end:
                return answer
            time.sleep(0.2)


def of_rank(answer, rank):
    return next(p for p in answer["processes"] if p["rank"] == rank)


def waits_of(answer):
    return {(m["rank"], w["number"]) for w in answer["waits"] for m in w["members"] if m["part"] == "waits"}


def all_wait_but(*absent):
    return lambda answer: not answer["has_moved"] and {rank for rank, _ in waits_of(answer)} == {0, 1, 2} - set(absent)


@pytest.mark.parametrize("what, mark, doing", [
    ("sleep", "SLEEP", "waits in clock_nanosleep"),
    ("spin", "SPIN", "holds the GIL"),
    ("stop", "STOP", "is stopped by a signal"),
    ("loader", "NEXT", "hanging_job.py:%d (Data.__getitem__) and waits in clock_nanosleep" % line_of("LOADER")),
])
def test_a_rank_does_not_come(jobs, what, mark, doing):
    is_there = all_wait_but(1)
    lines = [line_of(mark)] + ([line_of(mark) + 1] if what == "spin" else [])
    with Job(jobs, what) as job:
        answer = job.when(lambda a: is_there(a) and any("rank 1 is at %s:%d " % (JOB, line) in a["text"] for line in lines) and doing in a["text"])
    assert answer["verdict"] == "missing" and answer["ranks"] == [1], answer["text"]
    assert (answer["kind"], answer["group"]) == ("all_reduce", "default_group")
    # from 0: four steps, the barrier, the last one; the loader ends after two
    assert answer["number"] == (2 if what == "loader" else 5)
    assert any("rank 1 is at %s:%d " % (JOB, line) in answer["text"] for line in lines), answer["text"]
    assert doing in answer["text"], answer["text"]
    assert of_rank(answer, 0)["steps"] == (2 if what == "loader" else 4)
    frames = of_rank(answer, 0)["threads"][0]["python"]
    assert [f["function"] for f in frames[-2:]] == ["main", "<module>"] and frames[-3]["function"] == "train"


def test_ranks_call_different_things(jobs):
    with Job(jobs, "mismatch") as job:
        answer = job.when(all_wait_but())
    assert answer["verdict"] == "mismatch" and answer["ranks"] == [1], answer["text"]
    assert "rank 1 calls broadcast of 4 float32 at %s:%d (odd)" % (JOB, line_of("MISMATCH")) in answer["text"]
    assert "the others call all_reduce of 4 float32 at %s:%d (train)" % (JOB, line_of("LAST")) in answer["text"]


def test_groups_wait_for_each_other(jobs):
    with Job(jobs, "cycle") as job:
        answer = job.when(all_wait_but())
    assert answer["verdict"] == "cycle" and sorted(answer["ranks"]) == [0, 1], answer["text"]
    for mark in "CYCLE", "FIRST":
        assert "%s:%d" % (JOB, line_of(mark)) in answer["text"]
    assert {"group_name_1", "group_name_2"} <= {w["group"] for w in answer["waits"]}


def test_a_call_that_nobody_waits_for_yet_has_come(jobs):
    """An asynchronous collective that rank 1 has issued is not what the others wait in: they wait in the next one."""
    with Job(jobs, "async") as job:
        answer = job.when(lambda a: all_wait_but(1)(a) and (0, 6) in waits_of(a))
    assert (answer["verdict"], answer["ranks"], answer["number"]) == ("missing", [1], 6), answer["text"]
    assert "rank 1 is at %s:%d (odd)" % (JOB, line_of("ASYNC")) in answer["text"]


def test_a_transfer_that_is_never_sent(jobs):
    with Job(jobs, "transfer") as job:
        answer = job.when(all_wait_but())
    transfer = next(w for w in answer["waits"] if w["is_transfer"])
    assert [(m["rank"], m["part"]) for m in transfer["members"]] == [(0, "missing"), (1, "waits")]
    assert transfer["members"][1]["call"]["line"] == line_of("RECV")


def test_a_rank_without_a_process(jobs):
    with Job(jobs, "dead") as job:
        answer = job.when(lambda a: a["ranks_without_dump"] == [1] and len(a["processes"]) >= 2)
    assert answer["verdict"] == "no_dump" and answer["ranks"] == [1], answer["text"]
    assert "has no process here" in answer["text"]


def test_collectives_of_cxx_are_known_by_places(jobs):
    """DistributedDataParallel's collectives are not noted: what is known is that one rank is elsewhere."""
    wanted = "rank 1: is at %s:%d (train)" % (JOB, line_of("DDP"))
    together = "ranks 0, 2: is at %s:%d (train)" % (JOB, line_of("BACKWARD"))
    with Job(jobs, "ddp") as job:
        answer = job.when(lambda a: not a["has_moved"] and wanted in a["text"] and together in a["text"])
    assert answer["verdict"] == "none" and wanted in answer["text"] and together in answer["text"], answer["text"]


def test_by_directory_and_as_text(jobs):
    with Job(jobs, "sleep") as job:
        job.when(all_wait_but(1))
        text = hang(job.place)
    assert text.startswith("Rank 1 did not come to all_reduce #5 of group default_group, where ranks 0, 2 wait at %s:%d (train)" % (JOB, line_of("LAST")))
    assert "main thread waits in clock_nanosleep\n      %s:%d (odd)\n" % (JOB, line_of("SLEEP")) in text
    assert "other thread" in text


def test_what_cannot_be_looked_at(tmp_path):
    program = os.environ["ASCOPE_PROGRAM"]
    nobody = subprocess.Popen(["true"])
    nobody.wait()
    with subprocess.Popen(["sleep", "1000"]) as sleeping:
        for word, said in ((str(nobody.pid), "there is none"), (str(sleeping.pid), "none of these processes runs Python"),
                           (str(tmp_path), "no process listens to it")):
            done = subprocess.run([program, "hang", word], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1, (word, done.stderr)
        sleeping.kill()


def test_the_supervisor_reports_a_hang(tmp_path):
    """Once, and the script goes on afterwards."""
    script = tmp_path / "train.py"
    script.write_text("import sys, torch\ntorch.ones(2) + 1\ndef stuck():\n    return sys.stdin.readline()\nprint(stuck())\n", encoding="utf-8")
    with subprocess.Popen([os.environ["ASCOPE_PROGRAM"], "run", "--device", "none", "--no-export", "--hang-after", "1", "--", sys.executable, script.name],
                          cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        seen = []
        for line in job.stderr:
            seen.append(line)
            if line.endswith("train.py:5 (<module>)\n"):
                break
        job.stdin.write("on\n")
        job.stdin.close()
        seen += job.stderr
        said = job.stdout.read()
    text = "".join(seen)
    assert job.returncode == 0 and said == "on\n\n", text
    assert text.count("train.py: no rank has made progress for 1 seconds") == 1, text
    assert "main thread waits in read\n" in text and "/train.py:4 (stuck)\n" in text, text
