// SPDX-License-Identifier: Apache-2.0
// How long frames of the timeline take while keys move and zoom, in a browser without a window and without a GPU:
//
//   node frames.js URL-of-ascope-view          prints {"n", "work_median_ms", "work_p99_ms", "between_median_ms"}
//
// Work is the script of a frame with all its drawing commands, and one pixel read back, so that they are carried out.
"use strict";
const { launch } = require("./browser.js");
const HELD_MS = 1500, KEYS = ["KeyD", "KeyW", "KeyA", "KeyS", "KeyD", "KeyW", "KeyW", "KeyD", "KeyS"];

async function main(url) {
    const browser = await launch();
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    await page.addInitScript(() => {
        const usual = window.requestAnimationFrame.bind(window);
        window.frames_seen = [];
        window.requestAnimationFrame = (draw) => usual((t) => {
            const begin = performance.now(), canvas = document.querySelector("canvas");
            draw(t);
            canvas?.getContext("2d").getImageData(300, 100, 1, 1);
            window.frames_seen.push([t, performance.now() - begin]);
        });
    });
    await page.goto(url + "#page=timeline");
    await page.waitForFunction(() => Number(document.querySelector("canvas")?.dataset.frames) > 1, null, { timeout: 120000 });
    await page.locator("canvas").focus();
    await page.mouse.move(900, 400);
    await page.evaluate(() => (window.frames_seen = []));
    for (const key of KEYS) {
        await page.keyboard.down(key);
        await page.waitForTimeout(HELD_MS);
        await page.keyboard.up(key);
    }
    const seen = await page.evaluate(() => window.frames_seen);
    await browser.close();
    const work = seen.map((f) => f[1]).sort((a, b) => a - b), at = (list, p) => list[Math.min(list.length - 1, Math.floor(list.length * p))];
    const between = seen.slice(1).map((f, i) => f[0] - seen[i][0]).filter((ms) => ms > 0).sort((a, b) => a - b);
    console.log(JSON.stringify({ n: seen.length, work_median_ms: at(work, 0.5), work_p99_ms: at(work, 0.99), between_median_ms: at(between, 0.5) }));
}

main(process.argv[2]).catch((e) => {
    console.error(String(e));
    process.exit(1);
});
