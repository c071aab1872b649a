# SPDX-License-Identifier: Apache-2.0
"""dynamic_profile with several processes: real loops that `ascope dyn` triggers from outside, ranks, jobs that are killed, jobs side by side."""
import glob
import json
import os
import re
import subprocess
import time

import pytest

torch = pytest.importorskip("torch")

from dynamic_job import (ASCOPE, FAR, IDLE, POLL, READY, RUNNING, Job, ascope_dyn, collections, configure, listeners, log_of, step_until,  # noqa: E402
                         steps, steps_of, template, until, work, write)

from ascope import _core  # noqa: E402
from ascope.torch import dynamic_profile as dp  # noqa: E402


@pytest.fixture
def config(tmp_path):
    return str(tmp_path / "config")


@pytest.fixture
def start(tmp_path):
    """start(function, **env): a process of its own, which is killed at the end of the test at the latest."""
    jobs = []

    def begin(function, **env):
        jobs.append(Job(function, str(tmp_path), dict(POLL, **env), "job%d" % len(jobs)))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.kill()


def memory(config):
    """The memory that the jobs of a directory share, by their logs."""
    return set(re.findall(r"shared memory: (\S+)", "\n".join(log_of(config))))


def runs(config, end, each=work):
    """A job that listens, and steps until the file `end` is there."""

    def run():
        dp.init(config)
        while not os.path.exists(end):
            each()
            dp.step()
            time.sleep(0.001)

    return run


def directories_of(job, place):
    return [path for path in collections(place) if "_%d_" % job.pid in os.path.basename(path)]


# ---- four ranks ----

class Training:
    """A small network; the loss of each step, to the last bit."""

    def __init__(self, seed):
        torch.manual_seed(seed)
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.3), torch.nn.Linear(16, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.01)
        self.losses = []

    def step(self):
        self.optimizer.zero_grad()
        loss = self.net(torch.rand(4, 8)).square().mean()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item().hex())


RANKS = 4


def ranks_of_a_job(start, config, end, n=RANKS, is_by_environment=False):
    def rank(number):
        def run():
            dp.from_environment() if is_by_environment else dp.init(config)
            training = Training(number)
            while not os.path.exists(end):
                training.step()
                if not is_by_environment:
                    dp.step()
                time.sleep(0.001)
            write("losses%d" % number, " ".join(training.losses))

        return run

    env = {dp.VARIABLE: config} if is_by_environment else {}
    jobs = [start(rank(number), RANK=str(number), WORLD_SIZE=str(n), **env) for number in range(n)]
    until(lambda: len([one for one in listeners(config) if one["step"] > 2]) == n, "all ranks listen")
    return jobs


def without_profiling(start, number, n):
    def run():
        training = Training(number)
        for _ in range(n):
            training.step()
        write("plain%d" % number, " ".join(training.losses))

    start(run).end()


@pytest.mark.parametrize("is_by_environment", [False, True])
def test_the_chosen_ranks_record_the_same_steps_and_the_losses_are_those_without(start, config, tmp_path, is_by_environment):
    os.mkdir(config)
    end = str(tmp_path / "end")
    jobs = ranks_of_a_job(start, config, end, is_by_environment=is_by_environment)
    ascope_dyn(config, "start", "--steps", "3", "--warmup", "1", "--ranks", "1,3", "--stack", "--out", tmp_path / "out")
    report = json.loads(ascope_dyn(config, "wait", "--timeout", "100", "--json").stdout)
    assert sorted(one["rank"] for one in report["waited_for"]) == [1, 3] and {one["result"] for one in report["waited_for"]} == {"done"}
    ascope_dyn(config, "start", "--steps", "2", "--warmup", "0", "--out", tmp_path / "all")
    paths = re.findall(r"^rank (\d): (.*)$", ascope_dyn(config, "wait", "--timeout", "100").stdout, re.M)
    write(end, "")
    for job in jobs:
        job.end()
    recorded = [directories_of(job, tmp_path / "out") for job in jobs]
    assert list(map(len, recorded)) == [0, 1, 0, 1]
    assert steps_of(recorded[1][0]) == steps_of(recorded[3][0]) and len(steps_of(recorded[1][0])) == 3
    assert {one["path"] for one in report["waited_for"]} == {recorded[1][0], recorded[3][0]}
    assert {(one["start_step"] + 1, one["stop_step"]) for one in report["waited_for"]} == {(steps_of(recorded[1][0])[0], steps_of(recorded[1][0])[-1] + 1)}
    everything = [directories_of(job, tmp_path / "all") for job in jobs]
    assert list(map(len, everything)) == [1] * RANKS and len({tuple(steps_of(path)) for path, in everything}) == 1
    assert dict(paths) == {str(number): path for number, (path,) in enumerate(everything)}
    for number in range(RANKS):
        losses = (tmp_path / ("losses%d" % number)).read_text()
        without_profiling(start, number, len(losses.split()))
        assert (tmp_path / ("plain%d" % number)).read_text() == losses


def test_waiting_includes_the_analysis_and_ends_with_it(start, config, tmp_path):
    end = str(tmp_path / "end")
    job = start(runs(config, end))
    until(lambda: len(listeners(config)) == 1)
    ascope_dyn(config, "start", "--steps", "2", "--analyse", "--out", tmp_path / "out")
    (result,) = json.loads(ascope_dyn(config, "wait", "--timeout", "100", "--json").stdout)["waited_for"]
    assert (result["result"], result["reason"]) == ("done", None)
    assert os.path.exists(os.path.join(result["path"], "ASCEND_PROFILER_OUTPUT", "analyse.done"))
    assert len(listeners(config)) == 1  # the job goes on
    write(end, "")
    job.end()


# ---- processes that end ----

def test_the_others_go_on_when_the_one_that_watches_ends_or_is_killed(start, config, tmp_path):
    ends = [str(tmp_path / ("end%d" % i)) for i in range(3)]
    jobs = []
    for i in range(3):
        jobs.append(start(runs(config, ends[i]), RANK=str(i)))
        until(lambda: len(listeners(config)) == i + 1)
    write(ends[0], "")
    jobs[0].end()
    ascope_dyn(config, "start", "--steps", "1", "--out", tmp_path / "two")
    ascope_dyn(config, "wait", "--timeout", "100")
    jobs[1].kill()
    until(jobs[1].ended)
    assert [one["rank"] for one in listeners(config)] == [2]
    ascope_dyn(config, "start", "--out", tmp_path / "one")
    ascope_dyn(config, "wait", "--timeout", "100")
    write(ends[2], "")
    jobs[2].end()
    assert [len(collections(tmp_path / name)) for name in ("two", "one")] == [2, 1]


def test_after_a_kill_of_all_the_next_start_works_and_leaves_nothing(start, config, tmp_path):
    """The memory is left until a job starts, here or (another test beside this one) elsewhere, and finds nobody holding it."""
    end = str(tmp_path / "end")
    jobs = [start(runs(config, end), RANK=str(i)) for i in range(2)]
    until(lambda: len(listeners(config)) == 2)
    for job in jobs:
        job.kill()
        until(job.ended)
    left, = memory(config)
    assert listeners(config) == []
    assert "listens" in ascope_dyn(config, "start", code=1).stderr
    again = start(runs(config, end), RANK="0")
    until(lambda: [one["step"] > 0 for one in listeners(config)] == [True])
    ascope_dyn(config, "start", "--steps", "2")
    ascope_dyn(config, "wait", "--timeout", "100")
    write(end, "")
    again.end()
    assert len(collections(tmp_path)) == 1 and memory(config) == {left} and not os.path.exists(left)


def test_the_memory_that_a_killed_job_left_in_another_directory_is_removed(start, config, tmp_path):
    job = start(runs(config, str(tmp_path / "never")))
    until(lambda: listeners(config))
    job.kill()
    until(job.ended)
    left, = memory(config)
    start(lambda: dp.init(config + "2")).end()
    assert not any(map(os.path.exists, {left, *memory(config + "2")}))


def test_memory_of_another_form_does_not_stop_a_job(start, config, tmp_path):
    """What is there under the name is no board, or belongs to nobody: the job listens all the same."""
    job = start(runs(config, str(tmp_path / "end")))
    until(lambda: listeners(config))
    name, = memory(config)
    job.kill()
    until(job.ended)
    with open(name, "wb") as f:
        f.write(b"something else" * 10)

    def run():
        dp.init(config)
        configure(config, start_step=-1)
        step_until(RUNNING)
        steps(1)

    start(run).end()
    assert len(collections(tmp_path)) == 1
    if os.path.exists(name):
        os.remove(name)


# ---- jobs side by side ----

def test_two_jobs_in_one_directory_both_obey_it_and_two_directories_do_not_meet(start, config, tmp_path):
    end = str(tmp_path / "end")
    first, second = (start(runs(config, end)) for _ in range(2))
    other = start(runs(config + "2", end))
    until(lambda: len(listeners(config)) == 2 and len(listeners(config + "2")) == 1)
    ascope_dyn(config, "start", "--steps", "1")
    ascope_dyn(config, "wait", "--timeout", "100")
    write(end, "")
    for job in (first, second, other):
        job.end()
    assert [len(directories_of(job, tmp_path)) for job in (first, second, other)] == [1, 1, 0]


def test_rank_list(start, config, tmp_path):
    """Ranks that are not in it ignore the file, and keep a request that waits; an empty list is for nobody."""

    def run():
        dp.init(config)
        configure(config, start_step=FAR, prof_dir="waits")
        step_until(READY)
        for ranks in [], [7], [1, "2"], "2", None:
            n = len(log_of(config, "monitor_dp", "load json success"))
            configure(config, start_step=-1, is_rank=True, rank_list=ranks, prof_dir="others")
            until(lambda: len(log_of(config, "monitor_dp", "load json success")) > n)
            steps(3)
            assert _core.dynamic_state() == READY
        configure(config, rank_list=["x", -1, 2.5, 2], prof_dir="mine")
        step_until(RUNNING)
        steps(1)

    start(run, RANK="2").end()
    assert len(collections(tmp_path / "mine")) == 1
    assert not (tmp_path / "others").exists() and not (tmp_path / "waits").exists()


def test_a_forked_child_neither_listens_nor_counts(start, config, tmp_path):
    def run():
        dp.init(config)
        steps(3)
        child = os.fork()
        if child == 0:
            dp.step()
            os._exit(len(listeners(config)))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        configure(config, start_step=-1)
        step_until(RUNNING)
        steps(1)

    start(run).end()
    assert len(collections(tmp_path)) == 1


# ---- ascope dyn ----

def test_status(start, config, tmp_path):
    end = str(tmp_path / "end")
    job = start(runs(config, end), RANK="5")
    until(lambda: [one["step"] > 0 for one in listeners(config)] == [True])
    one, = listeners(config)
    assert one == dict(host=os.uname().nodename, age_s=0, pid=job.pid, rank=5, state="idle", step=one["step"], start_step=None, stop_step=None, request="none",
                       done=0, last=None)
    for arguments in [config], [config, "status"]:
        text = ascope_dyn(*arguments).stdout
        assert "1 process listens" in text and re.search(r"^ +5 +%d +[\d,]+  idle$" % job.pid, text, re.M)
    ascope_dyn(config, "start", "--start-step", FAR)
    until(lambda: listeners(config)[0]["state"] == "waiting")
    assert "waits for step %d" % FAR in ascope_dyn(config).stdout
    ascope_dyn(config, "start", "--steps", 100000000)
    until(lambda: listeners(config)[0]["state"] == "recording")
    assert "records, until step" in ascope_dyn(config).stdout
    ascope_dyn(config, "stop")
    until(lambda: listeners(config)[0]["state"] == "idle")
    one, = listeners(config)
    path, = collections(tmp_path)
    assert one["done"] == 1 and one["last"] == path and one["request"] == "off"
    assert "last: " + path in ascope_dyn(config).stdout
    write(end, "")
    job.end()
    assert "no process" in ascope_dyn(config, code=1).stderr


def test_start_keeps_what_the_user_wrote(start, config, tmp_path):
    end = str(tmp_path / "end")
    job = start(runs(config, end), RANK="0")
    until(lambda: listeners(config))
    file = config + "/profiler_config.json"
    write(file, '{"mine": 0.1, "metadata": {"b": [1, 2.5e-7], "a": "\\u00e9\\n"}, "with_modules": true, "experimental_config": {"l2_cache": true, '
                '"profiler_level": "Level2"}, "start_step": 0, "stop": true}')
    os.chmod(file, 0o604)
    ascope_dyn(config, "start", "--steps", "4", "--level", "Level1", "--start-step", FAR, "--profile_memory=true", "--export-type", "text,db",
               "--gc-detect-threshold", "1.5", "--metadata={\"run\": 7}", "--out", "here")
    with open(file) as f:
        text = f.read()
    assert json.loads(text) == {
        "mine": 0.1, "metadata": {"run": 7}, "with_modules": True, "start_step": FAR, "active": 4, "is_rank": False, "profile_memory": True, "prof_dir": os.getcwd() + "/here",
        "experimental_config": {"l2_cache": True, "profiler_level": "Level1", "export_type": ["text", "db"], "gc_detect_threshold": 1.5}}
    assert text.startswith('{\n    "mine": 0.1,\n    "metadata": {') and os.stat(file).st_mode & 0o777 == 0o604
    assert sorted(os.listdir(config)) == ["log", "profiler_config.json"]
    until(lambda: listeners(config)[0]["state"] == "waiting")
    for words, ranks in [([], "all ranks that listen"), (["--ranks", "0"], "rank 0"), (["--ranks=0-0"], "rank 0"), (["--ranks", "0,0"], "ranks 0,0")]:
        done = ascope_dyn(config, "start", "--start-step", FAR, *words)
        assert done.stdout.startswith("requested: 4 steps, from step %s, of %s\nwritten: " % (FAR, ranks)), done.stdout
    write(end, "")
    job.end()


REFUSED = {
    "a rank that does not listen": (["start", "--ranks", "0,3"], 1, "rank 3"),
    "a step that has passed": (["start", "--start-step", "1"], 1, "rank 0 is at step"),
    "no rank": (["start", "--ranks", "x"], 2, "--ranks x"),
    "an empty list of ranks": (["start", "--ranks", ""], 2, '--ranks ""'),
    "a range from back to front": (["start", "--ranks", "3-1"], 2, "3-1"),
    "a level": (["start", "--level", "Level7"], 2, "Level7"),
    "no steps": (["start", "--steps", "0"], 2, "--steps 0"),
    "a value of a key": (["start", "--with_flops=maybe"], 2, "--with_flops=maybe"),
    "a value of a counter group": (["start", "--aic_metrics=Nothing"], 2, "PipeUtilization"),
    "a key that there is not": (["start", "--ring_kb=64"], 2, "--ring_kb=64"),
    "a verb": (["starts"], 2, "did you mean start"),
    "too many words": (["start", "now"], 2, "ascope help dyn"),
    "waiting for nothing": (["wait"], 1, "no profiling"),
}


def test_what_cannot_be_is_refused_and_nothing_is_written(start, config, tmp_path):
    end = str(tmp_path / "end")
    job = start(runs(config, end), RANK="0")
    until(lambda: [one["step"] > 2 for one in listeners(config)] == [True])
    before = open(config + "/profiler_config.json").read()
    for what, (arguments, code, part) in REFUSED.items():
        done = ascope_dyn(config, *arguments, code=code)
        assert part in done.stderr and done.stderr.count("\n") == 1 and done.stdout == "", (what, done.stderr)
        assert open(config + "/profiler_config.json").read() == before, what
    write(config + "/profiler_config.json", "{\n\n  oops")
    assert "line 3" in ascope_dyn(config, "start", code=1).stderr
    assert open(config + "/profiler_config.json").read() == "{\n\n  oops"
    os.remove(config + "/profiler_config.json")
    ascope_dyn(config, "start", "--steps", "1")
    ascope_dyn(config, "wait", "--timeout", "100")
    write(end, "")
    job.end()
    assert "no such directory" in ascope_dyn(tmp_path / "nowhere", code=2).stderr
    assert "not a directory" in ascope_dyn(end, code=2).stderr


def test_wait_reports_ranks_without_a_result(start, config, tmp_path):
    ends = [str(tmp_path / name) for name in ("end0", "end1")]
    write(tmp_path / "file", "")
    jobs = [start(runs(config, ends[i]), RANK=str(i)) for i in range(2)]
    until(lambda: len([one for one in listeners(config) if one["step"] > 0]) == 2)
    ascope_dyn(config, "start", "--out", tmp_path / "file/below")
    assert ascope_dyn(config, "wait", "--timeout", "100", code=1).stdout.count("no result: the collection could not begin") == 2
    ascope_dyn(config, "start", "--out", tmp_path / "out", "--start-step", FAR)
    assert ascope_dyn(config, "wait", "--timeout", "1", code=1).stdout.count("no result: not within --timeout") == 2
    ascope_dyn(config, "start", "--steps", 100000000)
    until(lambda: {one["state"] for one in listeners(config)} == {"recording"})
    jobs[0].kill()
    until(jobs[0].ended)
    report = json.loads(ascope_dyn(config, "wait", "--timeout", "1", "--json", code=1).stdout)
    assert [one["result"] for one in report["waited_for"]] == ["open"]
    write(ends[1], "")
    jobs[1].end()


def test_wait_finds_what_a_job_wrote_that_has_ended(start, config, tmp_path):
    """The collection is cut by the end of the job, which comes while somebody waits."""
    end = str(tmp_path / "end")
    job = start(runs(config, end), RANK="0")
    until(lambda: [one["step"] > 0 for one in listeners(config)] == [True])
    ascope_dyn(config, "start", "--steps", 100000000)
    until(lambda: [one["state"] for one in listeners(config)] == ["recording"])
    waiting = subprocess.Popen([ASCOPE, "dyn", config, "wait"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert waiting.stderr.readline() == "waiting for 1 process\n"
    write(end, "")
    job.end()
    path, = collections(tmp_path)
    text = waiting.communicate()[0]
    assert waiting.returncode == 3 and text.startswith("rank 0: %s; " % path) and "ended before its last step" in text


def test_a_request_from_before_the_job_is_not_waited_for(start, config, tmp_path):
    end = str(tmp_path / "end")
    os.mkdir(config)
    write(config + "/profiler_config.json", '{"start_step": -1}')
    job = start(runs(config, end))
    until(lambda: listeners(config))
    assert "older than the job" in ascope_dyn(config, "wait", code=1).stdout
    write(end, "")
    job.end()


def test_ranks_of_other_hosts_are_known_by_the_files_that_these_write(start, config, tmp_path):
    """A job with more ranks than listen here writes one, and removes it at its end. One of another host is this one, renamed."""
    end, host = str(tmp_path / "end"), os.uname().nodename
    job = start(runs(config, end), RANK="0", WORLD_SIZE="2")
    file = config + "/.ascope_status_" + host
    until(lambda: os.path.exists(file) and [one["step"] > 0 for one in listeners(config)] == [True])
    other = config + "/.ascope_status_node7"
    with open(file) as f:
        write(other, f.read().replace("\n0 ", "\n8 "))
    here, there = listeners(config)
    assert (here["rank"], here["host"], here["age_s"]) == (0, host, 0) and (there["rank"], there["host"], there["state"]) == (8, "node7", "idle")
    text = ascope_dyn(config).stdout
    assert "2 processes listen" in text and "idle; on node7" in text
    assert "ranks that do: 0, 8" in ascope_dyn(config, "start", "--ranks", "1", code=1).stderr
    ascope_dyn(config, "start", "--ranks", "8", "--start-step", there["step"] + 1)  # of the ranks that are asked for, which are behind here
    os.utime(other, (1000000000, 1000000000))
    assert [one["rank"] for one in listeners(config)] == [0]  # it has not been written for a long time
    for junk in b"", b"ascope status 1 poll_ms x", b"ascope status 1 poll_ms 5\n1 2 3\n\xff\n", b"\0" * 5000:
        with open(other, "wb") as f:
            f.write(junk)
        assert [one["rank"] for one in listeners(config)] == [0]
    write(end, "")
    job.end()
    assert not [name for name in os.listdir(config) if name.startswith(os.path.basename(file))]
