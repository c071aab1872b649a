// SPDX-License-Identifier: Apache-2.0
// What frames of the timeline cost while keys move and zoom, in a browser without a window and without a GPU:
//
//   node frames.js URL-of-ascope-view          prints {"n", "work_median_ms", "work_p99_ms", "between_median_ms"}
//
// Work is the CPU time of a frame: its script with all its drawing commands, and one pixel read back, so that they are carried out. The
// browser's own record of its main thread has it; the time of a clock would have that of other programs, too.
"use strict";
const { launch } = require("./browser.js");
const HELD_MS = 1500, KEYS = ["KeyD", "KeyW", "KeyA", "KeyS", "KeyD", "KeyW", "KeyW", "KeyD", "KeyS"];

async function main(url) {
    const browser = await launch();
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    await page.addInitScript(() => {
        const usual = window.requestAnimationFrame.bind(window);
        window.requestAnimationFrame = (draw) => usual((t) => {
            draw(t);
            document.querySelector("canvas")?.getContext("2d").getImageData(300, 100, 1, 1);
        });
    });
    await page.goto(url + "#page=timeline");
    await page.waitForFunction(() => Number(document.querySelector("canvas")?.dataset.frames) > 1, null, { timeout: 120000 });
    await page.locator("canvas").focus();
    await page.mouse.move(900, 400);
    await browser.startTracing(page, { categories: ["devtools.timeline"] });
    for (const key of KEYS) {
        await page.keyboard.down(key);
        await page.waitForTimeout(HELD_MS);
        await page.keyboard.up(key);
    }
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
    await browser.close();
    const seen = traceEvents.filter((e) => e.name === "FireAnimationFrame" && e.tdur !== undefined).sort((a, b) => a.ts - b.ts);
    const at = (list, p) => list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))];
    const work = seen.map((e) => e.tdur / 1000), between = seen.slice(1).map((e, i) => (e.ts - seen[i].ts) / 1000);
    console.log(JSON.stringify({ n: seen.length, work_median_ms: at(work, 0.5), work_p99_ms: at(work, 0.99), between_median_ms: at(between, 0.5) }));
}

main(process.argv[2]).catch((e) => {
    console.error(String(e));
    process.exit(1);
});
