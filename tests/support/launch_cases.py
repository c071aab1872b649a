# SPDX-License-Identifier: Apache-2.0
"""Jobs of six simulated ranks for tests of `ascope cluster --launcher`, and what must be reported of them."""
import json
import pathlib
import re
import shutil
import subprocess

from cluster_results import tables_of


class Launching:
    """Runs `ascope cluster` in an environment and counts what does not hold."""

    def __init__(self, ascope, top, environment):
        self.ascope, self.top, self.environment, self.failures = str(pathlib.Path(ascope).resolve()), pathlib.Path(top), environment, []

    def check(self, condition, what):
        print(f"  ok: {what[:100]!r}" if condition else f"  FAILED: {what}", flush=True)
        if not condition:
            self.failures.append(what)

    def run(self, *arguments, code=0, ascope=None):
        done = subprocess.run([ascope or self.ascope, "cluster", *map(str, arguments)], capture_output=True, text=True, env=self.environment)
        self.check(done.returncode == code, f"{arguments}: exit code {done.returncode} of {code} {done.stderr if done.returncode != code else ''}")
        return done

    def job(self, name, *options):
        job = self.top / name
        subprocess.run([self.ascope, "sim", "--ranks", "6", "--framework", "pt", "--kernels", "300", "--steps", "2", "--out", job, *options], check=True,
                       stdout=subprocess.DEVNULL)
        return job

    def results(self, out):
        """Rows of all tables, in any order: a rank that is counted twice has more."""
        tables = tables_of(out / "cluster_analysis_output/cluster_analysis.db")
        return {name: sorted(map(repr, table["rows"])) for name, table in tables.items()}

    def same_as_at_once(self, launcher, *options):
        """Any name of a directory: all of it goes through scripts for a shell."""
        (self.top / "line\nbreak").mkdir()
        (self.top / "link").symlink_to("line\nbreak")
        job, out = self.job("link/a job's \"$(touch spoiled)\" %j `now`"), self.top / "link/it's %A \\ out"
        self.run(job, "-o", self.top / f"at-once-{launcher}", "-m", "all,slow_rank")
        done = self.run(job, "-o", out, "-m", "all,slow_rank", "--launcher", launcher, *options)
        self.check(self.results(out) == self.results(self.top / f"at-once-{launcher}"), "results as without a launcher")
        self.check("6 ranks, 0 with losses, 0 left out" in done.stdout, f"the report is printed: {done.stdout}")
        self.check([file.name for file in out.iterdir()] == ["cluster_analysis_output"], "nothing else is left")
        self.check(not (self.top / "spoiled").exists() and not pathlib.Path("spoiled").exists(), "names are only names")
        return job

    def spoiled_ranks_have_a_line_each(self, launcher, *options):
        """A rank that ended with 3, a damaged summary, one of another version, a rank twice."""
        job = self.job(f"spoiled-{launcher}")
        ranks = {int(re.search(r"\d+", next(folder.glob("profiler_info_*.json")).name)[0]): folder for folder in job.iterdir()}
        lossy = next(ranks[1].glob("PROF_*/device_*/data/stars_soc.data.*.slice_0"))
        lossy.write_bytes(lossy.read_bytes()[:-5])
        subprocess.run([self.ascope, "analyse", "--summary", job, "--quiet"], capture_output=True)
        for rank, change in (2, lambda data: data[:len(data) // 2]), (3, lambda data: data[:8] + b"\x09" + data[9:]):
            file = ranks[rank] / f"ascope_rank_{rank}.summary"
            file.write_bytes(change(file.read_bytes()))
        older = re.sub(r"_2024\d+_", "_20230601030426000_", ranks[4].name)
        shutil.copytree(ranks[4], job / "older" / older, ignore=shutil.ignore_patterns("*.summary"))
        done = self.run(job, "-o", self.top / f"of-spoiled-{launcher}", "--json", "--launcher", launcher, *options, code=3)
        report = json.loads(done.stdout)
        notes = [note["text"] for note in report["notes"]]
        for what, words in (("a rank that ended with 3", "rank 1: 1 values or records of "), ("a damaged summary", "rank_2.summary"),
                            ("a summary of another version", "version 9"), ("a rank twice", "rank 4: in ")):
            self.check(len([note for note in notes if words in note]) == 1, f"{what} is one line: {notes}")
            self.check(done.stderr.count(words) == 1, f"{what} is one line of the messages: {done.stderr}")
        self.check([rank["rank"] for rank in report["job_ranks"]] == list(range(6)), "each rank is there once")
        self.check(report["ranks_read"] == 6 and report["ranks_with_losses"] == 1, "one has losses")
