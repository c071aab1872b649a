#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind of input with every command that explains: each answers, or says in one line what is missing and what to run instead, as the table in
docs/inputs.md has it. The same run gives the same answer in every form.

usage: test_inputs_matrix.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import gzip
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import made_nsys
from cli_case import ASCOPE, SOURCE, Case

RANKS, STEPS, SLOW, STALL = 4, 8, 2, 5
LEFT = {  # of the results of a rank, which files stay
    "databases": ("*.db",), "text": ("*.json", "*.csv"), "timeline": ("trace_view.json",),
    "tables": ("*.csv", "communication*.json"), "kernels": ("kernel_details.csv",),
}


def one_step(rank, step, begin):
    """A step of a job on GPUs: in each layer kernels, and an all_reduce whose members end together. -> events, its time in us"""
    events, host, layers = [], begin, 3
    device = [begin + 30.] * RANKS
    process = 100 + rank

    def put(name, category, at, dur, pid=process, tid=process, **args):
        events.append({"ph": "X", "pid": pid, "tid": tid, "name": name, "cat": category, "ts": round(at, 3), "dur": round(dur, 3), "args": args})

    if step == STALL:
        if rank == 1:
            put("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation", host, 3000)
            host += 3000
        device[1] += 3000
    for layer in range(layers):
        key = (step * layers + layer) * 2
        kernel = [200 + (7 * step + 3 * layer + 5 * r) % 4 for r in range(RANKS)]
        kernel[SLOW] *= 1.4
        ends = [device[r] + kernel[r] for r in range(RANKS)]
        group = {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000000, "Out msg nelems": 1000000, "Group size": RANKS,
                 "Process Group Name": "0", "Process Group Ranks": str(list(range(RANKS)))}
        for i, (name, at, dur, stream, more) in enumerate((
                ("sgemm_128x128", device[rank], kernel[rank], 7, {}),
                ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", ends[rank] + 2, max(ends) + 80 - ends[rank], 20, group))):
            put(("aten::mm", "record_param_comms")[i], "cpu_op", host, 10, **{"External id": key + i}, **more)
            put("cudaLaunchKernel", "cuda_runtime", host + 3, 5, correlation=key + i, **{"External id": key + i})
            put(name, "kernel", at, dur, pid=0, tid=stream, correlation=key + i, stream=stream, device=0, **{"External id": key + i}, **more)
            host += 12
        device = [max(ends) + 84.] * RANKS
    end = device[rank] + 20
    put("ProfilerStep#%d" % step, "user_annotation", begin, end - begin - 1)
    return events, end - begin


def torch_trace(rank):
    events, at = [], 1_700_000_000_000_000.
    for step in range(STEPS):
        more, time = one_step(rank, step, at)
        events += more
        at += time
    for pid, label in ((100 + rank, "CPU"), (0, "GPU 0")):
        events += [{"ph": "M", "name": what, "pid": pid, "tid": 0, "ts": 0, "args": {key: text}}
                   for what, key, text in (("process_name", "name", "python"), ("process_labels", "labels", label))]
    groups = [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": RANKS, "ranks": list(range(RANKS))}]
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS, "pg_config": groups}, "traceEvents": events}


def host_trace(rank):
    """A rank of a job on hosts: operators, and an all_reduce of gloo in which the others wait for rank 1."""
    events, at = [], 1_700_000_000_000_000.
    for step in range(STEPS):
        work = [2000 + (7 * step + 5 * r) % 9 for r in range(3)]
        work[1] *= 1.25
        end = max(work) + 100
        for name, category, begin, dur, tid in (("ProfilerStep#%d" % step, "cpu_op", 0, end + 20, 1), ("aten::mm", "cpu_op", 10, work[rank] - 20, 1),
                                                ("gloo:all_reduce", "cpu_op", work[rank], end - work[rank], 2)):
            events.append({"ph": "X", "pid": 50, "tid": tid, "name": name, "cat": category, "ts": round(at + begin, 3), "dur": round(dur, 3), "args": {}})
        at += end + 30
    return {"distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 4}, "traceEvents": events}


class Inputs(Case):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="ascope inputs é ")
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.run_quietly("sim", "--out", cls.at("raw"), "--framework", "pt", "--ranks", str(RANKS), "--tp", "2", "--dp", "2", "--kernels", "600",
                        "--steps", str(STEPS), "--slow-rank", "%d:1.4" % SLOW, "--stall", "%d:30ms:1" % STALL)
        shutil.copytree(cls.at("raw"), cls.at("analysed"))
        cls.run_quietly("analyse", cls.at("analysed"), "--export-type", "text,db", "--no-sync", "-q")
        for form, patterns in LEFT.items():
            for i in range(RANKS):
                cls.results(i, form, patterns)
        for i, form in enumerate(("raw", "databases", "text", "timeline")):
            shutil.copytree(cls.rank(i, form), cls.at("mixture", os.path.basename(cls.rank(i))))
        shutil.copytree(os.path.join(cls.rank(0, "text"), "ASCEND_PROFILER_OUTPUT"), cls.at("alone", "ASCEND_PROFILER_OUTPUT"))
        os.makedirs(cls.at("traces"))
        for i in range(RANKS):
            with open(cls.at("traces", "host_%d.1700000000000.pt.trace.json" % i), "w", encoding="utf-8") as f:
                json.dump(torch_trace(i), f)
        os.makedirs(cls.at("nothing"))
        with open(cls.at("nothing", "notes.txt"), "w", encoding="utf-8") as f:
            f.write("nothing")
        os.makedirs(cls.at("dumps"))
        for i in range(2):
            with open(cls.at("dumps", "nccl_trace_rank_%d" % i), "wb") as f:
                pickle.dump({"version": "2.10", "entries": [], "pg_status": {}, "pg_config": {"0": {"name": "0", "desc": "", "ranks": "[0, 1]"}}}, f)
        cls.more_forms()

    @classmethod
    def more_forms(cls):
        small = ["--kernels", "200", "--steps", "3", "--ranks", "2"]
        cls.run_quietly("sim", "--out", cls.at("ms"), "--framework", "ms", *small)
        cls.run_quietly("sim", "--out", cls.at("prof"), *small)
        cls.run_quietly("sim", "--out", cls.at("host"), "--framework", "pt", "--ranks", "2", "--kernels", "0", "--operators", "1200", "--steps", "6",
                        "--stall", "4:3ms:1")
        for i in range(RANKS):
            trace = cls.at("traces", "host_%d.1700000000000.pt.trace.json" % i)
            for folder, name in (("names", "part%d.json" % i), ("pftrace", "rank%d.pftrace" % i), ("gz", os.path.basename(trace) + ".gz"), ("nsys", "rank_%d.sqlite" % i), ("summaries", "")):
                os.makedirs(cls.at(folder), exist_ok=True)
                if folder == "names":
                    shutil.copy(trace, cls.at(folder, name))
                elif folder == "gz":
                    with open(trace, "rb") as f, gzip.open(cls.at(folder, name), "wb") as g:
                        g.write(f.read())
                elif folder == "nsys":
                    made_nsys.write(cls.at(folder, name), torch_trace(i))
                elif folder == "pftrace":
                    cls.run_quietly("export-trace", cls.rank(i, "raw"), cls.at(folder, name))
        cls.run_quietly("analyse", cls.at("analysed"), "--summary", "--no-sync", "-q")
        for summary in glob.glob(glob.escape(cls.at("analysed")) + "/*/*.summary"):
            shutil.move(summary, cls.at("summaries"))

    @classmethod
    def at(cls, *parts):
        return os.path.join(cls.root, *parts)

    @classmethod
    def run_quietly(cls, *words):
        subprocess.run([ASCOPE, *words], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def rank(cls, i, form="analysed"):
        """The directory of a rank; that of a form of it has the same name."""
        one, = [d for d in glob.glob(glob.escape(cls.at("raw")) + "/*") if os.path.exists(os.path.join(d, "profiler_info_%d.json" % i))]
        return cls.at(form, os.path.basename(one))

    @classmethod
    def results(cls, i, form, patterns):
        output = os.path.join(cls.rank(i, form), "ASCEND_PROFILER_OUTPUT")
        os.makedirs(output)
        files = [f for p in patterns for f in glob.glob(glob.escape(cls.rank(i) + "/ASCEND_PROFILER_OUTPUT") + "/" + p)]
        for f in files + glob.glob(glob.escape(cls.rank(i)) + "/profiler_*.json"):
            shutil.copy(f, output if f in files else os.path.dirname(output))

    def rows(self):
        """The inputs of docs/inputs.md, by their names there."""
        def first(*parts):
            return sorted(glob.glob(os.path.join(*map(glob.escape, (self.root, *parts[:-1])), parts[-1])))[0]
        return {
            "`*_ascend_pt`": self.rank(0, "raw"), "`*_ascend_ms`": first("ms", "*_ascend_ms"), "`PROF_XXX`": first("prof", "PROF_*"),
            "directory of `*_ascend_pt`": self.at("raw"), "directory of `PROF_XXX`": self.at("prof"),
            "`*_ascend_pt` of the host alone": first("host", "*_ascend_pt"),
            "directory of `*_ascend_pt` of hosts alone": self.at("host"),
            "`*_ascend_pt` with results, without recorded data": self.rank(0, "databases"), "`ASCEND_PROFILER_OUTPUT`": self.at("alone", "ASCEND_PROFILER_OUTPUT"),
            "directory of ranks: databases": self.at("databases"), "directory of ranks: text results": self.at("text"),
            "directory of ranks: `trace_view.json` alone": self.at("timeline"), "directory of ranks: tables alone": self.at("tables"),
            "directory of ranks: `kernel_details.csv` alone": self.at("kernels"),
            "`ASCEND_PROFILER_OUTPUT` with `kernel_details.csv` alone": os.path.join(self.rank(0, "kernels"), "ASCEND_PROFILER_OUTPUT"),
            "directory of ranks: a mixture": self.at("mixture"),
            "database (`ascend_pytorch_profiler_0.db`)": os.path.join(self.rank(0, "databases"), "ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler_0.db"),
            "trace of torch.profiler (`.pt.trace.json`)": first("traces", "host_1*"), "the same, compressed (`.json.gz`)": first("gz", "host_1*"),
            "directory of such traces": self.at("traces"), "directory of `.json` files with other names": self.at("names"),
            "timeline of `ascope export-trace` (`.pftrace`)": self.at("pftrace", "rank1.pftrace"), "directory of `.pftrace` files": self.at("pftrace"),
            "export of Nsight Systems (`nsys export --type sqlite`)": self.at("nsys", "rank_1.sqlite"), "directory of `.sqlite` exports": self.at("nsys"),
            "summaries (`ascope analyse --summary`)": self.at("summaries"),
            "dumps of PyTorch's flight recorder": self.at("dumps"), "one of them (`nccl_trace_rank_0`)": self.at("dumps", "nccl_trace_rank_0"),
            "directory with neither": self.at("nothing"),
            "path that does not exist": self.at("absent"),
        }

    def cell(self, command, path):
        page, out = os.path.join(self.dir, "page.html"), tempfile.mkdtemp(dir=self.dir)
        return self.ascope(*{"compare": (command, path, path), "cluster": (command, path, "-o", out, "--no-sync"), "view": (command, path, "--export", page), "sql": (command, path, "SELECT path FROM ranks"),
                             "export-trace": (command, path, os.path.join(out, "trace.json"))}.get(command, (command, path)))

    def test_each_cell_of_the_table(self):
        with open(os.path.join(SOURCE, "docs", "inputs.md"), encoding="utf-8") as f:
            head, _, *table = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in f if line.startswith("|")]
        paths = self.rows()
        self.assertEqual([row[0] for row in table], list(paths))
        for row in table:
            for command, wanted in zip(head[1:], row[1:]):
                with self.subTest(input=row[0], command=command):
                    done = self.cell(command, paths[row[0]])
                    if wanted == "yes":
                        self.assertIn(done.returncode, (0, 3), done.stderr)
                        self.assertTrue(done.stdout, done.stderr)
                        continue
                    self.assertIn(done.returncode, (1, 2), done.stdout)
                    line, = sorted(set(done.stderr.splitlines()))  # compare was given the path twice
                    self.assertEqual([word for word in wanted.split(", ") if word not in line], [], line)
                    self.assertIsNone(re.search("ascope (%s) (reads|shows|compares)" % command, line) if wanted != "view" else None, line)

    def test_dumps_are_read_by_hang_alone(self):
        self.assertIn("Nothing is unfinished", self.ascope("hang", self.at("dumps"), code=0).stdout)
        self.assertIn("no dumps", self.ascope("hang", self.at("nothing"), code=1).stderr)

    def answer(self, *words):
        return json.loads(self.ascope(*words, "--json", code=0).stdout)

    def steps(self, path):
        """What is explained, the steps with their longest ranks, and the ranks."""
        why, = self.answer("why", path)["answers"]
        return (why["step"], why["ranks"][why["on"]]["rank"], [(s["step"], s["ranks"], s["longest"], round(s["time_us"], 1)) for s in why["steps"]],
                [(r["rank"], round(r["own_us"], 1), round(r["communication_us"], 1)) for r in why["ranks"]])

    def test_a_run_has_the_same_answer_in_every_form(self):
        forms = [self.steps(self.at(form)) for form in ("raw", "databases", "text", "timeline", "mixture", "pftrace")]
        self.assertEqual(forms[1:], forms[:1] * 5)
        self.assertEqual((forms[0][:2], forms[0][2][STALL][1:3]), ((None, SLOW), (RANKS, 1)))

    def test_the_job_is_judged_alike_in_every_form(self):
        def verdicts(form):
            found = json.loads(self.ascope("cluster", self.at(form), "-o", tempfile.mkdtemp(dir=self.dir), "--no-sync", "--json").stdout)
            return [(v["kind"], v["rank"], v["step"], round(v["ratio"], 2)) for v in found["verdicts"]]
        raw = verdicts("raw")
        self.assertEqual([v[:2] for v in raw[:2]], [("slow_rank", SLOW), ("late_host", 1)])
        for form in ("databases", "text", "timeline", "mixture", "pftrace"):
            self.assertEqual(verdicts(form), raw, form)
        self.assertEqual([v[:2] for v in verdicts("traces")[:2]], [v[:2] for v in raw[:2]])

    def test_exports_of_nsight_systems(self):
        """The same recording as torch.profiler writes it, and as nsys does: why, every kernel with its operator and launch, every copy."""
        path, other = (self.at("forms", name) for name in ("rank_1.sqlite", "rank_1.json"))
        os.makedirs(self.at("forms"), exist_ok=True)
        trace = torch_trace(1)
        for i, (name, category) in enumerate((("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy"), ("Memcpy DtoH (Device -> Pageable)", "gpu_memcpy"), ("Memset (Device)", "gpu_memset"))):
            at = 1_700_000_000_000_400 + 20 * i
            common = {"ph": "X", "pid": 101, "tid": 101}
            trace["traceEvents"] += [{**common, "name": "aten::copy_", "cat": "cpu_op", "ts": at, "dur": 9, "args": {"External id": 1000 + i}},
                                     {**common, "name": "cudaMemcpyAsync", "cat": "cuda_runtime", "ts": at + 2, "dur": 4, "args": {"correlation": 1000 + i, "External id": 1000 + i}},
                                     {**common, "name": name, "cat": category, "ts": at + 5, "dur": 3.25, "pid": 0, "tid": 7,
                                      "args": {"correlation": 1000 + i, "External id": 1000 + i, "bytes": 4096 << i, "stream": 7, "device": 0}}]
        trace["traceEvents"].sort(key=lambda e: e.get("ts", 0))
        with open(other, "w", encoding="utf-8") as f:
            json.dump(trace, f)
        made_nsys.write(path, trace)
        self.assertEqual(self.steps(path), self.steps(other))
        for statement in ("SELECT name, begin_ns, dur_ns, stream, step, operator, launch_ns FROM kernels ORDER BY 2", "SELECT name, begin_ns, dur_ns, bytes, direction, operator, launch_ns FROM copies ORDER BY 2",
                          "SELECT name, begin_ns, dur_ns, thread, step FROM operators ORDER BY 2", "SELECT name, begin_ns, dur_ns FROM calls ORDER BY 2",
                          "SELECT name, begin_ns, dur_ns FROM ranges ORDER BY 2", "SELECT name, begin_ns, dur_ns, kind FROM collectives ORDER BY 2"):
            rows = [self.answer("sql", p, statement)["queries"][0]["rows"] for p in (path, other)]
            rows = [[[round(v, -3) if isinstance(v, int) and v > 1 << 50 else v for v in row] for row in r] for r in rows]  # a double has 256 ns there
            self.assertTrue(rows[0])
            self.assertEqual(*rows)
        self.assertEqual(self.answer("sql", path, "SELECT DISTINCT blocks FROM kernels")["queries"][0]["rows"], [[16]])

    def test_exports_of_unknown_versions(self):
        for version, text in (("9.1.0", "schema version 9.1.0; wanted 2 or 3"), ("x", "schema version x;"), ("3.17.2", "CUPTI_ACTIVITY_KIND_KERNEL has no streamId")):
            path = os.path.join(self.dir, "v%s.sqlite" % version)
            export = made_nsys.Export(path, version)
            if version[0] == "3":
                export.db.executescript("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId)")
            export.close()
            for command in (("why", path), ("info", path), ("compare", path, path)):
                done = self.ascope(*command)
                self.assertEqual((done.returncode, done.stdout), (1, ""), command)
                self.assertIn(text, done.stderr)

    def cluster(self, path, code):
        out = tempfile.mkdtemp(dir=self.dir)
        return json.loads(self.ascope("cluster", path, "-o", out, "--no-sync", "--json", code=code).stdout)

    def test_hosts_without_devices_are_compared(self):
        """From what was recorded, from databases, and from text results alike."""
        shutil.copytree(self.at("host"), self.at("hosts", "text"))
        self.run_quietly("analyse", self.at("hosts", "text"), "--export-type", "text,db", "--no-sync", "-q")
        for path in glob.glob(glob.escape(self.at("hosts", "text")) + "/*/FRAMEWORK"):
            shutil.rmtree(path)
        shutil.copytree(self.at("hosts", "text"), self.at("hosts", "databases"))
        for form, unused in ("text", "*.db"), ("databases", "*.json"):
            for file in glob.glob(glob.escape(self.at("hosts", form)) + "/*/ASCEND_PROFILER_OUTPUT/" + unused):
                os.unlink(file)
        found = [self.cluster(path, 0)["verdicts"] for path in (self.at("host"), self.at("hosts", "databases"), self.at("hosts", "text"))]
        self.assertEqual(found[1:], found[:1] * 2)
        self.assertEqual([(v["kind"], v["rank"], v["step"]) for v in found[0] if v["step"] == "4"], [("slow_rank", 1, "4")])
        self.assertIn("because of rank 1", found[0][0]["text"])

    def test_hosts_wait_in_collectives_of_gloo(self):
        for i in range(3):
            os.makedirs(self.at("gloo"), exist_ok=True)
            with open(self.at("gloo", "h%d.1.pt.trace.json" % i), "w", encoding="utf-8") as f:
                json.dump(host_trace(i), f)
        found = self.cluster(self.at("gloo"), 3)  # the world has four ranks
        self.assertEqual([(v["kind"], v["rank"], v["step"]) for v in found["verdicts"]], [("slow_rank", 1, None)])
        self.assertAlmostEqual(found["verdicts"][0]["ratio"], 1.25, delta=0.02)
        self.assertIn("1 of 4 ranks are missing: 3", [n["text"] for n in found["notes"]])

    def test_one_rank_is_the_same_in_every_form(self):
        raw = self.steps(self.rank(1, "raw"))
        self.assertEqual(raw[:2], (str(STALL), 1))
        for form, place in (("databases", ""), ("databases", "/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db"), ("text", ""),
                            ("text", "/ASCEND_PROFILER_OUTPUT"), ("timeline", "/ASCEND_PROFILER_OUTPUT/trace_view.json")):
            self.assertEqual(self.steps(self.rank(1, form) + place), raw, form + place)


if __name__ == "__main__":
    unittest.main(argv=["test_inputs_matrix.py", *sys.argv[3:]], verbosity=2)
