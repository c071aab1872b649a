#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope mcp`: the messages, the tools, their bounds, and whether their answers alone are enough to name a planted cause.

usage: test_mcp.py ASCOPE SOURCE_ROOT [unittest options]
"""
import json
import os
import pickle
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
from cli_case import ASCOPE, SOURCE, Case  # noqa: E402: reads the arguments
from fault_traces import FAULTS, JUDGED, USUAL, write  # noqa: E402
from made_snapshot import Training  # noqa: E402

GPU = os.path.join(SOURCE, "tests/data/kineto/real-2.11-cuda-plain.json")
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(i) FROM n"  # stopped after 30 s
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PLANTED, WANTED, CHARACTERS = 50, 45, 8000

# What the script below reads in an answer: where it is, and the kinds of causes.
PLACES = [(r"step (\w+) is slow, once.*because of rank (\d+)", "once {0} rank {1}"), (r"step (\w+) is slow, once", "once {0}"), (r"steps (\w+) to (\w+) are slow", "steps {0} {1}"),
          (r"since step (\w+) each", "since {0}"), (r"every (\d+)\w\w step", "period {0}"), (r"rank (\d+) is slow in each step", "rank {0}"), (r"uneven work", "in_turns"),
          (r"each step takes a little longer", "drift")]
CAUSES = {"garbage collection": "gc", "host late": "host", "memory": "memory", "longer runs": "longer", "more runs": "runs", "waiting for data": "data", "slower transfer": "transfer"}


class Server:
    def __init__(self, case, *roots, env=None):
        self.process = subprocess.Popen([ASCOPE, "mcp", *roots], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=case.dir, env={**os.environ, **(env or {})})
        self.case, self.n = case, 0
        case.addCleanup(self.end)

    def end(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def send(self, message):
        self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def take(self, seconds=60):
        self.case.assertTrue(select.select([self.process.stdout], [], [], seconds)[0], "no message")
        return json.loads(self.process.stdout.readline())

    def ask(self, method, params=None, **more):
        self.n += 1
        self.send({"jsonrpc": "2.0", "id": self.n, "method": method, **({} if params is None else {"params": params}), **more})
        answer = self.take()
        self.case.assertEqual((answer["jsonrpc"], answer["id"]), ("2.0", self.n))
        return answer

    def call(self, tool, failed=False, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        self.case.assertEqual(result["isError"], failed, result)
        text, = result["content"]
        self.case.assertEqual(text["type"], "text")
        return text["text"]


class Mcp(Case):
    def job(self, *more):
        path = os.path.join(self.dir, "job")
        self.ascope("sim", "--quiet", "--framework", "pt", "--out", path, "--seed", "5", "--ranks", "4", "--steps", "12", "--kernels", "1200", "--slow-rank", "2:1.5", *more, code=0)
        return path

    def test_a_recorded_conversation(self):
        """Word for word: what a client sent, and what it got."""
        with open(os.path.join(SOURCE, "tests/data/mcp/conversation.jsonl"), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        said = "".join(json.dumps(m["client"]) + "\n" for m in lines if "client" in m)
        shutil.copyfile(GPU, os.path.join(self.dir, "trace.json"))
        r = self.ascope("mcp", "trace.json", input=said, code=0)
        wanted = {m["server"]["id"]: m["server"] for m in lines if "server" in m}
        got = {m["id"]: m for m in map(json.loads, r.stdout.splitlines())}
        got[1]["result"]["serverInfo"].pop("version")
        wanted[1]["result"]["serverInfo"].pop("version")
        self.assertEqual(got, wanted)

    def test_versions(self):
        s = Server(self, GPU)
        for version in VERSIONS:
            self.assertEqual(s.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})["result"]["protocolVersion"], version)
        result = s.ask("initialize", {"protocolVersion": "1999-01-01"})["result"]
        self.assertEqual(result["protocolVersion"], VERSIONS[-1])
        self.assertEqual(result["capabilities"], {"tools": {}, "resources": {}})
        self.assertIn("overview", result["instructions"])

    def test_bad_messages(self):
        s = Server(self, GPU)
        for line, code in ((b"{\n", -32700), (b"nonsense\n", -32700), (b"[" * 5000 + b"\n", -32700), (b"\xff\xfe\n", -32700), (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "\\u0000"}}\n', -32700), (b"[]\n", -32600), (b"3\n", -32600), (b'{"id": 1}\n', -32600),
                           (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}\n', -32600), (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}\n', -32600), (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}\n', -32600),
                           (b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}\n', -32601), (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}}\n', -32602),
                           (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}\n', -32602), (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "why", "arguments": 3}}\n', -32602),
                           (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}\n', -32602), (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/read"}\n', -32602),
                           (b'{"x": "' + b"a" * (5 << 20) + b'"}\n', -32600)):
            s.send(line)
            self.assertEqual(s.take()["error"]["code"], code, line[:80])
        for silent in (b"\n", b"  \r\n", b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n', b'{"jsonrpc": "2.0", "method": "notifications/unknown", "params": {}}\n',
                       b'{"jsonrpc": "2.0", "id": 9, "result": {}}\n', b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}\n', b'{"jsonrpc": "2.0", "method": "notifications/cancelled"}\n'):
            s.send(silent)
        self.assertEqual(s.ask("ping")["result"], {})

    def test_schemas_of_tools(self):
        s = Server(self, GPU)
        tools = s.ask("tools/list", {})["result"]["tools"]
        with open(os.path.join(SOURCE, "docs/agents.md"), encoding="utf-8") as f:
            page = dict(re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", f.read(), re.M))
        self.assertEqual([t["name"] for t in tools], list(page))
        for t in tools:
            schema = t["inputSchema"]
            self.assertEqual((schema["type"], schema["additionalProperties"], t["annotations"]["readOnlyHint"]), ("object", False, True))
            self.assertLessEqual(set(schema["required"]), set(schema["properties"]))
            self.assertEqual(set(re.findall(r"`(\w+)`", page[t["name"]])), set(schema["properties"]) - {"max_chars"}, t["name"])
            for p in schema["properties"].values():
                self.assertTrue(p["description"])

    def test_resources(self):
        s = Server(self, GPU)
        found = s.ask("resources/list")["result"]["resources"]
        texts = {r["uri"]: s.ask("resources/read", {"uri": r["uri"]})["result"]["contents"][0]["text"] for r in found}
        self.assertEqual(json.loads(texts.pop("ascope://schema")), json.loads(self.ascope("sql", "--json", ".schema", code=0).stdout)["tables_of_sql"])
        self.assertGreater(len(texts), 5)
        for uri, text in texts.items():
            with open(os.path.join(SOURCE, uri.replace("ascope://docs/", "docs/")), encoding="utf-8") as f:
                self.assertEqual(text, f.read())

    def test_answers_are_those_of_the_commands(self):
        job = self.job()
        before = sorted(os.listdir(job))
        temporary = os.path.join(self.dir, "tmp")
        os.mkdir(temporary)
        s = Server(self, job, env={"TMPDIR": temporary})
        for tool, words in (("why", ["why"]), ("advise", ["advise"])):
            self.assertTrue(s.call(tool, max_chars=60000).startswith(self.ascope(*words, job, code=0).stdout), tool)
        self.assertIn("step 3", s.call("why", step="3", rank=2, top="2"))
        self.assertIn("rank 2 is slow in each step", s.call("cluster"))
        self.assertIn("critical path", s.call("cluster", ranks="0-2"))
        self.assertIn("rank 2 is slow in each step", s.call("overview"))
        self.assertIn("is_simulated\njob,0,0,npu,12,", s.call("overview"))
        self.assertIn("not_released", s.call("memory"))
        self.assertEqual(s.call("sql", statement="SELECT count(*) AS n FROM kernels"), "n\n%d\n" % json.loads(self.ascope("sql", "--json", job, "SELECT count(*) FROM kernels", code=0).stdout)["queries"][0]["rows"][0][0])
        self.assertIn("communication while nothing computes", s.call("explain", term="exposed"))
        self.assertIn("column of steps: the device has nothing to do", s.call("explain", term="free_ns"))
        ranks = [os.path.join(job, d) for d in sorted(os.listdir(job))]
        self.assertIn("BatchMatMulV2", s.call("compare", base=ranks[0], new=ranks[2]))
        self.assertEqual(sorted(os.listdir(job)), before)
        self.assertEqual(os.listdir(temporary), [])

    def test_memory_of_snapshots(self):
        folder = os.path.join(self.dir, "snapshots")
        os.mkdir(folder)
        with open(os.path.join(folder, "m.pickle"), "wb") as f:
            pickle.dump(Training(layers=1, limit=8 << 20).run(8, lambda t, i: t.alloc(1 << 20, 16)).snapshot(), f, 4)
        s = Server(self, folder)
        wanted = self.ascope("memory", folder, code=0).stdout
        self.assertTrue(wanted)
        for path in (folder, "m.pickle"):
            self.assertIn(wanted.splitlines()[0], s.call("memory", path=path))

    def test_handles_lead_to_the_timeline(self):
        job = self.job()
        s = Server(self, job)
        at, dur = re.search(r"at (\d+\.\d+) us .*?, ([\d.]+) us: Ascend Hardware, Stream 2, aclnnBatchMatMul", s.call("why")).groups()
        excerpt = s.call("timeline", at_us=at, rank=2, max_chars=9000)
        row = next(line for line in excerpt.splitlines() if re.fullmatch(r"\d+,2,Ascend Hardware,Stream 2,0,aclnnBatchMatMul\w*,0\.0,[\d.]+", line))
        self.assertAlmostEqual(float(row.split(",")[-1]), float(dur), delta=1)
        self.assertIn(",0.0,", s.call("timeline", slice=int(row.split(",")[0]), max_chars=9000))
        self.assertIn(row.split(",")[0], s.call("timeline", at_us=at, window_us=10, path=job))
        for bad in ({"at_us": "soon"}, {}, {"at_us": 1, "slice": 1}, {"slice": -4}, {"slice": "1; DROP"}, {"at_us": 1, "window_us": "x"}, {"at_us": 1, "rank": "0 OR 1"}, {"at_us": "9" * 30}):
            s.call("timeline", failed=True, **bad)

    def test_answers_are_bounded(self):
        job = self.job()
        s = Server(self, job)
        for tool, more in (("overview", {}), ("why", {}), ("advise", {}), ("cluster", {}), ("memory", {}), ("timeline", {"slice": 100}), ("sql", {"statement": "SELECT * FROM kernels"}), ("explain", {"term": "e"})):
            whole = s.call(tool, max_chars=60000, **more)
            for most in (500, 1500):
                text = s.call(tool, max_chars=most, **more)
                self.assertLessEqual(len(text), most, tool)
                if len(whole) > most:
                    self.assertRegex(text, r"\[\d+ more (lines|tables) left out; ask with a larger max_chars", tool)
                for line in text.splitlines():  # none is cut
                    self.assertTrue(line in whole or "left out" in line, (tool, line))
        self.assertLessEqual(len(s.call("sql", statement="SELECT * FROM kernels")), 6000)
        n = len(s.call("sql", statement="SELECT * FROM kernels", max_chars=1e9).splitlines())
        self.assertLessEqual(len(s.call("sql", statement="SELECT printf('%c', 'é', 1) || hex(zeroblob(100000))", max_chars=600)), 600)
        self.assertGreater(n, 100)

    def test_only_what_was_given(self):
        job, outside = self.job(), os.path.join(self.dir, "outside.json")
        shutil.copyfile(GPU, outside)
        shutil.copyfile(GPU, os.path.join(job, "inside.json"))
        os.symlink(outside, os.path.join(job, "link.json"))
        os.symlink(job, os.path.join(self.dir, "way"))
        os.mkdir(job + "2")
        shutil.copyfile(GPU, job + "2/next.json")
        s = Server(self, "way")
        for path in (outside, "outside.json", os.path.join(job, "link.json"), "link.json", os.path.join(job, "../outside.json"), "../outside.json", job + "2/next.json", "/", "nothing", "--help"):
            self.assertIn("not in what this server was given", s.call("sql", failed=True, path=path, statement="SELECT 1"), path)
        for path in (os.path.join(job, "inside.json"), "inside.json", [os.path.join(job, "inside.json")]):
            self.assertEqual(s.call("sql", path=path, statement="SELECT count(*) AS n FROM kernels"), "n\n17\n")
        s.call("why", failed=True, path=["inside.json", outside])
        self.ascope("mcp", "nothing", input="", code=2)
        two = Server(self, job, outside)
        self.assertIn("missing", two.call("why", failed=True))
        self.assertEqual(two.call("sql", path=[outside], statement="SELECT count(*) AS n FROM kernels"), "n\n17\n")
        here = Server(self)  # the current directory
        self.assertEqual(here.call("sql", path="outside.json", statement="SELECT count(*) AS n FROM kernels"), "n\n17\n")

    def test_bad_arguments(self):
        s = Server(self, GPU)
        for tool, arguments in (("why", {"nothing": 1}), ("why", {"step": []}), ("why", {"step": None}), ("why", {"rank": "x"}), ("why", {"path": {}}), ("why", {"path": []}), ("why", {"path": [1]}), ("why", {"step": "--help"}),
                                ("sql", {}), ("sql", {"statement": 3}), ("sql", {"statement": "SELEC"}), ("sql", {"statement": "  .schema"}), ("sql", {"statement": "DELETE FROM kernels"}),
                                ("compare", {"base": GPU}), ("explain", {"term": "qqqq"}), ("explain", {"term": ""}), ("hang", {})):
            self.assertTrue(s.call(tool, failed=True, **arguments), (tool, arguments))

    def test_what_is_missing_is_said(self):
        trace = os.path.join(self.dir, "cut.json")
        with open(GPU, "rb") as f, open(trace, "wb") as to:
            to.write(f.read()[:-9000])
        s = Server(self, trace)
        text = s.call("overview")
        self.assertEqual(text.count("could not be used"), 1, text)  # once, though several commands say so

    def test_progress_and_cancelling(self):
        s = Server(self, GPU)
        s.send({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "sql", "arguments": {"statement": ENDLESS}, "_meta": {"progressToken": "p7"}}})
        s.send({"jsonrpc": "2.0", "id": "waits", "method": "tools/call", "params": {"name": "explain", "arguments": {"term": "rank"}}})
        s.send({"jsonrpc": "2.0", "id": "never", "method": "tools/call", "params": {"name": "explain", "arguments": {"term": "rank"}}})
        report = s.take()
        self.assertEqual((report["method"], report["params"]["progressToken"]), ("notifications/progress", "p7"))
        self.assertGreater(s.take()["params"]["progress"], report["params"]["progress"])
        self.assertEqual(s.ask("ping")["result"], {})  # while the call runs
        s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "never"}})
        begin = time.monotonic()
        s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow", "reason": "enough"}})
        self.assertEqual(s.take()["id"], "waits")
        self.assertLess(time.monotonic() - begin, 15)  # the statement would run for 30 s
        self.assertEqual(s.ask("ping")["result"], {})  # and nothing of the two others

    def test_too_many_calls(self):
        s = Server(self, GPU)
        for i in range(80):
            s.send({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "sql", "arguments": {"statement": ENDLESS if i == 0 else "SELECT 1"}}})
        refused = [s.take()["id"] for _ in range(16)]
        self.assertEqual(refused, list(range(64, 80)))

    def test_no_child_outlives_the_server(self):
        s = Server(self, GPU)
        s.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sql", "arguments": {"statement": ENDLESS}, "_meta": {"progressToken": 1}}})
        s.take()
        children = "/proc/%d/task/%d/children" % (s.process.pid, s.process.pid)
        with open(children, encoding="ascii") as f:
            child, = map(int, f.read().split())
        s.process.send_signal(signal.SIGTERM)
        s.process.wait(20)
        for _ in range(100):
            if not os.path.exists("/proc/%d/exe" % child) or open("/proc/%d/stat" % child, encoding="ascii").read().split()[2] == "Z":
                break
            time.sleep(0.1)
        else:
            self.fail("the child still runs")

    def test_a_child_that_dies_is_no_end(self):
        """As one that meets a trace which it cannot bear."""
        s = Server(self, GPU)
        s.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sql", "arguments": {"statement": ENDLESS}, "_meta": {"progressToken": 1}}})
        s.take()
        with open("/proc/%d/task/%d/children" % (s.process.pid, s.process.pid), encoding="ascii") as f:
            os.kill(int(f.read()), signal.SIGSEGV)
        answer = s.take()
        while "id" not in answer:
            answer = s.take()
        self.assertTrue(answer["result"]["isError"])
        self.assertIn("ended by signal", answer["result"]["content"][0]["text"])
        self.assertEqual(s.ask("ping")["result"], {})

    def test_the_official_client(self):
        node, job, dumps = shutil.which("node"), self.job(), os.path.join(self.dir, "dumps")
        os.mkdir(dumps)
        for rank in range(2):  # as PyTorch's flight recorder writes them; rank 1 has not called it
            call = {"record_id": 0, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 1, "p2p_seq_id": 0, "op_id": 1, "profiling_name": "nccl:all_reduce", "state": "started", "retired": False,
                    "is_p2p": False, "input_sizes": [[8]], "output_sizes": [[8]], "input_dtypes": ["Float"], "output_dtypes": ["Float"], "time_created_ns": 1795009999005473665, "frames": []}
            with open(os.path.join(dumps, "nccl_trace_rank_%d" % rank), "w", encoding="utf-8") as f:
                json.dump({"version": "2.10", "pg_status": {}, "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, "entries": [call][rank:]}, f)
        r = node and subprocess.run([node, os.path.join(SOURCE, "tests/viewer/mcp_client.mjs"), ASCOPE, job, dumps], capture_output=True, text=True, timeout=240, check=False)
        if not r or r.returncode == 77:
            self.skipTest("no @modelcontextprotocol/sdk: (cd tests/viewer && npm install)")
        self.assertEqual(r.returncode, 0, r.stderr)
        got, texts = json.loads(r.stdout), {}
        for tool, answer in got["answers"].items():
            texts[tool] = answer["content"][0]["text"]
            self.assertFalse(answer["isError"], (tool, answer))
            self.assertLessEqual(len(texts[tool]), 2000, tool)
        for tool, wanted in {"overview": "rank 2 is slow in each step", "why": "MatMul", "advise": "saves", "compare": "no difference", "cluster": "rank 2 is slow", "memory": "not_released", "hang": "rank 1",
                             "timeline": "events", "sql": "n\n%d\n" % json.loads(self.ascope("sql", "--json", job, "SELECT count(*) FROM kernels", code=0).stdout)["queries"][0]["rows"][0][0],
                             "explain": "the device has nothing to do"}.items():
            self.assertIn(wanted, texts.pop(tool), tool)
        self.assertEqual(texts, {})
        self.assertTrue(got["pages"] and all(got["pages"].values()))
        self.assertEqual((got["cancelled"], got["unknown"], got["after"]), ("cancelled", -32602, {}))
        self.assertGreaterEqual(len(got["progress"]), 2)

    # ---- planted causes --------------------------------------------------------------------------------------------

    def named(self, overview, advise):
        """What an agent reads in two answers: where it is with its cause, and the first finding that is not only the slow rank."""
        first = re.search(r"^  1\. (.*)(?:\n     (\S.*))?", overview, re.M)
        sentence, below = first.groups() if first else ("", "")
        place = next((form.format(*m.groups()) for pattern, form in PLACES if (m := re.search(pattern, sentence))), "")
        cause = next((kind for text, kind in CAUSES.items() if (below or "").startswith(text)), "")
        findings = [f for f in re.findall(r"^\d+\. (.*?): (?:saves|costs)", advise, re.M) if f != "a rank that the others wait for"]
        return " ".join(filter(None, (place, cause))), findings[0] if findings else ""

    def test_planted_causes(self):
        with open(os.path.join(SOURCE, "src/answers/checks/advise_checks.h"), encoding="utf-8") as f:
            titles = dict(re.findall(r'^    (?:RANK|JOB)\((\w+), "([^"]+)"', f.read(), re.M))
        faults = [(fault, titles[of[0]], of[1]) for fault, of in FAULTS.items()] + [(fault, of[0], {**USUAL, **of[1]}) for fault, of in JUDGED.items()]
        sample = os.environ.get("ASCOPE_DEPTH") == "sample"
        faults = faults[:PLANTED:5 if sample else 1]
        wrong, longest = [], 0
        s = Server(self, self.dir)
        for fault, wanted, job in faults:
            path, _ = write(job, 7, 0.03, os.path.join(self.dir, re.sub(r"\W+", "_", fault)))
            overview, advise = s.call("overview", path=path, max_chars=4000), s.call("advise", path=path, max_chars=4000)
            longest = max(longest, len(overview) + len(advise))
            if wanted not in self.named(overview, advise):
                wrong.append((fault, wanted, *self.named(overview, advise)))
        print("%d of %d named, at most %d characters; not: %s" % (len(faults) - len(wrong), len(faults), longest, wrong), file=sys.stderr)
        self.assertEqual(len(faults), PLANTED // (5 if sample else 1))
        self.assertLessEqual(longest, CHARACTERS)
        self.assertLessEqual(len(wrong) / len(faults), 1 - WANTED / PLANTED, wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
