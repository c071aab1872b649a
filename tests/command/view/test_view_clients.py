#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope view: many tabs, tabs that are killed, slow clients, malformed requests, inputs that vanish while they are read: the server goes on.

usage: test_view_clients.py ASCOPE SOURCE_ROOT [unittest options]
"""
import concurrent.futures
import contextlib
import glob
import http.client
import json
import os
import re
import shutil
import signal
import socket
import struct
import sys
import unittest
import urllib.parse

import test_view  # as a module: its own tests are not run again
from cli_case import SOURCE, Case
from test_view import EVENTS, event

TABS = 50
QUESTIONS = ("", "main.js", "api/rows?input=0", "api/names?input=0&from=0", "api/overview?input=0", "api/slices?input=0&levels=0,1&t0=0&t1=99999&least=8",
             "api/flame?input=0&all=1&t0=0&t1=99999", "api/search?input=0&q=op", "api/sql?input=0&q=SELECT+count(*)+FROM+slices")

# Every question with values that it accepts, and what else a client may write in their place.
ALL = {"t0": "0", "t1": "99999999999"}
GOOD = {"about": {}, "tables": {}, "roofline": {}, "rows": {}, "reload": {}, "overview": {"step": "2"}, "area": {"levels": "0,1", **ALL}, "counter": {"id": "0", "least": "8", **ALL},
        "flame": {"levels": "0,1", "all": "0", "main": "0", **ALL}, "memory": {"allocator": "0"}, "memory_at": {"allocator": "0", "at": "5"}, "minimap": {"n": "100"},
        "names": {"from": "0"}, "neighbour": {"slice": "1", "by": "1"}, "place": {"name": "op 1", "run": "", **ALL}, "search": {"q": "op"}, "slice": {"slice": "1"},
        "slices": {"levels": "0,1", "least": "8", **ALL}, "sql": {"q": "SELECT count(*) FROM slices"}, "table": {"name": "by name", "filter": "o", "sort": "0", "down": "1", "csv": "0"}}
VALUES = ("", "-1", "0", "1", "4294967296", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1" + "0" * 400, "1e3", "nan", "0x1", "+1", "%201", "1-1", "--1", "-",
          ",", "1,,2", "1," * 9000, "1%00", "%ff%fe%ed%a0%80", "%", "%zz", "'\"<&;--", "%25_%5c", "*" * 30000, "x" * 40000, "SELECT%201;SELECT%202", "SELECT%20zeroblob(2000000000)")


class Clients(Case):
    view, trace, wait_for = test_view.View.view, test_view.View.trace, test_view.View.wait_for

    def shown(self, n=3000):
        v = self.view(self.trace(EVENTS + [event("op %d" % i, 200 + 3 * i, 2, args={"text": "x" * 60}) for i in range(n)]))
        v.wait()
        return v

    def request(self, v, what, more=b""):
        return ("GET %s%s HTTP/1.1\r\nHost: %s\r\n" % (v.url.path, what, v.url.netloc)).encode() + more + b"\r\n"

    def connect(self, v):
        s = socket.create_connection(v.address, timeout=120)
        self.addCleanup(s.close)
        return s

    def reply(self, s):
        """Status and body of the next reply."""
        with s.makefile("rb") as f:
            return self.read_reply(f)

    def read_reply(self, f):
        line = f.readline()
        self.assertTrue(line.startswith(b"HTTP/1.1 "), line)
        length = 0
        for header in iter(f.readline, b"\r\n"):
            key, _, value = header.partition(b":")
            length = int(value) if key.lower() == b"content-length" else length
        return int(line.split()[1]), f.read(length)

    def assert_goes_on(self, v):
        self.assertEqual(v.json("rows", input=0)["processes"][0]["name"], "job")
        self.assertIsNone(v.process.poll())

    def test_fifty_tabs_get_the_answers_of_one(self):
        v = self.shown()
        wanted = [v.raw(v.url.path + q)[::2] for q in QUESTIONS]
        self.assertEqual({status for status, _ in wanted}, {200})

        def tab(number):
            s = socket.create_connection(v.address, timeout=120)
            with contextlib.closing(s), s.makefile("rb") as f:
                found = []
                for i in range(len(QUESTIONS)):
                    at = (i + number) % len(QUESTIONS)
                    s.sendall(self.request(v, QUESTIONS[at]))
                    found.append((at, self.read_reply(f)))
                return found

        with concurrent.futures.ThreadPoolExecutor(TABS) as pool:
            for found in pool.map(tab, range(TABS)):
                for at, answer in found:
                    self.assertEqual(answer, wanted[at], QUESTIONS[at])
        self.assertEqual(v.end(signal.SIGTERM)[0], 0)

    def test_tabs_that_are_killed(self):
        v = self.shown()
        for i in range(TABS):
            s = socket.create_connection(v.address, timeout=120)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed by a reset, as of a killed process
            s.sendall(self.request(v, QUESTIONS[i % len(QUESTIONS)]) * 20)
            if i % 2:
                s.recv(100)
            s.close()
        self.assert_goes_on(v)
        self.assertEqual(v.end(signal.SIGTERM)[0], 0)

    def test_slow_clients(self):
        v = self.shown()
        text = self.request(v, "api/rows?input=0")
        slow = [self.connect(v) for _ in range(200)]
        for i in range(len(text) - 1):  # a byte at a time; the last one is held back
            for s in slow[:3]:
                s.sendall(text[i:i + 1])
        for s in slow[3:]:
            s.sendall(text[:-1])
        self.assert_goes_on(v)  # nobody waits for them
        for s in slow:
            s.sendall(text[-1:])
        for s in slow:
            self.assertEqual(self.reply(s)[0], 200)

    def test_clients_that_read_slowly(self):
        v = self.shown()
        wanted = v.raw(v.url.path + "api/names?input=0&from=0")[2]
        self.assertGreater(len(wanted), 20000)
        slow = []
        for _ in range(20):  # more than there are threads
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.settimeout(120)
            s.connect(v.address)
            self.addCleanup(s.close)
            s.sendall(self.request(v, "api/names?input=0&from=0") * 200)  # far more than the buffers of a connection hold
            slow.append(s)
        self.assert_goes_on(v)
        for s in slow[:3]:
            with s.makefile("rb") as f:
                for _ in range(100):
                    self.assertEqual(self.read_reply(f), (200, wanted))

    def test_malformed_requests(self):
        v = self.shown(10)
        good, host = self.request(v, "api/about"), b"Host: %s\r\n" % v.url.netloc.encode()
        path = v.url.path.encode()
        for what, text, status in (
                ("no request", b"\r\n\r\n", 400), ("no version", b"GET /\r\n\r\n", 400), ("another version", b"GET / HTTP/2.0\r\n\r\n", 505),
                ("a word too many", b"GET / x HTTP/1.1\r\n\r\n", 400), ("another method", b"DELETE / HTTP/1.1\r\n\r\n", 405),
                ("a body", b"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 413), ("a body in parts", b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 413),
                ("no path", b"GET http://x/ HTTP/1.1\r\n\r\n", 400), ("half an escape", b"GET /%4 HTTP/1.1\r\n\r\n", 400),
                ("a NUL", b"GET /\0 HTTP/1.1\r\n\r\n", 400), ("an escaped NUL", b"GET /%00 HTTP/1.1\r\n\r\n", 400),
                ("no host", b"GET " + path + b" HTTP/1.1\r\n\r\n", 403), ("binary", bytes(range(1, 256)) * 3 + b"\r\n\r\n", 400),
                ("headers that just fit", b"GET " + path + b"api/about HTTP/1.1\r\n" + host + b"X: " + b"x" * 31000 + b"\r\n\r\n", 200),
                ("headers that are too large", good[:-2] + b"X: " + b"x" * 40000, 431), ("many headers", good[:-2] + b"a: b\r\n" * 20000, 431),
                ("a line that is too long", b"GET /" + b"x" * 40000, 431)):
            with self.subTest(what):
                s = self.connect(v)
                with contextlib.suppress(OSError):  # it may be refused before all is sent
                    s.sendall(text)
                self.assertEqual(self.reply(s)[0], status, what)
        self.assert_goes_on(v)

    def ask_with_every_value(self, v, what, given):
        """Of one question: each of its values is left out, and replaced by each of VALUES. The good answer; the number of questions."""
        connection = http.client.HTTPConnection(*v.address, timeout=120)
        replies = []
        with contextlib.closing(connection):
            for key in ["", *given]:
                for value in (None, *VALUES) if key else (given.get(key),):
                    query = {**{k: urllib.parse.quote(g) for k, g in given.items()}, key: value}
                    path = v.url.path + "api/" + what + "?" + "&".join("%s=%s" % pair for pair in query.items() if pair[1] is not None)
                    connection.request("GET", path)
                    reply = connection.getresponse()
                    kind, body = reply.getheader("Content-Type"), reply.read()
                    self.assertIn(reply.status, (200, 400, 404, 431), path[:300])
                    if reply.status != 200:
                        self.assertTrue(kind.startswith("text/plain") and body.strip() and body.strip().count(b"\n") == 0, (path[:300], body[:300]))
                    elif kind.startswith("application/json"):
                        json.loads(body)
                    replies.append(reply.status)
        self.assertEqual(replies[0], 200, what)
        return len(replies)

    def test_every_question_with_every_value(self):
        """Over four connections at the same time; others break off in the middle of questions and answers."""
        with open(os.path.join(SOURCE, "src/view/answers/view_api.c"), encoding="utf-8") as f:
            self.assertEqual(set(re.findall(r'\{ "(\w+)", (?:true|false), answer_', f.read())), set(GOOD))
        read = set()
        for path in glob.glob(os.path.join(SOURCE, "src/view/**/*.c"), recursive=True):
            with open(path, encoding="utf-8") as f:
                read |= set(re.findall(r'http_parameter(?:_i64)?\(\w+->q, "(\w+)"', f.read()))
        self.assertEqual(read, {"input"} | {key for given in GOOD.values() for key in given})
        self.ascope("sim", "--framework", "pt", "--kernels", "60", "--steps", "3", "--out", "job", code=0)
        v = self.view("job", self.trace(EVENTS + [event("op %d" % i, 200 + 3 * i, 2) for i in range(100)]))
        v.wait(2)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            of_input = [(what, given) for what, given in GOOD.items() if what != "reload"]
            asked = [pool.submit(self.ask_with_every_value, v, what, {"input": "1", **given}) for what, given in of_input]
            for what, given in of_input:
                text = self.request(v, "api/" + what + "?" + urllib.parse.urlencode({"input": 0, **given}))
                for end in (len(text) // 2, len(text)):
                    s = socket.create_connection(v.address, timeout=120)
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    s.sendall(text[:end])
                    s.close()
            self.assertGreater(sum(one.result() for one in asked), 1000)
        self.ask_with_every_value(v, "reload", {"input": "1"})  # it is loaded anew meanwhile
        v.wait(2)
        self.assert_goes_on(v)
        self.assertEqual(v.end(signal.SIGTERM)[0], 0)

    def test_requests_one_behind_the_other_are_answered_in_order(self):
        v = self.shown(10)
        s = self.connect(v)
        s.sendall(b"".join(self.request(v, "api/slice?input=0&slice=%d" % i) for i in range(10)))
        with s.makefile("rb") as f:
            for i in range(10):
                self.assertEqual(self.read_reply(f), (200, v.ask("slice", input=0, slice=i)))

    def test_a_file_that_becomes_shorter_while_it_is_read(self):
        name = self.trace([event("op %d" % i, 10 * i, 5, args={"text": "x" * 200}) for i in range(40000)])
        path = os.path.join(self.dir, name)
        for size in (os.path.getsize(path) // 2, 4096, 0):
            v = self.view(name)
            os.truncate(path, size)  # before, while or after it is read: it ends ready or failed, and the server answers
            one, = v.wait()
            self.assertIn(one["state"], ("ready", "failed"))
            self.assertEqual(v.end(signal.SIGTERM)[0], 0)

    def test_a_collection_that_vanishes_and_one_that_grows(self):
        self.ascope("sim", "--framework", "pt", "--kernels", "60", "--steps", "2", "--out", "job", code=0)
        v = self.view("job")
        self.wait_for(v, state="ready", source="as_loaded")
        before = v.ask("rows", input=0), v.ask("overview", input=0)
        shutil.rmtree(os.path.join(self.dir, "job"))
        self.wait_for(v, state="ready", source="gone")
        self.assertEqual((v.ask("rows", input=0), v.ask("overview", input=0)), before)
        self.ascope("sim", "--framework", "pt", "--kernels", "90", "--steps", "3", "--out", "job", code=0)
        self.wait_for(v, state="ready", source="changed")
        v.json("reload", input=0)
        self.wait_for(v, state="ready", source="as_loaded", n_loads=2)
        self.assertNotEqual(v.ask("rows", input=0), before[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
