#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope view: many tabs, tabs that are killed, slow clients, malformed requests, inputs that vanish while they are read: the server goes on.

usage: test_view_clients.py ASCOPE SOURCE_ROOT [unittest options]
"""
import concurrent.futures
import contextlib
import os
import shutil
import signal
import socket
import struct
import sys
import unittest

import test_view  # as a module: its own tests are not run again
from cli_case import Case
from test_view import EVENTS, event

TABS = 50
QUESTIONS = ("", "main.js", "api/rows?input=0", "api/names?input=0&from=0", "api/overview?input=0", "api/slices?input=0&levels=0,1&t0=0&t1=99999&least=8",
             "api/flame?input=0&all=1&t0=0&t1=99999", "api/search?input=0&q=op", "api/sql?input=0&q=SELECT+count(*)+FROM+slices")


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
