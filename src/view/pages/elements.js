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

/** A button that leads elsewhere, and looks like that. @param {string} text @param {() => void} does */
export function link(text, does) {
    const made = button(text, does);
    made.className = "link";
    return made;
}

/** A bar of shares, side by side. @param {{share: number, colour: string, title: string}[]} parts */
export function share_bar(parts) {
    const bar = element("div", "", "shares");
    for (const part of parts.filter((one) => one.share > 0)) {
        const made = element("span");
        made.style.width = 100 * part.share + "%";
        made.style.background = part.colour;
        made.title = part.title;
        bar.append(made);
    }
    return bar;
}

/** A share as a bar and a number. @param {number} share 0 to 1 @param {string} kind a colour of the style sheet */
export function share_cell(share, kind) {
    const cell = element("div", "", "share");
    cell.append(share_bar([{ share, colour: `var(--${kind})`, title: "" }]), (100 * share).toFixed(1) + " %");
    return cell;
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
