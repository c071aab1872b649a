// SPDX-License-Identifier: Apache-2.0
// The timeline of `ascope view` in a real browser: what stands in its address, pinned and folded rows, clock, ruler, the keyboard alone,
// and the way back. Any message of the browser's console fails. Pictures are left in a folder, to be looked at.
//
//   node timeline.js ASCOPE SOURCE_ROOT PICTURES          exit 77: there is no browser, or playwright-core is not installed
"use strict";
const fs = require("fs");
const path = require("path");
const { pictures, check, with_server, in_browser } = require("./page_test.js");

const LIMIT = { timeout: 60000 };
const BASE_US = 1717211066463476; // 2024-06-01 03:04:26.463476 UTC

/** Two processes of six threads each, four levels high, operators that launch kernels, and a counter. */
function trace(file) {
    const events = [];
    for (let pid = 1; pid <= 2; pid++) {
        events.push({ ph: "M", name: "process_name", pid, args: { name: "job " + pid } });
        for (let tid = 1; tid <= 6; tid++)
            for (let i = 0; i < 50; i++)
                for (let depth = 0; depth < 4; depth++)
                    events.push({ ph: "X", name: "op" + tid + "_" + depth, pid, tid, ts: BASE_US + i * 100 + depth, dur: 80 - 2 * depth, args: { i } });
    }
    events.push({ ph: "X", name: "needle", pid: 2, tid: 4, ts: BASE_US + 85, dur: 5 }, { ph: "X", name: "needle", pid: 1, tid: 1, ts: BASE_US + 185, dur: 5 });
    for (let i = 0; i < 50; i++) events.push({ ph: "C", name: "load", pid: 1, ts: BASE_US + i * 100, args: { percent: i } });
    fs.writeFileSync(file, JSON.stringify({ traceEvents: events }));
    return file;
}

const address = (page) => page.evaluate(() => Object.fromEntries([...new URLSearchParams(location.hash.slice(1))].sort()));
/** The address has a key, or has it no more. */
const has = (page, key, is_there = true) => page.waitForFunction(([k, there]) => new URLSearchParams(location.hash.slice(1)).has(k) === there, [key, is_there], LIMIT);
const holds = (page, key, value) => page.waitForFunction(([k, v]) => new URLSearchParams(location.hash.slice(1)).get(k) === v, [key, value], LIMIT);
const drawn = (page) => page.waitForFunction(() => Number(document.querySelector("canvas")?.dataset.frames) > 1, null, LIMIT);
const details = (page, words) => page.waitForFunction((w) => document.querySelector(".details")?.innerText.includes(w), words, LIMIT);
const picture = (page, name) => page.screenshot({ path: path.join(pictures, name + ".png") });
/** A part of the canvas, as it is seen. */
const part = async (page, x, y, width, height) => {
    const box = await page.locator("canvas").boundingBox();
    return (await page.screenshot({ clip: { x: box.x + x, y: box.y + y, width, height } })).toString("base64");
};

async function open(page, url, hash) {
    await page.goto("about:blank");
    await page.goto(url + "#" + hash);
    await page.waitForSelector(`main[data-shown="${new URLSearchParams(hash).get("page") ?? "overview"}"]`, LIMIT);
    if (hash.includes("timeline")) await drawn(page);
}

/** Folded, pinned, marked, scrolled and selected: another tab with the address shows the same. */
async function use_address(page, url) {
    await open(page, url, "page=timeline");
    await page.keyboard.press("Period");
    await details(page, "op1_0");
    await page.keyboard.press("KeyM");
    await page.keyboard.press("KeyP");
    await has(page, "pins");
    await page.keyboard.press("Space");
    await has(page, "fold");
    await page.keyboard.press("KeyT");
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => {
        const y = Math.round(document.querySelector(".scroll").scrollTop);
        return y > 60 && new URLSearchParams(location.hash.slice(1)).get("y") === String(y);
    }, null, LIMIT);
    await has(page, "clock");
    const there = await address(page);
    check(/^t\d+$/.test(there.pins) && there.pins === there.fold && /^\d+-\d+$/.test(there.marks) && there.slice !== undefined, "the address lacks something: " + JSON.stringify(there));
    await page.evaluate(() => document.getElementById("theme").click()); // makes the page anew
    await holds(page, "theme", "dark");
    await page.evaluate(() => document.getElementById("theme").click());
    await holds(page, "theme", "light");
    await open(page, url, new URLSearchParams(there).toString());
    await details(page, "op1_0");
    await picture(page, "state");
    check(JSON.stringify(await address(page)) === JSON.stringify(there), "another tab shows something else: " + JSON.stringify(await address(page)));
    // The pinned row stays at the top, its blocks below the axis, whatever is scrolled.
    const pinned = await part(page, 0, 26, 1300, 20), others = await part(page, 0, 60, 200, 60);
    await page.evaluate(() => (document.querySelector(".scroll").scrollTop = 60));
    await holds(page, "y", "60");
    check((await part(page, 0, 26, 1300, 20)) === pinned && (await part(page, 0, 60, 200, 60)) !== others, "the pinned row went away");
    // Space unfolds a row of which the selected level is hidden, and Shift+Space folds its process.
    await page.locator("canvas").focus();
    await page.keyboard.press("Space");
    await has(page, "fold", false);
    await page.keyboard.press("Shift+Space");
    await holds(page, "fold", "p0");
    await page.keyboard.press("Space");
    await has(page, "fold", false);
    await page.keyboard.press("Escape");
    await has(page, "slice", false);
}

/** Moments of the axis and of the line at the mouse: from the begin, or of the machine's clock. */
async function use_clock(page, url) {
    await open(page, url, "page=timeline");
    const box = await page.locator("canvas").boundingBox();
    await page.mouse.move(box.x + 700, box.y + 60);
    const now = () => page.locator(".now").innerText();
    check(/^\d+\.?\d* (µs|ms)$/.test(await now()), "no moment at the mouse: " + (await now()));
    await page.keyboard.press("KeyT");
    await page.mouse.move(box.x + 701, box.y + 60);
    check(/^03:04:26\.46\d+$/.test(await now()), "not the clock of the machine: " + (await now()));
    check((await page.locator(".timeline .pictures [aria-pressed]").getAttribute("aria-pressed")) === "true", "the button does not show it");
    await page.keyboard.press("Period");
    await details(page, "2024-06-01 03:04:26.463476000 UTC, 1717211066463476000 ns");
    await picture(page, "clock");
    // The moment at the mouse has the unit of the axis, and as many digits as pixels can tell apart.
    for (const [t1, wanted] of [[2000000, /^1\.\d{4} ms$/], [1020000, /^1\.0\d{4} ms$/], [1000100, /^1000\.0\d\d µs$/]]) {
        await open(page, url, "page=timeline&t0=1000000&t1=" + t1);
        await page.mouse.move(box.x + 700, box.y + 60);
        check(wanted.test(await now()), "another moment at the mouse than " + wanted + ": " + (await now()));
    }
    // A counter says its value, and what is merged how many it is.
    await page.keyboard.press("Escape");
    await page.mouse.move(box.x + 1000, box.y + 26 + 22 + 6 * 76 + 20); // below the tracks of its process
    await page.waitForFunction(() => /^load percent: \d+/.test(document.querySelector(".tip").textContent), null, LIMIT);
    await page.mouse.move(box.x + 30, box.y + 60);
    check(await page.locator(".tip").isHidden(), "the tip stays over the names");
}

/** Without a mouse: a range and its statistics, zoom about the selection; with it: a drag along the axis is of all rows. */
async function use_ranges(page, url) {
    await open(page, url, "page=timeline");
    await page.keyboard.press("KeyR");
    await page.waitForSelector(".details table", LIMIT);
    await has(page, "area");
    const there = await address(page), rows = await page.locator(".details tr").count();
    check(rows > 8, "R has too few names: " + rows);
    await open(page, url, new URLSearchParams(there).toString());
    await page.waitForSelector(".details table", LIMIT);
    check((await page.locator(".details tr").count()) === rows, "the range of the address has other statistics");
    await page.keyboard.press("Escape");
    await has(page, "area", false);
    const box = await page.locator("canvas").boundingBox();
    await page.mouse.move(box.x + 500, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 800, box.y + 12, { steps: 3 });
    await page.mouse.up();
    await page.waitForSelector(".details table", LIMIT);
    await picture(page, "ruler");
    check(Number((await page.locator("#status").innerText()).match(/^[\d,]+/)?.[0].replaceAll(",", "")) > 100, "a drag along the axis is not of all rows");
    await page.mouse.move(5, 5); // away: keys zoom about the selection
    await open(page, url, "page=timeline&t0=0&t1=5000000");
    await page.keyboard.press("Period");
    await details(page, "op1_0");
    await page.keyboard.down("KeyW");
    await page.waitForFunction((n) => Number(document.querySelector("canvas").dataset.frames) > n + 30, Number(await page.locator("canvas").getAttribute("data-frames")), LIMIT);
    await page.keyboard.up("KeyW");
    await page.waitForFunction(() => Number(new URLSearchParams(location.hash.slice(1)).get("t1")) < 1000000, null, LIMIT);
    const { t0, t1 } = await address(page);
    check(Number(t0) <= 40000 && Number(t1) >= 40000, "keys do not zoom about the selection: " + [t0, t1]);
}

/** The map of all moves what is shown, and shows where that is. */
async function use_minimap(page, url) {
    await open(page, url, "page=timeline&t0=0&t1=500000");
    await page.waitForSelector(".minimap path.host", { ...LIMIT, state: "attached" });
    const map = await page.locator(".minimap .map").boundingBox(), view = () => page.locator(".minimap .view").boundingBox();
    const before = await view();
    check(Math.abs(before.x - map.x) < 2 && Math.abs(before.width - map.width / 10) < map.width / 50, "the map shows another part: " + JSON.stringify(before));
    await page.mouse.click(map.x + map.width * 0.75, map.y + 10);
    await page.waitForFunction(() => Math.abs(Number(new URLSearchParams(location.hash.slice(1)).get("t0")) - 3485000) < 30000, null, LIMIT);
    const after = await view();
    check(Math.abs(after.x + after.width / 2 - (map.x + map.width * 0.75)) < 4, "the map does not follow: " + JSON.stringify(after));
    check(await page.locator(".minimap path.device").count() === 0, "a device where there is none");
}

/** What is found is in sight, above its details, and has its number. */
async function use_search(page, url) {
    await open(page, url, "page=timeline");
    const words = () => page.locator("#found").innerText();
    await page.keyboard.press("Slash");
    await page.keyboard.type("needle");
    await page.keyboard.press("Enter");
    await details(page, "job 2 / 4");
    await page.waitForFunction(() => document.querySelector(".scroll").scrollTop > 0, null, LIMIT);
    check((await words()) === "1 of 2", "not the first: " + (await words()));
    await page.keyboard.press("Enter");
    await details(page, "job 1 / 1");
    await page.keyboard.press("Shift+Enter");
    await details(page, "job 2 / 4");
    check((await words()) === "1 of 2", "not back at the first: " + (await words()));
    await picture(page, "found");
}

/** Back and forth, and an address that is pasted into an open tab. */
async function use_history(page, url) {
    await open(page, url, "");
    await page.locator('[data-page="timeline"]').click();
    await drawn(page);
    await page.locator('[data-page="tables"]').click();
    await page.waitForSelector('main[data-shown="tables"] td', LIMIT);
    await page.locator("main tr[tabindex]").first().click();
    await details(page, "op");
    await has(page, "slice");
    await page.goBack();
    await page.waitForSelector('main[data-shown="tables"] td', LIMIT);
    await page.goBack();
    await page.waitForSelector('main[data-shown="timeline"] canvas', LIMIT);
    await page.goBack();
    await page.waitForSelector('main[data-shown="overview"]', LIMIT);
    await page.goForward();
    await page.waitForSelector('main[data-shown="timeline"] canvas', LIMIT);
    await page.evaluate(() => (location.hash = "page=flame"));
    await page.waitForSelector('main[data-shown="flame"]', LIMIT);
    check((await page.locator('[aria-selected="true"]').innerText()) === "Flame graph", "the pasted address is not shown");
}

in_browser(async (page, folder) => {
    await with_server([trace(folder + "/trace.json")], async (url) => {
        await use_address(page, url);
        await use_clock(page, url);
        await use_ranges(page, url);
        await use_minimap(page, url);
        await use_search(page, url);
        await use_history(page, url);
    });
});
