// SPDX-License-Identifier: Apache-2.0
// Opens a timeline in speedscope, in a browser without a window, and takes pictures of what a person would see.
//
//   node view.js TIMELINE.json PICTURE_PREFIX [PATTERN]
//
// Walks through all rows (process and thread) that the viewer found and prints their names; of those that match PATTERN
// (default: all) it takes PICTURE_PREFIX-N.png. Fails when there is no row, or when the viewer complained.
// CHROMIUM names the browser when it is not /usr/bin/chromium.
'use strict';
const fs = require('fs');
const path = require('path');
const { chromium } = require('playwright-core');

const FOUND_WITHIN_MS = 60000;
const PAINT_MS = 300;
const MOST_TOLD = 8;

async function main(timeline, prefix, pattern) {
    const page_path = path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist/release/index.html');
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
        args: ['--no-sandbox', '--allow-file-access-from-files'],
    });
    const problems = [];
    let rows = 0;
    try {
        const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
        page.on('pageerror', e => problems.push(String(e)));
        page.on('console', m => {
            if (['error', 'warning'].includes(m.type()) && !m.text().includes('GL Driver'))
                problems.push(m.text());
        });
        page.on('dialog', async d => { problems.push(d.message()); await d.dismiss(); });
        await page.goto('file://' + page_path);
        await page.setInputFiles('input[type=file]', path.resolve(timeline));
        // Once the file is read, the toolbar shows the name of the row and "(1/24)"; one row alone has no number.
        const title = () => document.body.innerText.split('\n').find(l => /\(\d+\/\d+\)$/.test(l));
        await page.waitForFunction(title, null, { timeout: FOUND_WITHIN_MS });
        const total = Number((await page.evaluate(title)).match(/\/(\d+)\)$/)[1]);
        // It begins with the busiest row; "p" goes back to the first, "n" forward.
        for (let i = 0; i < total; i++)
            await page.keyboard.press('p');
        for (rows = 0; rows < total; rows++) {
            await page.waitForTimeout(PAINT_MS);
            const name = await page.evaluate(title);
            const wanted = pattern.test(name);
            if (wanted)
                await page.screenshot({ path: `${prefix}-${rows + 1}.png` });
            console.log(`${wanted ? `${prefix}-${rows + 1}.png` : '-'}\t${name}`);
            await page.keyboard.press('n');
        }
    } finally {
        await browser.close();
    }
    for (const p of problems.slice(0, MOST_TOLD))
        console.error(p.slice(0, 300));
    console.error(`${rows} rows, ${problems.length} complaints`);
    return rows > 0 && problems.length === 0 ? 0 : 1;
}

if (process.argv.length < 4 || !fs.existsSync(process.argv[2])) {
    console.error('usage: node view.js TIMELINE.json PICTURE_PREFIX [PATTERN]');
    process.exit(2);
}
main(process.argv[2], process.argv[3], new RegExp(process.argv[4] || '')).then(
    code => process.exit(code), e => { console.error(String(e)); process.exit(1); });
