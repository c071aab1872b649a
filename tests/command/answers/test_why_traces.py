#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope why of traces of torch.profiler: what was put into a step is named first, and the parts add up.

usage: test_why_traces.py ASCOPE SOURCE_ROOT [unittest options]
"""
import gzip
import json
import os
import unittest

from cli_case import Case

STEPS, SLOW, STEP_US, MORE_US = 8, 5, 2000, 600
HOST, STREAM, COPIES = 1, 7, 8  # threads


def event(name, category, ts, dur, tid=HOST, **args):
    return {"ph": "X", "pid": 1, "tid": tid, "name": name, "cat": category, "ts": ts, "dur": dur, "args": args}


def one_step(i, slow):
    """A step in which one thing may take longer; what is behind it comes later. The device is free before and between kernels."""
    at, more, events = STEP_US * i, {slow: MORE_US}, []

    def put(name, category, gap, dur, **more_of):
        nonlocal at
        events.append(event(name, category, at + gap, dur + more.get(name, 0), **more_of))
        at = events[-1]["ts"] + events[-1]["dur"]

    begin = at
    put("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation", 10, 50)
    put("aten::linear", "cpu_op", 10, 40)
    put("train.py(3): augment", "python_function", 10, 30)
    put("cudaMalloc", "cuda_runtime", 10, 20)
    put("cudaLaunchKernel", "cuda_runtime", 10, 5, correlation=i)
    put("sgemm", "kernel", 5, 300, tid=STREAM, correlation=i)
    for _ in range(2 if slow == "another relu" else 1):
        put("relu", "kernel", 0, MORE_US, tid=STREAM)
    put("ncclDevKernel_AllReduce", "kernel", 5, 100, tid=STREAM)
    put("Memcpy DtoH (Device -> Pageable)", "gpu_memcpy", 5, 40, tid=COPIES)
    return [event("ProfilerStep#%d" % i, "user_annotation", begin, at - begin)] + events


class WhyTraces(Case):
    def trace(self, slow=None, name="rank.json", rank=None, steps=STEPS, beside=lambda i: []):
        events = [e for i in range(steps) for e in one_step(i, slow if i == SLOW else None) + beside(i)]
        path = os.path.join(self.dir, name)
        text = json.dumps({"traceEvents": events, **({"distributedInfo": {"rank": rank}} if rank is not None else {})})
        with (gzip.open(path, "wt") if name.endswith(".gz") else open(path, "w", encoding="utf-8")) as f:
            f.write(text)
        return path

    def why(self, *args, code=0):
        """-> the answer, whose parts add up"""
        answer, = json.loads(self.ascope("why", *args, "--json", code=code).stdout)["answers"]
        d = answer["difference"]
        if d:
            self.assertAlmostEqual(sum(d["causes"].values()) + d["rest_us"], d["more_us"], delta=0.01)
            self.assertAlmostEqual(d["time_us"] - d["usual_us"], d["more_us"], delta=0.01)
        return answer

    def test_what_took_longer_is_named(self):
        for name, cause, named, where in [
                ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "data", "operator", "thread 1"),
                ("aten::linear", "host", "operator", "thread 1"), ("train.py(3): augment", "host", "python", "thread 1"),
                ("cudaMalloc", "memory", "operator", "thread 1"), ("sgemm", "longer", "operator", "thread 7"),
                ("ncclDevKernel_AllReduce", "transfer", "operator", "thread 7"),
                ("Memcpy DtoH (Device -> Pageable)", "memory", "operator", "thread 8")]:
            with self.subTest(name):
                answer = self.why(self.trace(name))
                self.assertEqual((answer["explains"], answer["step"], answer["slow"]), ("step", str(SLOW), 1))
                first, d = answer["difference"]["items"][0], answer["difference"]
                self.assertEqual((first["cause"], first["named"], first["name"]), (cause, named, name))
                self.assertEqual((round(first["more_us"]), round(d["more_us"])), (MORE_US, MORE_US))
                self.assertEqual((first["place"]["process"], first["place"]["thread"], first["place"]["event"]),
                                 ("process 1", where, name))
                self.assertEqual(first["place"]["begin_ns"] // 1000 // STEP_US, SLOW)
                self.assertEqual((first["place"]["step"], first["place"]["in_recording_ns"]), (str(SLOW), first["place"]["begin_ns"]))

    def with_crossing(self, until, slow=None, host_us=STEP_US):
        """Steps of four kernels, which the host launches in `host_us`; an all-reduce of each step lasts for a while, or until the end of the last step."""
        events, n = [], 0
        for i in range(STEPS):
            at, of_device = host_us * i, STEP_US * i + (MORE_US if slow is not None and i > slow else 0)
            events.append(event("ProfilerStep#%d" % i, "user_annotation", at, host_us - 1))
            for k, (name, begin, dur) in enumerate([("sgemm", 100, 400), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 520, until(i)), ("relu", 500, 400),
                                                    ("sgemm", 900, 400), ("late", 1300, 400 + (MORE_US if i == slow else 0))]):
                n += 1
                events += [event("aten::op", "cpu_op", at + 10 * k + 1, 8), event("cudaLaunchKernel", "cuda_runtime", at + 10 * k + 2, 5, correlation=n),
                           event(name, "kernel", of_device + begin, dur, tid=100 + i if "AllReduce" in name else STREAM, correlation=n)]
        path = os.path.join(self.dir, "crossing.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events}, f)
        return path

    def test_a_collective_beyond_its_step_hides_and_delays_no_step(self):
        for what, until in [("into the next step", lambda i: 2000), ("over three steps", lambda i: 7000),
                            ("until the end of the recording", lambda i: STEP_US * (STEPS - i) - 520)]:
            with self.subTest(what):
                answer = self.why(self.with_crossing(until))
                times = {s["step"]: s["time_us"] for s in answer["steps"]}
                self.assertEqual(sorted(times), [str(i) for i in range(STEPS)])
                for i in range(1, STEPS - 1):  # the last one ends with its all-reduce
                    self.assertAlmostEqual(times[str(i)], STEP_US, delta=101)
                self.assertEqual({p["part"]: round(p["time_us"]) for p in answer["usual"]["parts"]}["computing"], 1600)

    def test_a_host_that_runs_ahead_makes_no_short_and_no_long_steps(self):
        """The device needs four times as long as the host, and one kernel is slow: it is in the step that launched it."""
        answer = self.why(self.with_crossing(lambda i: 100, slow=SLOW, host_us=STEP_US // 4))
        self.assertEqual((answer["explains"], answer["step"], answer["slow"]), ("step", str(SLOW), 1))
        first = answer["difference"]["items"][0]
        self.assertEqual((first["cause"], first["name"], round(first["more_us"])), ("longer", "late", MORE_US))

    def test_a_gap_has_neighbours(self):
        """Between two kernels and two operators; what spans more than the gap does not count."""
        at, events = 0, []
        for i in range(STEPS):
            gap = 100 + (MORE_US if i == SLOW else 0)
            events += [event("ProfilerStep#%d" % i, "user_annotation", at, 200 + gap), event("outer", "user_annotation", at, 50), event("aten::first", "cpu_op", at + 10, 30),
                       event("sgemm", "kernel", at + 40, 60, tid=STREAM), event("aten::second", "cpu_op", at + 100 + gap, 30),
                       event("relu", "kernel", at + 120 + gap, 60, tid=STREAM)]
            at += 200 + gap
        path = os.path.join(self.dir, "gap.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events}, f)
        answer = self.why(path)
        self.assertEqual((answer["step"], answer["difference"]["items"][0]["named"]), (str(SLOW), "outside"))
        place = answer["difference"]["items"][0]["place"]
        self.assertEqual((place["event"], place["step"], place["in_step_ns"], place["dur_ns"]), (None, str(SLOW), 100000, (100 + MORE_US) * 1000))
        self.assertEqual(place["between"], {"host_before": "outer", "host_after": "aten::second", "device_before": "sgemm", "device_after": "relu"})
        self.assertIn("host: after outer, before aten::second\n", self.ascope("why", path, code=0).stdout)

    def test_threads_that_wait_do_not_count(self):
        """A queue of the data loader begins to wait while its data is fetched, and is not part of that; nor is what comes after it."""
        def beside(i):
            loader = event("dataloader.py(1): __next__", "python_function", STEP_US * i + 15, 40)
            waits = event("threading.py(9): wait", "python_function", STEP_US * i + 20, STEP_US - 30, tid=COPIES + 1)
            return [loader, waits]

        first = self.why(self.trace("train.py(3): augment", beside=beside))["difference"]["items"][0]
        self.assertEqual((first["cause"], first["name"], round(first["more_us"])), ("host", "train.py(3): augment", MORE_US))

    def test_functions_of_all_threads_that_work_count(self):
        """Backward passes that compute again what they need have operators and functions on a thread of their own."""
        def beside(i):
            return [event("aten::linear", "cpu_op", STEP_US * i + 1, 2, tid=COPIES + 1),
                    event("train.py(9): again", "python_function", STEP_US * i + 112, 7 if i == SLOW else 2, tid=COPIES + 1)]

        first = self.why(self.trace(beside=beside), "--step", str(SLOW))["difference"]["items"][0]
        self.assertEqual((first["cause"], first["name"], round(first["more_us"])), ("host", "train.py(9): again", 5))

    def test_what_ran_more_often_is_named(self):
        first = self.why(self.trace("another relu"))["difference"]["items"][0]
        self.assertEqual((first["cause"], first["name"], first["before_runs"], first["after_runs"], round(first["more_us"])),
                         ("runs", "relu", 1, 2, MORE_US))

    def with_one(self, name, category, host=False, **args):
        """A trace whose steps end with a slice, which takes longer in one of them; launched by a call of the host, or on the host."""
        def beside(i):
            at, dur = STEP_US * i + 1300, 100 + (MORE_US if i == SLOW else 0)
            if host:
                return [event(name, category, at, dur, **args), event("aten::end", "cpu_op", at + dur, 1),
                        event("ProfilerStep#%d" % i, "user_annotation", STEP_US * i, 1300 + dur + 1)]
            return [event("launch", "privateuse1_runtime", STEP_US * i + 3, 1, correlation=STEPS + i),
                    event(name, category, at, dur, tid=COPIES + 1, correlation=STEPS + i, **args)]

        events = [e for i in range(STEPS) for e in one_step(i, None)[host:] + beside(i)]
        path = os.path.join(self.dir, "one.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events}, f)
        return path

    def test_all_categories_and_libraries_are_known(self):
        for name, category, cause in [("hcom_allReduce_", "collective_comm", "transfer"), ("hcom_allGather_AivKernel", "kernel", "transfer"),
                                      ("HcclSend", "kernel", "transfer"), ("void vllm::cross_device_reduce_1stage<float>", "kernel", "transfer"),
                                      ("one_shot_all_reduce_kernel", "kernel", "transfer"), ("ncclKernel_Send", "Kernel", "transfer"),
                                      ("MatMulV2", "kernel", "longer"), ("fc_kernel", "mtia_ccp_events", "longer"),
                                      ("Memset (Device)", "Memset", "memory")]:
            with self.subTest(name):
                first = self.why(self.with_one(name, category, streamId=3))["difference"]["items"][0]
                self.assertEqual((first["cause"], first["name"], round(first["more_us"])), (cause, name, MORE_US))

    def test_work_of_unknown_categories_is_a_loss(self):
        path = self.with_one("matmul", "newdevice_kernel", stream=3)
        for command, more in [("why", [path]), ("advise", [path]), ("compare", [path, path])]:
            self.assertIn("%d slices of a device of unknown categories" % STEPS, self.ascope(command, *more, code=3).stderr)
        self.assertIn("newdevice_kernel %d" % STEPS, self.ascope("why", path, code=3).stderr)
        for category in "newhost_op", "cuda_sync", "gpu_user_annotation", "xpu_sync", "overhead":
            with self.subTest(category):
                of_device = {} if category == "newhost_op" else {"stream": 3}
                self.ascope("why", self.with_one("x", category, **of_device), "--step", "1", code=0)

    def timeline(self, tasks):
        """The timeline of an NPU: the same tasks (name, type, us) in each step, but in the slow one ten times as long; they do not compute."""
        def named(pid, name):
            return {"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": {"name": name}}

        events = [named(1, "Python"), named(2, "Ascend Hardware"), named(3, "Overlap Analysis")]
        for i in range(STEPS):
            at, step = STEP_US * 10 * i, "ProfilerStep#%d" % i
            for name, kind, us in tasks:
                us *= 10 if i == SLOW else 1
                events.append({"ph": "X", "pid": 2, "tid": 3, "name": name, "ts": at, "dur": us, "args": {"Task Type": kind}})
                at += us
            events += [{"ph": "X", "pid": 3, "tid": 0, "name": "Computing", "ts": at, "dur": 50, "args": {}},
                       {"ph": "X", "pid": 1, "tid": 1, "name": step, "cat": "cpu_op", "ts": STEP_US * 10 * i,
                        "dur": at + 50 - STEP_US * 10 * i, "args": {}}]
        path = os.path.join(self.dir, "trace_view.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(events, f)
        return path

    def test_tasks_of_an_npu_are_what_their_types_say(self):
        """An event that is waited for, and parts of collectives, are no operators."""
        for name, kind, cause in [("aclnnMm_MatMul_MatMul", "AI_CORE", "longer"), ("aclnnX", "KERNEL_MIX_AIV", "longer"),
                                  ("MEMCPY_ASYNC", "SDMA_SQE", "memory"), ("MEMCPY_ASYNC", "MEMCPY_ASYNC", "memory"),
                                  ("EVENT_WAIT", "EVENT_WAIT_SQE", "host"), ("EVENT_WAIT", "EVENT_WAIT", "host"),
                                  ("Notify Wait", "Notify Wait", "host"), ("SDMA", "SDMA", "host"), ("NEW_TASK", "NEW_TASK", "host")]:
            with self.subTest((name, kind)):
                first = self.why(self.timeline([(name, kind, 200)]))["difference"]["items"][0]
                self.assertEqual((first["cause"], first["name"] in (name, None)), (cause, True))
        r = self.ascope("why", self.timeline([("aclnnX", "NEW_CORE", 200)]), code=3)
        self.assertIn("8 slices of a device of unknown categories (NEW_CORE 8)", r.stderr)

    def test_garbage_collections(self):
        """Timelines of NPUs have them."""
        first = self.why(self.with_one("GC", "GC", host=True))["difference"]["items"][0]
        self.assertEqual((first["cause"], round(first["more_us"])), ("gc", MORE_US))

    def host_trace(self, *steps):
        """Steps of the host alone, one behind the other: each is its length in us, and operators in it as (name, runs, us of a run)."""
        events, at = [], 0
        for i, (length, *ops) in enumerate(steps):
            events.append(event("ProfilerStep#%d" % i, "user_annotation", at, length))
            inside = at
            for name, runs, us in ops:
                events += [event(name, "cpu_op", inside + k * us, us) for k in range(runs)]
                inside += runs * us
            at += length
        path = os.path.join(self.dir, "host.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events}, f)
        return path

    def test_the_first_step_gives_way_to_another_slow_one(self):
        """It includes start-up, and is nearly always slow."""
        usual = (1000,)
        path = self.host_trace((5000,), usual, usual, usual, (3000,), usual, usual)
        self.assertEqual(self.why(path)["step"], "4")
        start_up = "  start-up: step 0 at the begin of the recording takes 4.000 ms longer in all; left out\n"
        self.assertIn(start_up, self.ascope("why", path).stdout)
        self.assertEqual(self.why(path, "--step", "0")["step"], "0")
        alone = self.host_trace((5000,), usual, usual, usual, usual)
        self.assertEqual((self.why(alone)["explains"], [f["shape"] for f in self.why(alone)["judged"]]), (None, ["start_up"]))
        self.assertIn(start_up, self.ascope("why", alone).stdout)

    def test_the_option_that_records_what_is_missing_is_named(self):
        usual = (1000, ("aten::mm", 1, 900))
        hint = "Python functions were not recorded; a recording with with_stack shows what the host did"
        nothing = self.host_trace(usual, usual, usual, (3000, ("aten::mm", 1, 900)), usual)
        self.assertIn(hint, self.ascope("why", nothing).stdout)
        self.assertIn("causes: outside operators +2.000 ms (100 %)", self.ascope("why", nothing).stdout)  # no device waits for the host
        self.assertNotIn(hint, self.ascope("why", self.host_trace(usual, usual, usual, (3000, ("aten::mm", 1, 2900)), usual)).stdout)
        device = self.ascope("why", self.trace("aten::linear")).stdout
        self.assertNotIn(hint, device)
        self.assertIn("causes: host late", device)

    def test_many_short_runs_explain_no_more_than_they_took(self):
        usual = (1000, ("aten::copy_", 2, 100))
        path = self.host_trace(usual, usual, usual, (5000, ("aten::copy_", 4000, 1)), usual)
        item = next(one for one in self.why(path)["difference"]["items"] if one["name"] == "aten::copy_")
        self.assertEqual((item["cause"], item["before_us"], item["after_us"], item["more_us"]), ("runs", 200, 4000, 3800))
        self.assertIn("aten::copy_: 200 us -> 4.000 ms, 2 -> 4,000 runs", self.ascope("why", path).stdout)

    def test_what_may_be_waiting_is_not_called_transfer(self):
        """A kernel of NCCL does both."""
        out = self.ascope("why", self.trace("ncclDevKernel_AllReduce")).stdout
        self.assertIn("causes: waiting or transfer +600 us (100 %)", out)

    def test_usual_steps_get_no_verdict(self):
        self.assertEqual(self.why(self.trace())["explains"], None)
        self.assertEqual(self.why(self.trace(name="trace.json.gz"), "--step", "3")["step"], "3")

    def test_ranks_of_a_job(self):
        """A directory as torch.profiler writes it; a step that one rank alone has says nothing about the others."""
        for rank in range(3):
            self.trace("sgemm" if rank == 1 else None, "host_%d.1.pt.trace.json" % rank, rank, STEPS + rank // 2)
        answer = self.why(self.dir)
        self.assertEqual([r["rank"] for r in answer["ranks"]], [0, 1, 2])
        self.assertEqual((answer["step"], answer["on"], answer["difference"]["items"][0]["name"]), (str(SLOW), 1, "sgemm"))
        text = self.ascope("why", self.dir, "--step", str(STEPS), code=0).stdout
        self.assertIn("step %d on rank 2" % STEPS, text)
        self.assertNotIn("the others", text)

    def test_ranks_that_were_not_read_are_counted(self):
        path = self.trace("sgemm", rank=1)
        with open(path, encoding="utf-8") as f:
            trace = json.load(f)
        trace["distributedInfo"]["world_size"] = 4
        with open(path, "w", encoding="utf-8") as f:
            json.dump(trace, f)
        self.assertEqual(self.why(path)["not_read"], 3)
        self.assertIn("3 of 4 ranks were not read (0, 2, 3): a wait for one of them looks like a transfer\n", self.ascope("why", path).stdout)
        self.assertEqual(self.why(self.trace("sgemm", rank=1))["not_read"], 0)

    def test_what_is_no_trace_or_has_no_steps(self):
        path = self.trace(steps=0)
        self.assertEqual(len(self.ascope("why", path, code=1).stderr.splitlines()), 1)
        path = self.trace(beside=lambda i: [])
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("ProfilerStep#", "aten::profiled#").replace("enumerate(DataLoader)#", "aten::loaded#"))
        answer = self.why(path)
        self.assertEqual((answer["explains"], answer["steps"], answer["usual"]["whole"]), (None, [], True))
        part = {p["part"]: p["time_us"] for p in answer["usual"]["parts"]}
        self.assertEqual((part["computing"], part["transfer"]), (STEPS * (300 + MORE_US), STEPS * 100))
        for name, wanted in [("a.txt", "not a directory"), ("broken.json", "broken.json")]:
            with open(os.path.join(self.dir, name), "w", encoding="utf-8") as f:
                f.write("no JSON")
            error, = self.ascope("why", os.path.join(self.dir, name), code=2 if name == "a.txt" else 1).stderr.splitlines()
            self.assertIn(wanted, error)

    def test_a_trace_that_is_cut_off_is_explained_as_far_as_it_goes(self):
        path = self.trace("sgemm")
        os.truncate(path, os.path.getsize(path) - 40)
        out = self.ascope("why", path, code=3)
        self.assertIn("1 events could not be used", out.stderr)
        self.assertIn("sgemm", out.stdout)


if __name__ == "__main__":
    unittest.main(argv=["test_why_traces.py"], verbosity=2)
