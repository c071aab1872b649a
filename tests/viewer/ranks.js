// SPDX-License-Identifier: Apache-2.0
// Jobs of many ranks and two runs in a real browser: verdicts, maps and advice are clicked and moved through by keys, and lead to the
// right rows and times. Any message of the browser's console fails. Pictures are left in a folder, to be looked at.
//
//   node ranks.js ASCOPE SOURCE_ROOT PICTURES          exit 77: there is no browser, or playwright-core is not installed
"use strict";
const { spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const { ascope, pictures, check, with_server, in_browser } = require("./page_test.js");

const HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202e';
const LIMIT = { timeout: 60000 };

function sim(...words) {
    const made = spawnSync(ascope, ["sim", "--framework", "pt", ...words], { encoding: "utf8" });
    check(made.status === 0, "ascope sim: " + made.stderr);
}

async function look(page, url, hash, name) {
    await page.goto("about:blank");
    await page.goto(url + "#" + hash);
    const wanted = new URLSearchParams(hash).get("page") || "overview";
    await page.waitForFunction((p) => document.querySelector("main").dataset.shown === p && document.getElementById("notice").hidden, wanted, LIMIT);
    await page.screenshot({ path: path.join(pictures, name + ".png") });
}

const state = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const shown = (page, key, value) => page.waitForFunction(([k, v]) => new URLSearchParams(location.hash.slice(1)).get(k) === v, [key, value], LIMIT);
/** The address follows what is shown. */
const has = (page, key) => page.waitForFunction((k) => new URLSearchParams(location.hash.slice(1)).has(k), key, LIMIT);
const caption = (page, n) => page.locator(".heat figcaption").nth(n).innerText();

async function use_job(page, url, folder) {
    await look(page, url, "", "job");
    const text = await page.locator("main").innerText();
    for (const words of ["8 ranks, 4 steps", "rank 3 is slow", "clock of rank 2", "link 0-1", "Advice", "a rank that the others wait for", "HCCS (GB/s)"])
        check(text.includes(words), "the overview lacks: " + words);
    // Verdicts and advice are side by side where there is room; the critical path is that of `ascope cluster`.
    const place = (name) => page.getByRole("heading", { name, exact: false }).first().boundingBox();
    const [verdicts, advice, path_box] = [await place("Verdicts"), await place("Advice"), await place("Critical path of step")];
    check(Math.abs(verdicts.y - advice.y) < 20 && advice.x > 600 && path_box.x > 600, "the right half is empty: " + JSON.stringify([verdicts, advice, path_box]));
    fs.cpSync(folder + "/job", folder + "/copy", { recursive: true }); // the page would report what cluster writes
    const cluster = JSON.parse(spawnSync(ascope, ["cluster", folder + "/copy", "--json"], { encoding: "utf8" }).stdout).critical_path;
    const rows = (await page.locator("table.one_line tr").allInnerTexts()).slice(1, 1 + cluster.parts.length).map((t) => t.match(/([\d.]+) %/)[1]);
    check(rows.join() === cluster.parts.map((p) => ((100 * p.ns) / cluster.ns).toFixed(1)).join(), "another critical path: " + rows);
    check(await page.getByRole("button", { name: /^rank 3 is slow/ }).evaluate((b) => getComputedStyle(b).borderTopWidth === "0px" && getComputedStyle(b).color !== getComputedStyle(document.body).color), "a link looks like a button");
    // One click from the verdict to the slow rank beside the one that waits: two pinned rows, the collective selected.
    await page.getByRole("button", { name: /^rank 3 is slow/ }).click();
    await page.waitForSelector(".timeline .details dl", LIMIT);
    await has(page, "pins");
    const there = await state(page);
    check(/^Rank 3;Rank \d$/.test(there.ranks) && there.pins.split(",").length >= 2, "not two ranks: " + JSON.stringify(there));
    check(/hcom_/.test(await page.locator(".details").innerText()), "the collective is not selected");
    check((await page.locator('.ranked .bar [aria-pressed="true"]').allInnerTexts()).includes("Rank 3"), "the bar does not show the ranks");
    await page.waitForFunction(() => Number(document.querySelector("canvas").dataset.frames) > 1, null, LIMIT);
    await page.screenshot({ path: path.join(pictures, "aligned.png") });
    // The flow event between the two ranks, forth and back.
    const of_rank = (rank) => page.waitForFunction((r) => document.querySelector(".details dl").innerText.includes(r + ": HCCL"), rank, LIMIT);
    const other = there.ranks.split(";")[1];
    check((await page.locator(".details dd button").allInnerTexts()).some((t) => t.includes(", " + other + ", ")), "the details name no other rank");
    await of_rank("Rank 3");
    await page.keyboard.press("]");
    await page.waitForFunction(() => !document.querySelector(".details dl").innerText.includes("Rank 3: HCCL"), null, LIMIT);
    await page.keyboard.press("[");
    await of_rank("Rank 3");
    await page.screenshot({ path: path.join(pictures, "tied.png") });
    await page.getByRole("button", { name: "All ranks" }).click();
    await page.waitForFunction(() => !new URLSearchParams(location.hash.slice(1)).has("ranks"), null, LIMIT);
    await page.getByRole("button", { name: "Group by process" }).click();
    await shown(page, "order", "process");
}

async function use_maps(page, url) {
    await look(page, url, "group=tp&heat=computing&theme=dark", "job-dark");
    const map = page.locator(".heat canvas").first();
    await map.focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    check(/^Rank 3, Step 1: /.test(await caption(page, 0)), "the keys do not move: " + (await caption(page, 0)));
    const box = await map.boundingBox();
    await page.mouse.move(box.x + 80, box.y + 22);
    check(/^Rank 0, Step 0: /.test(await caption(page, 0)), "the mouse does not move: " + (await caption(page, 0)));
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await shown(page, "ranks", "Rank 0");
    await page.waitForSelector('main[data-shown="timeline"] canvas', LIMIT);
    const { t0, t1 } = await state(page), names = await page.evaluate(async ([a, b]) => {
        const q = `SELECT name FROM slices WHERE run = 'Rank 0' AND name LIKE 'ProfilerStep#%' AND begin_ns < ${b} AND begin_ns + dur_ns > ${a} ORDER BY dur_ns DESC`;
        return (await (await fetch("api/sql?input=0&q=" + encodeURIComponent(q))).json()).rows.map((r) => r[0]);
    }, [Number(t0), Number(t1)]);
    check(names.includes("ProfilerStep#3"), "not the step of the cell: " + names);
    await look(page, url, "lang=zh", "job-zh");
    check(/rank 3 每步都慢/.test(await page.locator("main").innerText()), "verdicts are not in Chinese");
    await page.locator(".heat canvas").nth(1).click({ position: { x: 80 + 64, y: 22 } });
    await page.waitForSelector('main[data-shown="timeline"] canvas', LIMIT);
    await shown(page, "ranks", "Rank 0;Rank 1");
    await page.setViewportSize({ width: 420, height: 800 });
    await look(page, url, "", "job-narrow");
    check(await page.evaluate(() => document.querySelector("main").scrollWidth <= document.documentElement.clientWidth), "the page is wider than the window");
    await page.setViewportSize({ width: 1400, height: 900 });
}

/** A rank that is not in the timeline is loaded alone when its step is clicked. */
async function use_others(page, url) {
    await look(page, url, "", "chosen");
    const map = page.locator(".heat canvas").first();
    await map.focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => Number(new URLSearchParams(location.hash.slice(1)).get("input")) > 0, null, LIMIT);
    await page.waitForSelector('main[data-shown="timeline"] canvas', LIMIT);
    await has(page, "t1");
    const there = await state(page);
    check(Number(there.t1) - Number(there.t0) > 1e6 && Number(there.t0) > 0, "not the step of the other rank: " + JSON.stringify(there));
}

async function use_runs(page, url) {
    await look(page, url, "", "runs");
    const text = await page.locator("main").innerText();
    check(/A usual step/.test(text) && /Both runs begin step 0/.test(text), "no comparison of runs");
    await page.locator("main label select").selectOption("2");
    await page.waitForFunction(() => /begin step 2 at/.test(document.querySelector("main").innerText), null, LIMIT);
    await look(page, url, "", "runs-changes");
    await page.getByRole("button", { name: "MatMulV2" }).first().click(); // what changed, in the timeline
    await page.waitForFunction(() => document.querySelector(".timeline .details")?.innerText.includes("MatMulV2"), null, LIMIT);
    check(/^1 of /.test(await page.locator("#found").innerText()), "what changed is not searched for");
    await look(page, url, "page=timeline", "runs-timeline");
    check((await page.locator(".ranked .bar button").allInnerTexts()).join(";") === "Group by process;All ranks;A, rank 0;B, rank 0", "the bar lacks a run");
}

async function use_hostile(page, url) {
    await look(page, url, "", "hostile-runs");
    await look(page, url, "page=timeline", "hostile-runs-timeline");
    check((await page.title()).startsWith("ascope"), "a name became a script");
}

function hostile(file) {
    const events = [{ ph: "M", name: "process_name", pid: 1, args: { name: HOSTILE } }];
    for (let i = 0; i < 20; i++) events.push({ ph: "X", name: HOSTILE + i, pid: 1, tid: 1, ts: i * 10, dur: 8, args: { n: i } });
    fs.writeFileSync(file, JSON.stringify({ traceEvents: events }));
    return file;
}

in_browser(async (page, folder) => {
    sim("--tp", "2", "--pp", "2", "--dp", "2", "--kernels", "1600", "--steps", "4", "--slow-rank", "3:1.5", "--slow-link", "0-1:0.2", "--clock-offset", "2:3ms", "--out", folder + "/job");
    sim("--kernels", "600", "--steps", "5", "--out", folder + "/a");
    sim("--kernels", "600", "--steps", "5", "--slow-operator", "MatMulV2:3", "--noise-seed", "5", "--out", folder + "/" + HOSTILE.replaceAll("/", ""));
    await with_server([folder + "/job"], async (url) => {
        await use_job(page, url, folder);
        await use_maps(page, url);
    });
    await with_server([folder + "/job", "--ranks", "0-1"], (url) => use_others(page, url));
    await with_server([folder + "/a", folder + "/" + HOSTILE.replaceAll("/", "")], (url) => use_runs(page, url));
    await with_server([hostile(folder + "/x.json"), hostile(folder + "/y.json")], (url) => use_hostile(page, url));
});
