// SPDX-License-Identifier: Apache-2.0
// The pages of `ascope view` in a real browser: each is opened on each kind of input, searched, zoomed, selected, clicked through. Any
// message of the browser's console fails. Pictures are left in a folder, to be looked at.
//
//   node pages.js ASCOPE SOURCE_ROOT PICTURES          exit 77: there is no browser, or playwright-core is not installed
"use strict";
const { spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const { ascope, source, pictures, check, with_server, in_browser } = require("./page_test.js");

const HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202e' + "x".repeat(60000);

function inputs(folder) {
    const made = spawnSync(ascope, ["sim", "--framework", "pt", "--kernels", "800", "--steps", "6", "--slow-step", "3:4", "--out", folder + "/job"], { encoding: "utf8" });
    check(made.status === 0, "ascope sim: " + made.stderr);
    const ms = spawnSync(ascope, ["sim", "--framework", "ms", "--kernels", "300", "--steps", "3", "--out", folder + "/ms"], { encoding: "utf8" });
    check(ms.status === 0, "ascope sim: " + ms.stderr);
    const events = [];
    for (let i = 0; i < 200; i++)
        events.push({ ph: "X", name: i % 50 === 7 ? HOSTILE : "op" + (i % 9), cat: "<b>cat</b>", pid: 1, tid: 1, ts: i * 10, dur: 8, args: { "<i>key</i>": HOSTILE.slice(0, 100), n: i } });
    for (let i = 0; i < 5; i++) events.push({ ph: "i", name: HOSTILE, pid: 1, tid: 2, ts: 100 + i * 400, s: "t", args: { mark: i } });
    events.push({ ph: "M", name: "process_name", pid: 1, args: { name: '"><script>alert(2)</script>' } });
    fs.writeFileSync(folder + "/hostile.json", JSON.stringify({ traceEvents: events }));
    const db = spawnSync(ascope, ["export", "db", path.join(source, "tests/data/prof-a"), "--out", folder + "/db", "--quiet"], { encoding: "utf8" });
    check(db.status === 0, "ascope export db: " + db.stderr);
    return [folder + "/job", folder + "/ms", path.join(source, "tests/data/prof-a"), path.join(folder, "db", fs.readdirSync(folder + "/db")[0]), folder + "/hostile.json", path.join(source, "tests/data/kineto/real-2.11-cuda-plain.json")];
}

async function look(page, url, hash, name) {
    await page.goto("about:blank");
    await page.goto(url + "#" + hash);
    const wanted = new URLSearchParams(hash).get("page") || "overview";
    await page.waitForSelector(`main[data-shown="${wanted}"]`, { timeout: 60000 });
    if (wanted === "timeline") await page.waitForFunction(() => Number(document.querySelector("canvas")?.dataset.frames) > 1, null, { timeout: 60000 });
    await page.waitForTimeout(150);
    await page.screenshot({ path: path.join(pictures, name + ".png") });
}

/** How many different colours the rows of the timeline have: 1 is an empty page. */
const colours = (page) => page.evaluate(() => {
    const c = document.querySelector("canvas"), p = c.getContext("2d").getImageData(230, 30, c.width - 240, c.height - 40).data, seen = new Set();
    for (let i = 0; i < p.length; i += 4 * 97) seen.add(p[i] << 16 | p[i + 1] << 8 | p[i + 2]);
    return seen.size;
});
const range = (page) => page.evaluate(() => {
    const s = new URLSearchParams(location.hash.slice(1));
    return [Number(s.get("t0")), Number(s.get("t1"))];
});

async function walk_through(page, url, n) {
    for (let i = 0; i < n; i++) {
        await look(page, url, "input=" + i, "overview-" + i);
        check((await page.locator("main .strip canvas, main table").count()) > 0, "input " + i + ": the overview answers nothing");
        await look(page, url, "page=timeline&input=" + i, "timeline-" + i);
        check((await colours(page)) > 3, "input " + i + ": nothing is drawn");
        await look(page, url, "page=flame&input=" + i, "flame-" + i);
        check((await page.locator(".flame g").count()) > 1, "input " + i + ": no flame graph");
        await look(page, url, "page=tables&input=" + i, "tables-" + i);
        check((await page.locator("main td").count()) > 5, "input " + i + ": no table");
    }
    check((await page.title()).startsWith("ascope"), "a name became a script");
}

async function use_timeline(page, url, job) {
    await look(page, url, "page=timeline&input=" + job, "use-0");
    await page.locator("canvas").focus();
    await page.keyboard.down("KeyW");
    await page.waitForTimeout(400);
    await page.keyboard.up("KeyW");
    await page.waitForTimeout(400);
    const [t0, t1] = await range(page);
    check(t1 > t0 && t1 - t0 < 1.4e8, "W does not zoom: " + [t0, t1]);
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(400);
    check((await range(page))[0] > t0, "the arrow does not move");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Period");
    await page.waitForFunction(() => document.querySelector(".details dl"), null, { timeout: 20000 });
    check(/ns\)/.test(await page.locator(".details").innerText()), "no details of a slice");
    await page.keyboard.press("KeyF");
    await page.keyboard.press("KeyM");
    await page.keyboard.press("Slash");
    await page.keyboard.type("MatMul");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /\d/.test(document.getElementById("found").textContent), null, { timeout: 20000 });
    check(Number((await page.locator("#found").innerText()).replace(/\D/g, "")) > 10, "search finds too little");
    await page.waitForTimeout(300);
    check(/MatMul/.test(await page.locator(".details").innerText()), "the search did not go to what it found");
    const box = await page.locator("canvas").boundingBox();
    await page.mouse.move(box.x + 400, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 800, box.y + 200, { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() => document.querySelector(".details table, .details p"), null, { timeout: 20000 });
    await page.screenshot({ path: path.join(pictures, "use-1.png") });
    await page.locator("#help").click();
    check(await page.locator("dialog[open]").isVisible(), "? shows no keys");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Slash");
    await page.keyboard.press("Escape"); // ends the search, and leads back to the timeline, whose focus can be seen
    check((await page.locator("#search").inputValue()) === "" && (await page.locator("#found").innerText()) === "", "Esc does not end the search");
    await page.waitForFunction(() => !new URLSearchParams(location.hash.slice(1)).has("q"), null, { timeout: 20000 });
    check(await page.evaluate(() => document.activeElement.tagName === "CANVAS" && getComputedStyle(document.activeElement).outlineStyle !== "none"), "the focus of the timeline is lost, or cannot be seen");
}

/** Pictures of the timeline by buttons and keys: the SVG has what the canvas shows, and names stay texts. */
async function use_pictures(page, url, hostile) {
    await look(page, url, "page=timeline&input=" + hostile, "pictures");
    for (const [kind, save] of [["png", () => page.getByRole("button", { name: "PNG" }).click()], ["svg", () => page.getByRole("button", { name: "SVG" }).click()],
        ["png", () => page.keyboard.press("KeyI")], ["svg", () => page.keyboard.press("Shift+KeyI")]]) {
        await page.locator("canvas").focus();
        const [got] = await Promise.all([page.waitForEvent("download", { timeout: 20000 }), save()]);
        check(got.suggestedFilename() === "timeline." + kind, "the picture has another name: " + got.suggestedFilename());
        const data = fs.readFileSync(await got.path());
        if (kind === "png") check(data.subarray(1, 4).toString() === "PNG" && data.length > 1000, "no PNG");
        else {
            const text = data.toString();
            fs.writeFileSync(path.join(pictures, "timeline.svg"), text);
            check((text.match(/<rect/g) ?? []).length > 20 && text.includes("&lt;"), "the SVG has too little");
            const found = await page.evaluate((svg) => {
                const made = new DOMParser().parseFromString(svg, "image/svg+xml");
                return [made.querySelectorAll("parsererror").length, made.querySelectorAll("script, img").length, made.querySelectorAll("rect").length];
            }, text);
            check(found[0] === 0 && found[1] === 0 && found[2] > 20, "the SVG is not well formed: " + found);
        }
    }
}

/** Memory at its peak, at another moment by mouse and keys; a trace has no such page. */
async function use_memory(page, url, job, hostile) {
    const words = () => page.locator(".memory p").innerText();
    await look(page, url, "page=memory&input=" + job, "memory");
    check((await page.locator(".memory td").count()) > 20, "no blocks are alive at the peak");
    const scale = await page.locator(".memory .amounts span").allInnerTexts();
    check(/B$/.test(scale[0]) && scale[2] === "0 B" && (await page.locator(".memory .moments span").count()) === 5, "no scales of memory: " + scale);
    check((await page.locator(".memory .entry").allInnerTexts()).join(" ").includes("Reserved"), "no legend of memory");
    check((await page.locator("svg").count()) === 1, "more than one chart of memory");
    const peak = await words();
    const changed = (was) => page.waitForFunction((w) => document.querySelector(".memory p").innerText !== w, was, { timeout: 20000 });
    const box = await page.locator(".memory svg").boundingBox();
    await page.mouse.click(box.x + box.width / 4, box.y + 50);
    await changed(peak);
    const clicked = await words();
    await page.locator(".memory svg").focus();
    await page.keyboard.press("ArrowRight");
    await changed(clicked);
    await page.keyboard.press("End");
    await changed(clicked);
    await page.locator(".memory p button").click();
    await page.waitForFunction((w) => document.querySelector(".memory p").innerText === w, peak, { timeout: 20000 });
    await page.locator(".memory td button").first().click();
    await page.waitForSelector('main[data-shown="timeline"]');
    await look(page, url, "input=" + hostile, "no-memory");
    check((await page.locator('[data-page="memory"]').count()) === 0, "a trace has a page of memory");
}

/** A file that is written again is loaded again by a button; one that is gone stays on the page. */
async function use_changes(page, url, number, file) {
    const slices = () => page.evaluate(() => [...document.querySelectorAll("dl.facts dt")].find((dt) => dt.textContent === "Slices")?.nextElementSibling?.textContent);
    await look(page, url, "input=" + number, "unchanged");
    check((await slices()) === "200", "no facts of the trace");
    const trace = JSON.parse(fs.readFileSync(file, "utf8"));
    trace.traceEvents.push({ ph: "X", name: "more", pid: 1, tid: 1, ts: 5000, dur: 8 });
    fs.writeFileSync(file, JSON.stringify(trace));
    await page.waitForSelector("#notice button", { timeout: 20000 });
    await page.screenshot({ path: path.join(pictures, "changed.png") });
    await page.locator("#notice button").first().press("Enter");
    await page.waitForFunction(() => [...document.querySelectorAll("dl.facts dd")].some((dd) => dd.textContent === "201"), null, { timeout: 20000 });
    check(await page.locator("#notice").isHidden(), "the notice stays");
    const grow = () => {
        trace.traceEvents.push({ ph: "X", name: "more", pid: 1, tid: 1, ts: 6000, dur: 8 });
        fs.writeFileSync(file, JSON.stringify(trace));
    };
    const shows = (n) => page.waitForFunction((wanted) => [...document.querySelectorAll("dl.facts dd")].some((dd) => dd.textContent === wanted), n, { timeout: 20000 });
    grow();
    await page.locator("#notice button").last().click(); // from now on by itself
    await shows("202");
    grow();
    await shows("203");
    await page.waitForFunction(() => /whenever it changes/.test(document.getElementById("notice").textContent), null, { timeout: 20000 });
    await page.locator("#notice button").click();
    fs.rmSync(file);
    await page.waitForFunction(() => /not there any more/.test(document.getElementById("notice").textContent), null, { timeout: 20000 });
    check((await slices()) === "203", "the page went with the file");
}

/** Instants have marks on a row of their own, which are found, clicked and described as slices are. */
async function use_instants(page, url, hostile) {
    await look(page, url, "page=timeline&input=" + hostile, "instants");
    const box = await page.locator("canvas").boundingBox();
    const at = await page.evaluate(() => { // the middle of the first mark: the second row of the process is that of the instants
        const c = document.querySelector("canvas"), p = c.getContext("2d").getImageData(222, 74, c.width - 230, 1).data;
        for (let i = 0; i < p.length; i += 4) if (p[i] < 230 || p[i + 1] < 230 || p[i + 2] < 230) return 222 + i / 4;
        return -1;
    });
    check(at > 222, "instants are not drawn");
    await page.mouse.click(box.x + at + 2, box.y + 78);
    await page.waitForFunction(() => document.querySelector(".details dl"), null, { timeout: 20000 });
    check(/Instant of/.test(await page.locator(".details").innerText()), "no details of an instant");
    await page.keyboard.press("Period");
    await page.waitForFunction(() => /mark\s+1/.test(document.querySelector(".details").innerText), null, { timeout: 20000 });
}

/** From a selected range to its flame graph, zoomed by mouse and keys, and to a slice of it. */
async function use_flame(page, url, job, hostile) {
    await look(page, url, "page=timeline&input=" + job, "flame-0");
    const box = await page.locator("canvas").boundingBox();
    await page.mouse.move(box.x + 400, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 1000, box.y + 400, { steps: 5 });
    await page.mouse.up();
    await page.locator(".details > button").click();
    await page.waitForSelector('main[data-shown="flame"] .flame g');
    await page.screenshot({ path: path.join(pictures, "flame-1.png") });
    const n = await page.locator(".flame g").count();
    check(n > 5, "the flame graph has only " + n + " nodes");
    const wide = await page.evaluate(() => [...document.querySelectorAll(".flame g")].filter((g) => g.querySelector("text")?.getBBox().width > g.querySelector("rect").getBBox().width).length);
    check(wide === 0, wide + " labels are wider than their nodes");
    const zoomed = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("node"));
    await page.locator('.flame g[aria-level="2"]').first().click();
    await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).has("node"));
    check((await page.locator(".flame g.outer").count()) === 1, "a click does not zoom");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !new URLSearchParams(location.hash.slice(1)).has("node"));
    check((await page.locator(".flame g").count()) === n, "Esc does not show all again");
    await page.keyboard.press("ArrowDown");
    check((await page.evaluate(() => document.activeElement.getAttribute("aria-level"))) === "2", "the keys do not move");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).has("node"));
    check((await zoomed()) !== null, "Enter does not zoom");
    await page.locator(".flame p button").last().click();
    await page.waitForFunction(() => document.querySelector(".details dl"), null, { timeout: 20000 });
    await look(page, url, "page=flame&theme=dark&lang=zh&input=" + hostile, "flame-hostile");
    check((await page.locator(".flame g").count()) >= 10, "no flame graph of hostile names");
}

async function use_pages(page, url, job) {
    await look(page, url, "input=" + job, "overview");
    check(/Ascend910B[\s\S]*Use of the device[\s\S]*Computing \d/.test(await page.locator(".card").innerText()), "the card lacks something: " + (await page.locator(".card").innerText()));
    check((await page.locator(".one_line .shares").count()) > 8 && /Where the time of the host goes/.test(await page.locator("main").innerText()), "no top kernels or operators");
    const heading = () => page.locator("main h3").first().innerText();
    check(/^Step 3: .*\+.* against the median step/.test(await heading()), "the slow step is not explained: " + (await heading()));
    check(/longer runs: /.test(await page.locator("main").innerText()), "no reasons of the slow step");
    check(/^Verdicts\s+steps? 3\b.*slow/.test(await page.locator("main").innerText()), "the verdict is not the first: " + (await page.locator("main").innerText()).slice(0, 200));
    const strip = page.locator(".strip canvas"), box = await strip.boundingBox();
    await strip.focus();
    await page.keyboard.press("ArrowRight");
    check(/^Step 4: /.test(await heading()) && /^Step 4, /.test(await strip.getAttribute("aria-valuetext")), "keys choose no step: " + (await heading()));
    await page.mouse.click(box.x + box.width / 12, box.y + 100);
    check(/^Step 0: /.test(await heading()), "a click chooses no step: " + (await heading()));
    await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get("step") === "0.0", null, { timeout: 20000 });
    await page.screenshot({ path: path.join(pictures, "step-0.png") });
    await page.getByText("Show this step in the timeline").click();
    await page.waitForSelector('main[data-shown="timeline"]');
    // A cause selects its slice, with a margin, and the device tracks that work meanwhile are pinned.
    await look(page, url, "input=" + job + "&step=0.3", "cause-0");
    const cause = page.getByRole("button", { name: /longer runs: / }).first(), named = / longer runs: (\S+)/.exec(await cause.innerText())[1];
    await cause.click();
    await page.waitForFunction(() => document.querySelector(".details dl"), null, { timeout: 20000 });
    check((await page.locator(".details dd").first().innerText()).includes(named), "not the slice of the cause " + named);
    await page.waitForFunction(() => /^t\d+/.test(new URLSearchParams(location.hash.slice(1)).get("pins") ?? ""), null, { timeout: 20000 });
    const [c0, c1] = await range(page), dur = Number(/\(([\d,]+) ns\)/.exec(await page.locator(".details").innerText())[1].replaceAll(",", ""));
    check(c1 - c0 > 1.5 * dur && c1 - c0 < 4 * dur + 1e5, "no margin around the slice: " + [c1 - c0, dur]);
    check((await page.locator(".minimap path.device").count()) === 1, "no device on the map");
    await page.screenshot({ path: path.join(pictures, "cause-1.png") });
    await look(page, url, "page=sql&input=" + job + "&sql=" + encodeURIComponent("SELECT count(*) AS n FROM slices"), "sql");
    await page.waitForFunction(() => document.querySelectorAll("main td").length > 0);
    check(Number(await page.locator("main td").first().innerText()) > 800, "SQL counts too little");
    check((await page.locator(".schema code").allInnerTexts()).some((t) => /^slices\(id, name, category, .*self_ns, device_self_ns, device_ns, rank\)$/.test(t)), "SQL does not say what it has");
    await page.locator(".examples button").first().click(); // is run at once
    await page.waitForFunction(() => document.querySelectorAll("main td").length > 10, null, { timeout: 20000 });
    await look(page, url, "page=timeline&theme=dark&lang=zh&input=" + job, "dark-zh");
    check((await page.locator('[data-page="timeline"]').innerText()) === "时间线", "no Chinese");
    await look(page, url, "lang=zh&input=" + job, "overview-zh");
    const words = await page.locator("main").innerText();
    check(/运行时间更长：/.test(words) && !/longer runs|usually|median|Change|losses| us\b/.test(words), "English on a Chinese page: " + words);
    await look(page, url, "page=tables&lang=zh&input=" + job, "tables-zh");
    check((await page.locator("main th").allInnerTexts()).slice(0, 4).join() === "名称,进程,次数,总计（µs）", "English titles: " + (await page.locator("main th").allInnerTexts()));
    for (const [width, height] of [[3840, 2160], [480, 800]]) {
        await page.setViewportSize({ width, height });
        await look(page, url, "page=timeline&input=" + job, "size-" + width);
        check((await colours(page)) > 2, width + " pixels: nothing is drawn");
        check((await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)), width + " pixels: the page is wider than the window");
        const names = await page.evaluate(() => parseInt(getComputedStyle(document.querySelector(".timeline")).getPropertyValue("--names"), 10));
        check(names <= width / 3, width + " pixels: names take " + names);
    }
}

/** The arguments of a call in C, from behind the first one up to its end. */
function arguments_of(text) {
    const found = [];
    let depth = 0;
    for (const c of text) {
        depth += c === "(" ? 1 : c === ")" ? -1 : 0;
        if (depth < 0)
            break;
        if (c === "," && depth === 0)
            found.push("");
        else if (found.length > 0)
            found[found.length - 1] += c;
    }
    return found.map((one) => one.trim());
}

/** A sentence as a check writes it: its format, with a sample for each of its arguments. */
function sentence_of(format, rest) {
    const samples = [[/duration|^time$/, "1.204 s"], [/runs/, "1,234"], [/per$/, "a step"], [/^what$/, ""]];
    const given = arguments_of(rest);
    return format.replace(/%%|%[.\d]*(?:llu|zu|[suifg])/g, (part) => {
        if (part === "%%")
            return "%";
        const arg = given.shift() || "", choice = /\? ".*" : "(.*)"$/.exec(arg);
        return !part.endsWith("s") ? "12.5" : choice ? choice[1] : (samples.find(([words]) => words.test(arg)) || [null, "x"])[1];
    });
}

/** Every sentence of a check has its form on Chinese pages: those of the sources are tried with names and numbers. */
async function use_sentences(page, url, job) {
    await look(page, url, "lang=zh&input=" + job, "sentences");
    const source_of = (name) => fs.readFileSync(path.join(source, "src/answers/checks", name), "utf8");
    const calls = ["comm_checks.c", "device_checks.c", "waiting_checks.c", "findings.c"].flatMap((name) => [...source_of(name).matchAll(/finding_(?:say|add)\([^;"]*"((?:[^"\\]|\\.)*)"([^;]*);/g)]);
    const sentences = calls.map((call) => sentence_of(call[1], call[2]));
    const english = await page.evaluate(async (list) => {
        const { said } = await import(new URL("sentences.js", location.href).href);
        return list.filter((text) => !/[\u4e00-\u9fff]|^rank .*→/.test(said(text)));
    }, sentences);
    check(sentences.length > 15 && english.length === 0, "sentences without a Chinese form: " + english.join(" | "));
}

/** The column that sorts is marked; an answer that comes late does not replace that of a later question. */
async function use_tables(page, url, job) {
    await look(page, url, "page=tables&input=" + job, "tables");
    const sorted = (order) => page.waitForSelector(`main th[aria-sort="${order}"]`, { timeout: 20000 });
    const totals = await page.locator("main td:nth-child(4)").allInnerTexts();
    check(totals.length > 5 && new Set(totals.map((t) => t.split(".")[1]?.length)).size === 1 && totals.some((t) => t.includes(",")), "numbers are not below each other: " + totals.slice(0, 5));
    await page.locator("main th button").nth(2).click();
    await sorted("descending");
    await page.locator("main th button").nth(2).click();
    await sorted("ascending");
    let release = () => {};
    const held = new Promise((done) => (release = done));
    await page.route(/api\/table\?.*filter=M&/, async (route) => (await held, await route.continue()));
    const filter = page.locator('main input[type="search"]');
    await filter.fill("M");
    await filter.fill("MatMul");
    const rows = () => page.locator("main td:first-child").allInnerTexts();
    await page.waitForFunction(() => [...document.querySelectorAll("main td:first-child")].every((td) => /matmul/i.test(td.textContent)), null, { timeout: 20000 });
    const late = page.waitForResponse(/filter=M&/);
    release();
    await (await late).finished();
    await page.unroute(/api\/table\?.*filter=M&/);
    const names = await rows();
    check(names.length > 1 && names.every((name) => /matmul/i.test(name)), "an old answer is shown");
}

/** A page that is left before its answer comes is not added to the next one; a page that an input does not have is the overview. */
async function leave_pages(page, url, job, trace) {
    await look(page, url, "page=sql&input=" + job, "leave-0");
    let release = () => {};
    const held = new Promise((done) => (release = done));
    await page.route(/api\/tables\?/, async (route) => (await held, await route.continue()));
    await page.locator('[data-page="tables"]').click();
    await page.locator('[data-page="flame"]').click();
    await page.waitForSelector('main[data-shown="flame"]', { timeout: 20000 });
    const late = page.waitForResponse(/api\/tables\?/);
    release();
    await (await late).finished();
    await page.unroute(/api\/tables\?/);
    await page.waitForTimeout(150);
    check((await page.locator("main .section").count()) === 1 && (await page.locator("main .flame").count()) === 1, "two pages at once");
    check((await page.locator("main").getAttribute("data-shown")) === "flame", "the page that was left is taken for the one that is shown");
    await page.goto("about:blank");
    await page.goto(url + "#page=memory&input=" + trace);
    await page.waitForSelector('main[data-shown="overview"]', { timeout: 20000 });
    check((await page.locator('[data-page="overview"]').getAttribute("aria-selected")) === "true", "a page that is not there is shown");
    await look(page, url, "page=flame&input=" + trace, "flame-main");
    check(/ \/ thread \d+ \(pt_autograd_0\)$/.test(await page.locator(".flame select option:checked").innerText()), "not the thread whose operators take longest");
    await page.locator(".flame select").selectOption({ label: "All tracks" });
    await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get("rows") === "all", null, { timeout: 20000 });
    await look(page, url, "page=flame&rows=all&input=" + trace, "flame-all");
    check((await page.locator(".flame select option:checked").innerText()) === "All tracks", "all tracks are not shown on request");
}

/** A trace without events says so. */
async function use_empty(page, folder) {
    fs.writeFileSync(folder + "/empty.json", '{"traceEvents": []}');
    await with_server([folder + "/empty.json"], async (url) => {
        await look(page, url, "", "empty");
        check(/no slices/.test(await page.locator("main").innerText()), "an empty overview says nothing");
        for (const name of ["flame", "tables", "sql"]) await look(page, url, "page=" + name, "empty-" + name);
        await look(page, url, "page=timeline", "empty-timeline");
    });
}

/** Inputs of the same name have as much of their paths as they need; a server that does not answer for a while is asked again. */
async function use_names(page, folder) {
    const files = ["a", "b", "c"].map((name) => path.join(folder, "same", name, "x.json"));
    for (const file of files) {
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, JSON.stringify({ traceEvents: [{ ph: "X", name: "op", pid: 1, tid: 1, ts: 1, dur: 8 }] }));
    }
    await with_server(files, async (url) => {
        await look(page, url, "", "names");
        check((await page.locator("#input option").allInnerTexts()).join() === "a/x.json,b/x.json,c/x.json", "inputs of one name look the same");
        const other = await page.context().browser().newPage(); // whose console may say that requests fail
        await other.route(/api\/about/, (route) => route.abort());
        await other.goto(url);
        await other.waitForFunction(() => /does not answer/.test(document.getElementById("notice").textContent), null, { timeout: 20000 });
        await other.unroute(/api\/about/);
        await other.waitForSelector('main[data-shown="overview"]', { timeout: 20000 });
        check(await other.locator("#notice").isHidden(), "the notice stays when the server answers again");
        await other.close();
    });
}

/** Without a device, operators compute; parts of which there is nothing are not shown. A click on a verdict goes to its step. */
async function use_host(page, folder) {
    const events = [];
    for (let i = 0; i < 20; i++) {
        const more = i === 9 ? 5000 : 0, at = 1000 * i + (i > 9 ? 5000 : 0);
        events.push({ ph: "X", name: "ProfilerStep#" + i, cat: "user_annotation", pid: 1, tid: 1, ts: at, dur: 900 + more });
        events.push({ ph: "X", name: "aten::mm", cat: "cpu_op", pid: 1, tid: 1, ts: at + 100, dur: 700 + more });
    }
    fs.writeFileSync(folder + "/host.json", JSON.stringify({ traceEvents: events }));
    await with_server([folder + "/host.json"], async (url) => {
        await look(page, url, "", "host");
        const text = (await page.locator(".card").innerText()) + (await page.locator(".beside table").innerText());
        check(/Operators \d/.test(text) && /Outside operators \d/.test(text) && !/Computing|communication|Free/.test(text), "a host that computes: " + text.slice(0, 400));
        await page.locator("p.verdict button").first().click();
        await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).has("t1"), null, { timeout: 20000 });
        const at = new URLSearchParams(new URL(page.url()).hash.slice(1));
        check(Number(at.get("t0")) < 9e6 && Number(at.get("t1")) > 14.9e6, "the verdict does not go to its step: " + at);
        await page.goBack();
        await page.waitForSelector(".causes button");
        await page.locator(".causes button").first().click();
        await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).has("slice"), null, { timeout: 20000 });
        check(/aten::mm/.test(await page.locator(".details").innerText()), "the cause does not go to its slice");
    });
}

in_browser(async (page, folder) => {
    await with_server(inputs(folder), async (url) => {
        const shown = (await (await fetch(url + "api/about")).json()).inputs, job = shown.findIndex((one) => one.path.startsWith(folder + "/job"));
        await walk_through(page, url, shown.length);
        await use_timeline(page, url, job);
        const hostile = shown.findIndex((one) => one.path.endsWith("hostile.json"));
        await use_flame(page, url, job, hostile);
        await use_instants(page, url, hostile);
        await use_memory(page, url, job, hostile);
        await use_pictures(page, url, hostile);
        await use_pages(page, url, job);
        await page.setViewportSize({ width: 1400, height: 900 });
        await use_sentences(page, url, job);
        await use_tables(page, url, job);
        await leave_pages(page, url, job, shown.findIndex((one) => one.path.endsWith("cuda-plain.json")));
        await use_changes(page, url, hostile, folder + "/hostile.json");
    });
    await use_names(page, folder);
    await use_empty(page, folder);
    await use_host(page, folder);
});
