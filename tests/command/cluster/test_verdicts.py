#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope cluster`: verdicts about simulated jobs with planted faults, and none about healthy ones.

bench/detect.py does the same with many jobs.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from cluster_results import check, failures  # noqa: E402
from detect import KINDS, measure  # noqa: E402

ASCOPE = sys.argv[1]


def run(*arguments, code=0):
    done = subprocess.run([ASCOPE, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        failures.append(f"{arguments}: exit code {done.returncode}, expected {code}")
        print(done.stdout, done.stderr)
    return done.stdout


def one_fault_of_each_kind_is_found():
    count = measure(ASCOPE, len(KINDS), verbose=True)
    for kind, n in count.items():
        check(n["found"] == n["planted"] and n["false"] == 0, f"{kind}: {n['found']} of {n['planted']}, {n['false']} false")


def sentences_have_numbers(top):
    """Several faults at once: each has its line, and its numbers in JSON; the critical path goes through the slow rank."""
    run("sim", "--framework", "pt", "--ranks", 8, "--tp", 2, "--pp", 2, "--kernels", 2400, "--steps", 5, "--samplers=off", "--out", top / "job",
        "--slow-rank", "3:1.5", "--clock-offset", "6:2ms", "--stall", "2:30ms:5")
    text = run("cluster", top / "job", "-o", top / "out")
    check(re.search(r"rank 3 is slow in each step: .* computing\n    with as many kernels; it is compared with the 4 ranks of its stage; in collectives", text),
          f"the slow rank: {text}")
    found = json.loads(run("cluster", top / "job", "-m", "verdicts", "--json", "--export-type", "text", "-o", top / "of"))
    kinds = {verdict["kind"]: verdict for verdict in found["verdicts"]}
    check(set(kinds) == {"slow_rank", "clock_offset", "late_host"} and len(found["verdicts"]) == 3, f"three verdicts: {sorted(kinds)}")
    check(abs(kinds["slow_rank"]["ratio"] - 1.5) < 0.02 and kinds["slow_rank"]["ms"] > 0.1, "the slow rank: 1.5 times, and what it costs")
    check(abs(kinds["clock_offset"]["ms"] - 2) < 0.01 and kinds["clock_offset"]["rank"] == 6, "the clock: 2 ms ahead")
    check(kinds["late_host"]["rank"] == 5 and kinds["late_host"]["step"] == "2" and 15 < kinds["late_host"]["ms"] < 31, "the late host")
    with open(top / "of/cluster_analysis_output/Verdicts/verdicts.csv", newline="") as file:
        check([row["kind"] for row in csv.DictReader(file)] == [v["kind"] for v in found["verdicts"]], "the same as a table")
    path = found["critical_path"]
    longest = path["parts"][0]
    check(path["step"] == "2" and longest["kind"] == "free" and longest["rank"] == 5, f"the slowest step waits for the host: {longest}")
    check(0 < longest["saved_ns"] <= longest["ns"] <= path["ns"], "what it costs is at most its length")
    check(sum(part["ns"] for part in path["parts"]) <= path["ns"], "parts are no longer than the path")
    other = json.loads(run("cluster", top / "job", "-m", "verdicts", "--json", "--step", 4, "-o", top / "of"))["critical_path"]
    check(other["step"] == "4" and (other["parts"][0]["kind"], other["parts"][0]["rank"]) == ("computing", 3), "another step: the slow rank")
    slow = [next(v for v in json.loads(run("cluster", top / "job", "-m", "verdicts", "--json", *step, "-o", top / "of"))["verdicts"]
                 if v["kind"] == "slow_rank") for step in ((), ("--step", 4))]
    check(abs(slow[1]["ms"] / slow[0]["ms"] - 1) < 0.1 and "rank 3 is slow in step 4: " in slow[1]["text"], f"the waits of one step: {slow}")
    check(run("cluster", top / "job", "-m", "verdicts", "--json", "-o", top / "of", "--ranks", "0-3,7").count('"clock_offset"') == 0,
          "only ranks that are asked for")


def a_host_that_begins_late_is_found_in_every_form(top):
    """Free time has other limits in databases than in text: there it lacks the time before the first kernel of a step."""
    for form in "collection", "db", "text":
        job = top / f"late-{form}"
        run("sim", "--framework", "pt", "--ranks", 4, "--tp", 2, "--kernels", 1200, "--steps", 5, "--samplers=off", "--out", job, "--late-host", "3:2ms")
        if form != "collection":
            run("analyse", job, "--export-type", form, "-q")
        found = json.loads(run("cluster", job, "-m", "verdicts", "--json", "-o", top / "of"))
        check({rank["source"] for rank in found["job_ranks"]} == {form}, f"ranks are read from {form}")
        check([(v["kind"], v["rank"], v["step"]) for v in found["verdicts"]] == [("late_host", 3, None)] and
              abs(found["verdicts"][0]["ms"] - 2) < 0.02 and "its host is late" in found["verdicts"][0]["about"],
              f"{form}: 2 ms late in each step: {found['verdicts']}")
        one = json.loads(run("cluster", job, "-m", "verdicts", "--json", "--step", 0, "-o", top / "of"))["verdicts"]
        check([(v["kind"], v["rank"]) for v in one] == [("late_host", 3)], f"{form}: in the first step, too: {one}")


def other_collections_than_those_of_pytorch(top):
    """MindSpore has the same verdicts; PROF directories know no steps but marks (from 1 on); databases of both do not know kinds of operators."""
    for framework in "ms", "none":
        job = top / framework
        run("sim", "--framework", framework, "--ranks", 8, "--tp", 2, "--pp", 2, "--kernels", 1600, "--steps", 4, "--samplers=off",
            "--slow-rank", "3:1.6", "--slow-link", "0-1:0.2", "--slow-step", "2:4", "--out", job)
        wanted = {("slow_rank", 3, None), ("slow_link", 0, None)} | {("slow_step", None, "2" if framework == "ms" else "3")}
        for source in "collection", "db":
            if source == "db" and framework == "ms":
                run("analyse", *sorted(job.iterdir()), "--export-type", "db", "-q")
            elif source == "db":
                for prof in sorted(job.iterdir()):
                    run("export", "db", "-dir", prof, "--quiet")
                    run("communication", prof, "--quiet")
            found = json.loads(run("cluster", job, "-m", "verdicts", "--json", "-o", top / "of"))
            check({rank["source"] for rank in found["job_ranks"]} == {source}, f"{framework}: ranks are read from {source}")
            links = [v for v in found["verdicts"] if v["kind"] == "slow_link"]
            check(all(v["ms"] > 0 and re.search(r", up to [\d.]+ [mu]s longer in all$", v["text"]) for v in links) and links, f"what the link costs: {links}")
            kinds = {(v["kind"], v["rank"], v["step"]) for v in found["verdicts"]}
            check(kinds == wanted, f"{framework}, {source}: {found['verdicts']}")
            slow = next((v["text"] for v in found["verdicts"] if v["kind"] == "slow_rank"), "")
            check(" step" in slow, f"the time of a step: {slow}")
            peers = next((v["about"] or "" for v in found["verdicts"] if v["kind"] == "slow_rank"), "")
            check(("the 4 ranks of its stage" in peers) == (framework == "ms"), f"{framework}, {source}: its peers: {peers}")
    for database in (top / "none").rglob("communication_analyzer.db"):
        database.unlink()
    found = json.loads(run("cluster", top / "none", "-m", "verdicts", "--json", "-o", top / "of"))
    check(any("links are not compared" in note for note in found["mode_notes"]), f"links that are not known are no good links: {found['mode_notes']}")


def what_does_not_match_is_reported(top):
    run("sim", "--framework", "pt", "--ranks", 4, "--tp", 2, "--kernels", 600, "--samplers=off", "--out", top / "gap", "--missing-rank", 2)
    found = json.loads(run("cluster", top / "gap", "-m", "verdicts", "--json", "-o", top / "of", code=3))
    check([(v["kind"], v["rank"]) for v in found["verdicts"]] == [("collectives_differ", 2)], f"a missing rank: {found['verdicts']}")
    for path in sorted((top / "gap").iterdir())[:1]:
        path.rename(top / "longer")
    run("sim", "--framework", "pt", "--ranks", 4, "--tp", 2, "--kernels", 1000, "--steps", 5, "--samplers=off", "--out", top / "five")
    for path in sorted((top / "five").iterdir())[:1]:
        path.rename(top / "gap" / path.name)
    found = json.loads(run("cluster", top / "gap", "-m", "verdicts", "--json", "-o", top / "of", code=3))
    kinds = {(v["kind"], v["rank"]) for v in found["verdicts"]}
    check(("steps_differ", 0) in kinds, f"a rank with other steps: {kinds}")


def waits_are_not_longer_than_what_they_wait_for(top):
    """Collectives that wait beside kernels cost nothing; a stall in one step does not count in all of them."""
    run("sim", "--framework", "pt", "--ranks", 16, "--tp", 4, "--kernels", 5760, "--seed", 29, "--samplers=off", "--out", top / "beside",
        "--slow-rank", "12:1.2", "--steps", 4, "--stall", "1:30ms:13")
    slow = next(v for v in json.loads(run("cluster", top / "beside", "-m", "verdicts", "--json", "-o", top / "of"))["verdicts"] if v["kind"] == "slow_rank")
    longer = [float(n) for n in re.findall(r"([0-9.]+) ms", slow["text"])]
    check(slow["rank"] == 12 and 0 < slow["ms"] < 1.1 * (longer[0] - longer[1]), f"others wait for what it computes longer: {slow}")


def of_two_clocks_neither_is_right(top):
    run("sim", "--framework", "pt", "--ranks", 2, "--kernels", 240, "--steps", 4, "--samplers=off", "--out", top / "clocks", "--clock-offset", "0:-2ms")
    text = run("cluster", top / "clocks", "-m", "verdicts", "-o", top / "of")
    check("clock of rank 1 is 2.000 ms ahead of that of rank 0, " in text, f"the difference of two clocks: {text}")


def hosts_alone_are_compared_as_by_why(top):
    """The first step is start-up: neither it nor the rank that takes longest for it is slow. A fault is found by both commands."""
    run("sim", "--framework", "pt", "--ranks", 2, "--kernels", 0, "--samplers=off", "--out", top / "hosts")
    text, why = run("cluster", top / "hosts", "-m", "verdicts", "-o", top / "of"), run("why", top / "hosts")
    same = re.search(r"no step is slow, and no rank: what differs is within the noise of the run \([0-9.]+ % of a step[^)]*\)", why)
    check(same and same[0] in text, f"nothing is slow: {text}{why}")
    same = re.search(r"start-up: step 0 .*; left out", why)
    check(same and same[0] in text, f"the start-up: {text}{why}")
    found = json.loads(run("cluster", top / "hosts", "-m", "verdicts", "--json", "-o", top / "of"))
    check(found["verdicts"] == [] and found["has_compared"] is True and found["start_up"] == (same and same[0]), f"the same as JSON: {found}")


def nothing_compared_is_not_nothing_wrong(top):
    run("sim", "--framework", "pt", "--ranks", 1, "--kernels", 0, "--steps", 1, "--samplers=off", "--out", top / "one")
    found = json.loads(run("cluster", top / "one", "-m", "verdicts", "--json", "-o", top / "of"))
    check({v["kind"] for v in found["verdicts"]} <= {"collectives_differ"} and found["has_compared"] is False, f"one rank of one step: {found}")


def main():
    one_fault_of_each_kind_is_found()
    with tempfile.TemporaryDirectory() as top:
        sentences_have_numbers(pathlib.Path(top))
        what_does_not_match_is_reported(pathlib.Path(top))
        a_host_that_begins_late_is_found_in_every_form(pathlib.Path(top))
        other_collections_than_those_of_pytorch(pathlib.Path(top))
        waits_are_not_longer_than_what_they_wait_for(pathlib.Path(top))
        of_two_clocks_neither_is_right(pathlib.Path(top))
        hosts_alone_are_compared_as_by_why(pathlib.Path(top))
        nothing_compared_is_not_nothing_wrong(pathlib.Path(top))
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
