// SPDX-License-Identifier: Apache-2.0
// Elements of a page. Every text becomes a text node, wherever it is from.
// @ts-check

/** @param {string} tag @param {string} [text] @param {string} [kind] */
export function element(tag, text = "", kind = "") {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
}

/** @param {string} text @param {() => void} does */
export function button(text, does) {
    const made = /** @type {HTMLButtonElement} */ (element("button", text));
    made.type = "button";
    made.addEventListener("click", does);
    return made;
}

/** @param {string[]} titles @param {(string|Node)[][]} rows all but the first column are numbers */
export function number_table(titles, rows) {
    const table = element("table"), head = element("tr");
    head.append(...titles.map((title, i) => element("th", title, i ? "number" : "")));
    table.append(head);
    for (const row of rows) {
        const tr = element("tr");
        row.forEach((cell, i) => {
            const td = element("td", "", i ? "number" : "");
            td.append(cell);
            tr.append(td);
        });
        table.append(tr);
    }
    return table;
}
