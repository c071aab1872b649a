// SPDX-License-Identifier: Apache-2.0
// What people look for first: the device, how long was recorded, how busy the device was, and what took most of its time.
// @ts-check
import * as api from "./api.js";
import { element, link, number_table, share_bar, share_cell } from "./elements.js";
import { PARTS, part_name, parts_of } from "./strip.js";
import { duration, grouped, word } from "./text.js";

const TOP = 10, NAME = 300; // characters of a name
/** What took most: a table, its title, and its columns of time and share. */
const TABLES = {
    kernels: ["kernels", "longest_kernels", "total_us", "percent"], operators: ["operators", "longest_operators", "self_us", "self_percent"],
    names: ["by name", "longest_names", "total_us", ""],
};

/** @param {number} part @param {number} whole */
const percent = (part, whole) => ((100 * part) / Math.max(1, whole)).toFixed(1) + " %";

/** How a device, or the host if there is none, spent its time. @param {import("./strip.js").Series} of */
function use_of(of) {
    const shares = of.whole_parts.map((ns, i) => ({ share: ns / Math.max(1, of.whole), colour: `var(--${PARTS[i]})`, title: part_name(of, PARTS[i]) + " " + duration(ns) }));
    const words = element("div", "", "entries");
    for (const { part, i } of parts_of(of)) {
        const entry = element("span", "", "entry"), sign = element("span", "■ ");
        sign.style.color = `var(--${part})`;
        entry.append(sign, part_name(of, part) + " ", element("strong", percent(of.whole_parts[i], of.whole)));
        words.append(entry);
    }
    const out = element("div");
    out.append(share_bar(shares), words);
    return out;
}

/** @param {HTMLElement} place
 *  @param {{device: string, has_device: boolean, duration: number, busiest: number, series: import("./strip.js").Series[]}} o */
export function show_card(place, o) {
    const card = element("dl", "", "card");
    /** @param {string} name @param {Node|string} value @param {string} [kind] */
    const put = (name, value, kind = "") => {
        const box = element("div", "", kind), dd = element("dd");
        dd.append(value);
        box.append(element("dt", name), dd);
        card.append(box);
    };
    if (o.device) put(word("device"), o.device);
    if (o.duration > 0) put(word("recorded"), duration(o.duration));
    for (const one of o.series)
        if (one.whole > 0) put(word(one.is_host ? "use_of_host" : "use_of_device", { whole: duration(one.whole) }), use_of(one), "use");
    if (!o.series.length && o.has_device && o.duration > 0)
        put(word("use_of_busiest"), percent(o.busiest, o.duration) + " (" + duration(o.busiest) + ")");
    if (card.children.length) place.append(card);
}

/** One table of what took most. False: it has no rows. @param {HTMLElement} place @param {number} input @param {string[]} table
 *  @param {(slice: number) => void} go @param {(table: string) => void} to_table */
async function show_table(place, input, [name, title, time, share], go, to_table) {
    const answer = /** @type {import("./tables.js").Answer} */ (await api.json("table", { input, name }));
    if (!answer.rows.length) return false;
    const column = (/** @type {string} */ of) => answer.columns.findIndex((c) => c.name === of);
    const at = column(time), n = column("count"), part = column(share);
    const titles = [word("name"), word("count"), word(time === "self_us" ? "self" : "sum"), ...(part < 0 ? [] : [word("share_of_all")])];
    const table = number_table(titles, answer.rows.slice(0, TOP).map((row, i) => {
        const text = String(row[0]), slice = answer.slices?.[i], shown = text.slice(0, NAME) || word("no_name");
        const label = typeof slice === "number" ? link(shown, () => go(slice)) : element("span", shown);
        label.title = text.slice(0, 2000);
        /** @type {(string|Node)[]} */
        const cells = [label, grouped(Number(row[n])), duration(Number(row[at]) * 1000)];
        return part < 0 ? cells : [...cells, share_cell(Number(row[part]) / 100, "computing")];
    }));
    table.className = "one_line";
    const box = element("div", "", "top");
    box.append(element("h2", word(title)), table, link(word("all_rows_of", { n: grouped(answer.n) }), () => to_table(name)));
    place.append(box);
    return true;
}

/** Kernels and operators, each in the column that is shorter by then; slices by name where there are neither. @param {HTMLElement[]} columns @param {number} input
 *  @param {(slice: number) => void} go @param {(table: string) => void} to_table */
export async function show_top(columns, input, go, to_table) {
    /** The height of what is in a column: in a grid all columns are equally high. @param {HTMLElement} column */
    const height = (column) => [...column.children].reduce((sum, one) => sum + /** @type {HTMLElement} */ (one).offsetHeight, 0);
    const shorter = () => columns.reduce((a, b) => (height(b) < height(a) ? b : a));
    const has_kernels = await show_table(shorter(), input, TABLES.kernels, go, to_table);
    if ((await show_table(shorter(), input, TABLES.operators, go, to_table)) || has_kernels) return;
    if (!(await show_table(shorter(), input, TABLES.names, go, to_table))) shorter().append(element("p", word("no_slices")));
}
