#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_memory_page.py ASCOPE SOURCE: the page of the memory timeline in a browser without a window.

A script at its end does what a person would do, and leaves what it saw in the page, which the browser prints.
"""
import base64
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SKIPPED = 77  # what Meson takes for a test that was left out
CATEGORIES = ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL", "UNKNOWN"]

LISTEN = """<script>
const problems = [];
addEventListener("error", event => problems.push(event.message));
window.requestAnimationFrame = act => setTimeout(act, 16); // without a window there are no frames to wait for
for (const level of ["error", "warn"]) console[level] = (...words) => problems.push(words.join(" "));
</script>"""

ACT = """<pre id="seen"></pre><script>
const canvas = document.getElementById("areas"), seen = { problems }, box = canvas.getBoundingClientRect();
const text = id => document.getElementById(id).innerText;
const point = (type, share, more) => canvas.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0, pointerId: 1,
  clientX: box.left + 74 + share * (box.width - 74 - 14), clientY: box.top + box.height / 2, ...more }));
const press = (key, more) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
const table = () => [...document.querySelectorAll("#legend tbody tr, #legend tfoot tr")].map(row =>
  [row.cells[0].innerText.trim(), ...[...row.cells].slice(1).map(cell => Number(cell.title.replace(/[^0-9-]/g, "")))]);
const painted = () => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), colours = new Set();
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] === 255) colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return colours.size;
};
const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
(async () => {
  await frame();
  seen.title = document.title;
  seen.most = text("most");
  seen.points = Number(document.documentElement.dataset.points);
  seen.colours = painted();
  seen.atPeak = table();
  seen.canReset = [!document.getElementById("reset").disabled];
  point("pointermove", .5);
  seen.tipIsShown = getComputedStyle(document.getElementById("tip")).visibility;
  seen.tip = text("tip");
  seen.hovered = { at: text("at"), table: table() };
  point("pointerleave", .5);
  seen.tipIsGone = getComputedStyle(document.getElementById("tip")).visibility;
  canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, clientX: box.left + box.width / 2, clientY: 9, bubbles: true, cancelable: true }));
  await frame();
  seen.canReset.push(!document.getElementById("reset").disabled);
  document.getElementById("reset").click();
  await frame();
  seen.canReset.push(!document.getElementById("reset").disabled);
  point("pointerdown", .2); point("pointermove", .3); point("pointermove", .4); point("pointerup", .4);
  await frame();
  seen.canReset.push(!document.getElementById("reset").disabled);
  point("pointermove", 0);
  seen.leftAfterDrag = text("at");
  canvas.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  await frame();
  seen.canReset.push(!document.getElementById("reset").disabled);
  press("Home"); seen.first = { at: text("at"), said: text("said"), table: table() };
  press("ArrowRight"); seen.second = { at: text("at"), table: table() };
  press("End"); seen.last = { at: text("at"), table: table() };
  press("p"); seen.peak = table();
  press("+"); await frame(); seen.canReset.push(!document.getElementById("reset").disabled);
  press("0"); await frame(); seen.canReset.push(!document.getElementById("reset").disabled);
  const button = document.querySelectorAll("#legend button")[7];
  button.click();
  await frame();
  seen.hidden = { pressed: button.getAttribute("aria-pressed"), table: table(), colours: painted() };
  button.click();
})().catch(why => problems.push(String(why))).finally(() => {
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script>"""


def number(text):
    return float(re.search(r"[\d.]+", text)[0])


def pack(changes):
    """(us later, category, bytes more or less) as the page has them."""
    out = bytearray()
    for change in changes:
        later, category, more = change
        for v in (later, category, -2 * more - 1 if more < 0 else 2 * more):
            while v > 127:
                out.append(v & 127 | 128)
                v >>= 7
            out.append(v)
    return base64.b64encode(out).decode()


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.dir, True)
        where = next((SOURCE / "tests/data/pt-a-npu/raw").glob("*_ascend_pt"))
        for out in ("a.html", "a.json"):
            subprocess.run([ASCOPE, "export-memory-timeline", where, cls.dir / out, "-q", "--device", "npu:0"], check=True)
        cls.page = (cls.dir / "a.html").read_text()
        cls.times, cls.sizes = json.loads((cls.dir / "a.json").read_text())

    def browse(self, page, budget_ms=20000):
        file = self.dir / "browsed.html"
        file.write_text(page.replace("<head>", "<head>" + LISTEN, 1).replace("</body>", ACT + "</body>"))
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--window-size=1400,900",
                               f"--user-data-dir={self.dir}/profile", f"--virtual-time-budget={budget_ms}", file.as_uri()],
                              capture_output=True, text=True, check=True, timeout=170)
        left = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.S)
        self.assertTrue(left and left[1], "the script did not come to its end")
        seen = json.loads(html.unescape(left[1]))
        self.assertEqual(seen["problems"], [])
        return seen

    def sizes_at(self, ms):
        """What the numbers say of a time that the page shows, which has 3 decimals: that, or the point beside it."""
        us = self.times[0] + ms * 1000
        return [row[1:] for k in (-1, 0, 1) for t, row in zip(self.times, self.sizes) if t <= us + k][-1:] + \
               [[row[1:] for t, row in zip(self.times, self.sizes) if t <= us + k][-1] for k in (-1, 0)
                if self.times[0] <= us + k]

    def assert_column(self, table, column, wanted):
        """The cells of a column are the bytes of the categories, and their sum."""
        self.assertEqual([row[0] for row in table[:-1]], CATEGORIES)
        self.assertIn([row[column] for row in table[:-1]], wanted)
        self.assertEqual(table[-1][column], sum(row[column] for row in table[:-1]))

    def test_it_needs_nothing_else(self):
        self.assertNotRegex(self.page, r"https?://|\bsrc=|@import|url\(")
        self.assertNotIn("@TIMELINE@", self.page)

    def test_what_a_person_does(self):
        seen = self.browse(self.page)
        self.assertIn("npu:0", seen["title"])
        self.assertRegex(seen["most"], r"Max memory allocated: [\d.]+ [KMG]?i?B · Max memory reserved: [\d.]+ [KMG]?i?B")
        self.assertGreater(seen["points"], 100)
        self.assertGreater(seen["colours"], 5)
        peak = max(self.sizes, key=sum)[1:]
        for column in (1, 2):  # it begins at the peak
            self.assert_column(seen["atPeak"], column, [peak])
        self.assertEqual([row[3] for row in seen["atPeak"][:-1]], [max(row[i + 1] for row in self.sizes) for i in range(8)])

        self.assertEqual((seen["tipIsShown"], seen["tipIsGone"]), ("visible", "hidden"))
        self.assert_column(seen["hovered"]["table"], 1, self.sizes_at(number(seen["hovered"]["at"])))
        for name, here, *_ in seen["hovered"]["table"][:-1]:
            self.assertEqual(name in seen["tip"] and f"{here:,} B" in seen["tip"], here > 0, name)

        end = (self.times[-1] - self.times[0]) / 1000
        self.assertEqual(seen["canReset"], [False, True, False, True, False, True, False])
        self.assertAlmostEqual(number(seen["leftAfterDrag"]), .2 * end, delta=.01 * end)
        self.assertEqual(number(seen["first"]["at"]), 0)
        self.assertIn("UNKNOWN", seen["first"]["said"])
        self.assert_column(seen["first"]["table"], 1, self.sizes_at(0))
        self.assertGreater(number(seen["second"]["at"]), 0)
        self.assert_column(seen["second"]["table"], 1, self.sizes_at(number(seen["second"]["at"])))
        self.assert_column(seen["last"]["table"], 1, [self.sizes[-1][1:]])
        self.assert_column(seen["peak"], 1, [peak])

        self.assertEqual(seen["hidden"]["pressed"], "false")
        self.assertLess(seen["hidden"]["table"][-1][2], seen["atPeak"][-1][2])
        self.assertGreater(seen["hidden"]["colours"], 4)

    def test_names_cannot_break_out_of_the_page(self):
        where = next((SOURCE / "tests/data/pt-a-host/raw").glob("*_ascend_pt"))
        name = "<script>alert(1)<!-- é \"' x_ascend_pt"
        shutil.copytree(where, self.dir / name)
        subprocess.run([ASCOPE, "export-memory-timeline", self.dir / name, self.dir / "b.html", "-q"], check=True)
        subprocess.run(["chmod", "-R", "u+w", self.dir], check=True)
        seen = self.browse((self.dir / "b.html").read_text())
        self.assertIn(name, seen["title"])

    def test_a_million_points(self):
        changes = ((i % 3, i * 7 % 8, (1 << 20) if i // 8 % 2 == 0 else -(1 << 20)) for i in range(1_500_000))
        page = re.sub(r'"endUs": \d+', '"endUs": 0', self.page)
        page = re.sub(r'"changes": "[^"]*"', lambda _: f'"changes": "{pack(changes)}"', page)
        seen = self.browse(page, 60000)
        self.assertGreaterEqual(seen["points"], 1_000_000)


if __name__ == "__main__":
    if not BROWSER:
        print("skipped: there is no Chromium to look at the page with; apt-get install chromium")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
