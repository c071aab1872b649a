// SPDX-License-Identifier: Apache-2.0
// What tests of pages in a real browser share: the viewer's server, checks and their count. Any message of the browser's
// console fails, as do dialogs and requests to elsewhere.
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { launch } = require("./browser.js");

const [ascope, source, pictures] = process.argv.slice(2);
const problems = [];
let n_checks = 0;

function check(is_true, what) {
    n_checks++;
    if (!is_true) problems.push(what);
}

let shown = null;

/** The address of a viewer, as long as `use` runs. */
async function with_server(words, use) {
    const server = spawn(ascope, ["view", "--no-open", ...words], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((done) => server.on("exit", (code, signal) => done(code ?? signal)));
    try {
        await use(await new Promise((done, failed) => {
            let text = "";
            server.stdout.on("data", (more) => (text += more).includes("\n") && done(text.split("\n")[0]));
            server.on("exit", () => failed(new Error("the server has ended")));
        }));
    } finally {
        await shown?.goto("about:blank"); // a page that is left open asks a server that is gone
        server.kill("SIGTERM");
        check((await ended) === 0, "the server ended with " + (await ended)); // not with 0 where a sanitizer has found something
    }
}

/** A test: it gets a page and a temporary folder. */
async function in_browser(test) {
    const browser = await launch();
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ascope-pages-"));
    fs.mkdirSync(pictures, { recursive: true });
    try {
        const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
        shown = page;
        page.on("console", (m) => problems.push("console: " + m.text()));
        page.on("pageerror", (e) => problems.push("error: " + e.message));
        page.on("dialog", (d) => (problems.push("a name became a dialog"), d.dismiss()));
        page.on("request", (r) => /^(http:\/\/127\.0\.0\.1:|data:|about:|blob:)/.test(r.url()) || problems.push("request to " + r.url()));
        await test(page, folder);
    } catch (e) {
        problems.push(e.stack);
    } finally {
        await browser.close();
        fs.rmSync(folder, { recursive: true });
    }
    for (const problem of problems) console.log("FAILED " + problem.slice(0, 300));
    console.log(`${n_checks} checks, ${problems.length} problems`);
    process.exit(problems.length ? 1 : 0);
}

module.exports = { ascope, source, pictures, check, with_server, in_browser };
