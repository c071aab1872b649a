// SPDX-License-Identifier: Apache-2.0
// A browser without a window, for tests and measurements. Exit 77: there is none, or playwright-core is not installed.
"use strict";
const fs = require("fs");

function leave_out(why) {
    console.error(why);
    process.exit(77);
}

exports.launch = async (args = []) => {
    const program = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => p && fs.existsSync(p));
    let chromium;
    try {
        chromium = require("playwright-core").chromium;
    } catch {
        leave_out("playwright-core is not installed: make viewer");
    }
    if (!program) leave_out("there is no Chromium: apt-get install chromium");
    return chromium.launch({ executablePath: program, args: ["--no-sandbox", ...args] });
};
