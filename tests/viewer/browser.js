// SPDX-License-Identifier: Apache-2.0
// A browser without a window, for what is measured in one. Exit 77: there is none, or playwright-core is not installed.
"use strict";
const fs = require("fs");

exports.launch = async (args = []) => {
    const program = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => p && fs.existsSync(p));
    let chromium;
    try {
        chromium = require("playwright-core").chromium;
    } catch {
        process.exit(77);
    }
    if (!program) process.exit(77);
    return chromium.launch({ executablePath: program, args: ["--no-sandbox", ...args] });
};
