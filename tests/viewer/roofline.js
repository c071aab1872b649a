// SPDX-License-Identifier: Apache-2.0
// The roofline in a real browser: circles and roofs are drawn where the figures say, and lead to the timeline by mouse and by keys. Any
// message of the browser's console fails. Pictures are left in a folder, to be looked at.
//
//   node roofline.js ASCOPE SOURCE_ROOT PICTURES          exit 77: there is no browser, or playwright-core is not installed
"use strict";
const { spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const { ascope, pictures, check, with_server, in_browser } = require("./page_test.js");

const LIMIT = { timeout: 60000 };

function sim(...words) {
    const made = spawnSync(ascope, ["sim", "--steps", "3", ...words], { encoding: "utf8" });
    check(made.status === 0, "ascope sim: " + made.stderr);
}

async function look(page, url, hash, name) {
    await page.goto("about:blank");
    await page.goto(url + "#" + hash);
    const wanted = new URLSearchParams(hash).get("page") || "overview";
    await page.waitForFunction((p) => document.querySelector("main").dataset.shown === p && document.getElementById("notice").hidden, wanted, LIMIT);
    await page.screenshot({ path: path.join(pictures, "roofline-" + name + ".png") });
}

const range = (page) => page.evaluate(() => ["t0", "t1"].map((key) => Number(new URLSearchParams(location.hash.slice(1)).get(key))));

/** Both axes are in powers of ten: what is ten times as much is as far away, wherever it is. */
async function check_circles(page, rows) {
    const drawn = await page.locator(".roofline circle").evaluateAll((all) => all.map((c) => ["cx", "cy", "r"].map((key) => Number(c.getAttribute(key)))));
    const wanted = rows.filter((w) => w.operations > 0 && w.bytes > 0);
    check(drawn.length === wanted.length && drawn.length > 20, `${drawn.length} circles of ${wanted.length}`);
    const x = wanted.map((w) => Math.log10(w.operations / w.bytes)), y = wanted.map((w) => Math.log10(w.operations / (w.ns / 1e9)));
    for (const [of, values, sign] of [[0, x, 1], [1, y, -1]]) {
        const low = values.indexOf(Math.min(...values)), high = values.indexOf(Math.max(...values));
        const decade = (drawn[high][of] - drawn[low][of]) / (values[high] - values[low]);
        check(Math.sign(decade) === sign, "the axis is the wrong way round");
        drawn.forEach((c, i) => check(Math.abs(c[of] - drawn[low][of] - decade * (values[i] - values[low])) < 0.2, `circle ${i} is at ${c}`));
    }
    drawn.slice(1).forEach((c, i) => check(c[2] <= drawn[i][2], "the circles are not sorted by time"));
}

async function use_collection(page, url, number) {
    const reply = await (await fetch(url + "api/roofline?input=" + number)).json();
    await look(page, url, "page=roofline&input=" + number, "light");
    await check_circles(page, reply.rows);
    check((await page.locator(".roofline line.roof").count()) === 2, "the roofs are not drawn");
    const text = await page.locator("main").innerText();
    for (const words of ["FP16, BF16: 354 T/s (cores and clock of the device)", "Memory: 1.6 TB/s (published for this chip)", "MatMulV3", "DT_BF16;DT_BF16", "(without a mask)", "its times do not follow the shapes"])
        check(text.includes(words), "the page lacks: " + words);
    check((await page.locator(".roofline tr").count()) === reply.rows.length + 1, "the table has other rows");
    // By keys: the largest circle, the next one, and from there to the timeline.
    await page.locator('.roofline circle[tabindex="0"]').focus();
    await page.keyboard.press("ArrowRight");
    const second = reply.rows.filter((w) => w.operations > 0 && w.bytes > 0)[1], length = second.end - second.begin;
    check((await page.locator("#status").innerText()).includes(second.name + " · " + second.shapes), "the status does not follow the keys");
    await page.keyboard.press("Enter");
    await page.waitForSelector('main[data-shown="timeline"]', LIMIT);
    await page.waitForFunction((t0) => Number(new URLSearchParams(location.hash.slice(1)).get("t0")) === t0, second.begin - length, LIMIT);
    check((await range(page))[1] === second.end + length, "the timeline shows another range: " + (await range(page)));
    // By mouse, from the table.
    await look(page, url, "page=roofline&input=" + number, "again");
    await page.locator(".roofline td button").first().click();
    await page.waitForSelector('main[data-shown="timeline"]', LIMIT);
    await page.waitForFunction((t0) => Number(new URLSearchParams(location.hash.slice(1)).get("t0")) === t0, 2 * reply.rows[0].begin - reply.rows[0].end, LIMIT);
    await look(page, url, "page=roofline&theme=dark&lang=zh&input=" + number, "dark-zh");
    check((await page.locator('[data-page="roofline"]').innerText()) === "屋顶线", "no Chinese");
    check((await page.locator("main").innerText()).includes("该芯片的公开数据"), "no Chinese roofs");
    for (const width of [3840, 480]) {
        await page.setViewportSize({ width, height: 900 });
        await look(page, url, "page=roofline&input=" + number, "size-" + width);
        check(await page.evaluate(() => document.querySelector(".roofline svg").clientWidth <= innerWidth), width + " pixels: it does not fit");
    }
    await page.setViewportSize({ width: 1400, height: 900 });
}

in_browser(async (page, folder) => {
    sim("--framework", "pt", "--kernels", "600", "--out", folder + "/pt");
    sim("--kernels", "300", "--chip", "910", "--metrics", "ArithmeticUtilization", "--out", folder + "/other");
    fs.writeFileSync(folder + "/trace.json", JSON.stringify({ traceEvents: [{ ph: "X", name: "a", pid: 1, tid: 1, ts: 1, dur: 2 }] }));
    await with_server([folder + "/pt", folder + "/other", folder + "/trace.json"], async (url) => {
        let inputs = [];
        while (!inputs.length || inputs.some((one) => one.state === "loading")) inputs = (await (await fetch(url + "api/about")).json()).inputs;
        const at = (part) => inputs.findIndex((one) => one.path.includes(part));
        await use_collection(page, url, at("/pt"));
        await look(page, url, "page=roofline&input=" + at("/other"), "910");
        const text = await page.locator("main").innerText();
        check(/Memory: [\d.]+ [GT]B\/s \(no figure is known: the most that a kernel here has reached\)/.test(text), "the observed roof is not labelled");
        check(text.includes("(counted)"), "counted operations are not labelled");
        check((await page.locator(".roofline line.observed").count()) === 1, "the observed roof is drawn as a known one");
        await look(page, url, "input=" + at("trace.json"), "none");
        check((await page.locator('[data-page="roofline"]').count()) === 0, "a trace without shapes has a roofline");
    });
});
