#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope export-stacks: lines for flame-graph tools as the reference writes them, and a flame graph that works.

usage: test_stacks.py ASCOPE SOURCE_ROOT [unittest options]
"""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ASCOPE = SOURCE = None
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
SVG = "{http://www.w3.org/2000/svg}"


def collection(name):
    return glob.glob(os.path.join(SOURCE, "tests/data/%s/raw/*_ascend_pt" % name))[0]


def sample(which):
    return collection("pt-a-" + which)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope stacks é ")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def ascope(self, *args, code=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")}
        r = subprocess.run([ASCOPE, "export-stacks", *args], capture_output=True, text=True, env=env, cwd=self.dir,
                           timeout=60)
        self.assertEqual(r.returncode, code, f"{args}: {r.stdout}{r.stderr}")
        return r

    def read(self, name):
        with open(os.path.join(self.dir, name), encoding="utf-8", newline="") as f:
            return f.read()

    def copy(self, which, change):
        """A copy of a sample with other settings."""
        path = os.path.join(self.dir, "copy_ascend_pt")
        shutil.copytree(sample(which), path, copy_function=shutil.copyfile)
        for top, _, _ in os.walk(path):
            os.chmod(top, 0o755)
        file = glob.glob(glob.escape(path) + "/profiler_info*.json")[0]
        with open(file) as f:
            info = json.load(f)
        change(path, info)
        with open(file, "w") as f:
            json.dump(info, f)
        return path


class Lines(Case):
    # Lines of the reference that are others here: an operator and the first one inside of it begin together, and the
    # reference takes the inner one for the outer one (docs/differences.md).
    OTHERS = {"pt-a-npu/self_cpu_time_total": 2, "pt-a-npu/self_npu_time_total": 0, "pt-a-host/self_cpu_time_total": 1}

    def test_they_are_those_of_the_reference(self):
        for which in "pt-a-npu", "pt-a-host", "own-pytorch":
            for expected in glob.glob(os.path.join(SOURCE, "tests/data/%s/expected_exports/stacks_*.log" % which)):
                metric = re.search("stacks_(.*).log", expected).group(1)
                self.ascope(collection(which), "out.log", "--metric", metric, "-q")
                with open(expected, encoding="utf-8", newline="") as f:
                    wanted, found = f.read(), self.read("out.log")
                others = self.OTHERS.get("%s/%s" % (which, metric))
                if others is None:
                    self.assertEqual(found, wanted, expected)
                    continue
                wanted, found = collections.Counter(wanted.split("\n")), collections.Counter(found.split("\n"))
                self.assertEqual(sum((wanted - found).values()), others, expected)
                self.assertEqual(sum((found - wanted).values()), others + 2, expected)  # Optimizer.zero_grad, once a step

    def test_the_host_is_what_counts_without_a_metric(self):
        self.ascope(sample("npu"), "a.log")
        self.ascope(sample("npu"), "b.log", "--metric", "self_cpu_time_total")
        self.assertEqual(self.read("a.log"), self.read("b.log"))


class Names(Case):
    def test_a_log_has_its_picture_beside_it(self):
        r = self.ascope(sample("npu"), "a.b.log")
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.b.log", "a.b.svg"])
        self.assertIn("a.b.svg: flame graph", r.stdout)

    def test_a_picture_alone(self):
        self.ascope(sample("npu"), "a.svg")
        self.assertEqual(os.listdir(self.dir), ["a.svg"])

    def test_the_name_is_the_one_that_was_asked_for(self):
        os.mkdir(os.path.join(self.dir, "d.d"))
        for log, svg in ("a.txt", "a.svg"), ("b", "b.svg"), (".c", ".c.svg"), ("d.d/e", "d.d/e.svg"), ("profiler.stacks", "profiler.svg"):
            r = self.ascope(sample("npu"), log)
            self.assertEqual(r.stderr, "")
            self.assertTrue(self.read(log).count(";") and self.read(svg).startswith("<"), log)

    def test_json(self):
        found = json.loads(self.ascope(sample("npu"), "a.log", "--json").stdout)["stacks"][0]
        self.assertEqual((found["file"], found["graph"], found["metric"], found["lines"]),
                         ("a.log", "a.svg", "self_cpu_time_total", self.read("a.log").count("\n") + 1))


class Wrong(Case):
    def refused(self, code, says, *args):
        r = self.ascope(*args, code=code)
        self.assertIn(says, r.stderr)
        self.assertEqual([f for f in os.listdir(self.dir) if not f.endswith("_ascend_pt")], [])

    def test_words(self):
        self.refused(2, "two arguments", sample("npu"))
        self.refused(2, "two arguments", sample("npu"), "a.log", "b.log")
        self.refused(2, "self_npu_time_total", sample("npu"), "a.log", "--metric", "gpu")

    def test_paths(self):
        self.refused(2, "No such file", "nowhere", "a.log")
        self.refused(2, "not a directory", ASCOPE, "a.log")
        self.refused(2, "is a directory", sample("npu"), ".")
        self.refused(1, "no/a.log", sample("npu"), "no/a.log")

    def test_what_is_not_there_is_said(self):
        self.refused(1, "--metric self_cpu_time_total", sample("host"), "a.log", "--metric", "self_npu_time_total")

    def test_without_stacks(self):
        def change(path, info):
            info["config"]["common_config"]["with_stack"] = False
            os.remove(os.path.join(path, "FRAMEWORK/torch.op_range"))
        self.refused(1, "with_stack", self.copy("host", change), "a.log")


class Picture(Case):
    def frames(self, root):
        return root.find(f"{SVG}g[@id='graph']").findall(f"{SVG}svg")

    def test_frames_lie_within_those_below_them(self):
        for which in "npu", "host":  # the latter has names that XML must have escaped
            self.ascope(sample(which), "a.svg")
            frames = self.frames(xml.fromstring(self.read("a.svg")))
            place = [tuple(float(f.get(k).rstrip("%")) for k in ("x", "width", "y")) for f in frames]
            self.assertEqual(place[0][:2], (0, 100))
            self.assertGreater(len(frames), 20)
            rows = {}
            for x, width, y in place:
                rows.setdefault(y, []).append((x, x + width))
            for y, row in rows.items():
                row.sort()
                for (_, end), (begin, _) in zip(row, row[1:]):
                    self.assertLess(end, begin + 1e-5)
                below = rows.get(y + 18)
                for begin, end in row if below else []:
                    self.assertTrue(any(b - 1e-5 <= begin and end <= e + 1e-5 for b, e in below), (y, begin, end))

    def test_the_time_is_that_of_the_operators(self):
        self.ascope(sample("npu"), "a.svg", "--metric", "self_npu_time_total")
        self.ascope(sample("npu"), "a.log", "--metric", "self_npu_time_total")
        lines = sum(int(line.rsplit(" ", 1)[1]) for line in self.read("a.log").split("\n"))
        title = self.frames(xml.fromstring(self.read("a.svg")))[0].find(f"{SVG}title").text
        us = float(re.search(r"([\d.]+) ms", title).group(1)) * 1000
        self.assertGreater(us, lines)  # with operators that have no stack

    def test_it_needs_nothing_from_elsewhere(self):
        self.ascope(sample("npu"), "a.svg")
        self.assertEqual(set(re.findall(r"https?://[^\"'\s]+", self.read("a.svg"))),
                         {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"})

    def test_the_same_bytes_every_time(self):
        self.ascope(sample("npu"), "a.svg", "--threads", "1")
        self.ascope(sample("npu"), "b.svg", "--threads", "8")
        self.assertEqual(self.read("a.svg"), self.read("b.svg"))


# Done in the browser, as a user would: the answers are left in the document.
SCRIPT = """
const say = (key, value) => document.documentElement.setAttribute('data-' + key, value);
const frames = Array.from(document.querySelectorAll('#graph > svg'));
const shown = () => frames.filter(f => f.style.display !== 'none');
const titled = text => frames.find(f => f.firstElementChild.textContent.startsWith(text));
const target = titled('aten::item');
say('all', shown().length);
target.querySelector('rect').dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
say('status', document.getElementById('status').textContent);
target.querySelector('rect').dispatchEvent(new MouseEvent('click', { bubbles: true }));
say('zoomed', shown().length);
say('width', target.getBoundingClientRect().width / innerWidth);
say('around', document.querySelectorAll('#graph > .around').length);
document.getElementById('back').dispatchEvent(new MouseEvent('click', { bubbles: true }));
say('back', shown().length);
const word = document.getElementById('word');
word.value = 'FORWARD';
word.dispatchEvent(new Event('input'));
say('hits', document.querySelectorAll('#graph > .hit').length);
say('found', document.getElementById('found').textContent);
dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
say('after', document.querySelectorAll('#graph > .hit').length);
"""


@unittest.skipUnless(CHROMIUM, "no chromium: whether the flame graph works in a browser was not tested")
class Browser(Case):
    def chromium(self, *args):
        r = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            "--enable-logging=stderr", "--window-size=1400,420", *args],
                           capture_output=True, text=True, timeout=120, cwd=self.dir)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual([line for line in r.stderr.splitlines() if "CONSOLE" in line], [])
        return r.stdout

    def test_hover_zoom_and_search(self):
        self.ascope(sample("npu"), "a.svg")
        page = self.read("a.svg")
        at = page.rindex("</svg>")
        with open(os.path.join(self.dir, "b.svg"), "w", encoding="utf-8") as f:
            f.write(page[:at] + "<script><![CDATA[" + SCRIPT + "]]></script></svg>\n")
        found = dict(re.findall(r' data-(\w+)="([^"]*)"', self.chromium("--dump-dom", os.path.join(self.dir, "b.svg"))))
        self.assertIn("after", found, "the script did not come to its end")
        self.assertRegex(found["status"], r"^aten::item · [\d.]+ us, [\d.]+ % · \d+ operators|by itself")
        self.assertLess(int(found["zoomed"]), int(found["all"]))
        self.assertAlmostEqual(float(found["width"]), 1, places=2)
        self.assertGreater(int(found["around"]), 2)
        self.assertEqual(found["back"], found["all"])
        self.assertGreater(int(found["hits"]), 3)
        self.assertRegex(found["found"], r"^\d+ frames, [\d.]+ %$")
        self.assertEqual(found["after"], "0")

    def test_it_is_painted(self):
        self.ascope(sample("npu"), "a.svg")
        self.chromium("--screenshot=a.png", os.path.join(self.dir, "a.svg"))
        self.assertGreater(os.path.getsize(os.path.join(self.dir, "a.png")), 10000)


if __name__ == "__main__":
    ASCOPE, SOURCE = map(os.path.abspath, sys.argv[1:3])
    if not CHROMIUM:
        print("no chromium: whether the flame graph works in a browser was not tested")
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
