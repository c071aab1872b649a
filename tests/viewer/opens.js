// SPDX-License-Identifier: Apache-2.0
// How long it takes until a page shows a timeline: speedscope from the choice of a file, ascope from the opening of its address.
//
//   node opens.js speedscope FILE | ascope URL          prints {"s": seconds}
"use strict";
const path = require("path");
const { launch } = require("./browser.js");
const PATIENCE = { timeout: 300000 };

async function main(which, what) {
    const browser = await launch(["--allow-file-access-from-files"]), page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    let begin = performance.now();
    if (which === "speedscope") {
        await page.goto("file://" + path.join(path.dirname(require.resolve("speedscope/package.json")), "dist/release/index.html"));
        begin = performance.now();
        await page.setInputFiles("input[type=file]", path.resolve(what));
        await page.waitForFunction(() => document.body.innerText.split("\n").some((line) => /\(\d+\/\d+\)$/.test(line)), null, PATIENCE);
    } else {
        await page.goto(what + "#page=timeline");
        await page.waitForFunction(() => Number(document.querySelector("canvas")?.dataset.frames) > 1 && document.getElementById("notice").hidden, null, PATIENCE);
    }
    console.log(JSON.stringify({ s: (performance.now() - begin) / 1000 }));
    await browser.close();
}

main(process.argv[2], process.argv[3]).catch((e) => {
    console.error(String(e));
    process.exit(1);
});
