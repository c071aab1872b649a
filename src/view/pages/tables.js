// SPDX-License-Identifier: Apache-2.0
// The pages of tables, which the server sorts and filters, and of SQL.
// @ts-check
import * as api from "./api.js";
import { button, element } from "./elements.js";
import { bytes, duration, grouped, has_word, word } from "./text.js";

const LONGEST = 300, SHORT = 24; // characters of a cell; of one that stays on a line
const MOST_ROWS = 10000; // of an answer: there may be more

/** @typedef {{columns: {name: string, is_number: boolean}[], n: number, rows: (string|number|null)[][], slices?: (number|null)[]}} Answer */

const HISTOGRAMS = { durations: duration, sizes: bytes }; // columns with "10:3 12:1": 3 values from 2^10 up, one from 2^12

/** A small picture of a histogram. @param {string} text @param {(v: number) => string} shown */
function histogram(text, shown) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const bars = text.split(" ").map((b) => b.split(":").map(Number)).filter((b) => b.length === 2 && b.every(Number.isFinite));
    if (!bars.length) return svg;
    const first = bars[0][0], n = bars[bars.length - 1][0] - first + 1, most = Math.max(...bars.map((b) => b[1]));
    const words = bars.map(([bit, count]) => `${shown(2 ** bit)} – ${shown(2 ** (bit + 1))}: ${grouped(count)}`).join("\n");
    svg.setAttribute("viewBox", `0 0 ${n * 6} 20`);
    svg.setAttribute("class", "histogram");
    svg.setAttribute("width", String(n * 6));
    svg.setAttribute("height", "20");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", words);
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = words;
    svg.append(title);
    for (const [bit, count] of bars) {
        const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect"), height = Math.max(1, (count / most) * 20);
        for (const [key, value] of Object.entries({ x: (bit - first) * 6, y: 20 - height, width: 5, height })) bar.setAttribute(key, String(value));
        svg.append(bar);
    }
    return svg;
}

/** A column as people call it; of SQL as it was asked for. @param {string} name @param {boolean} is_ours */
const title_of = (name, is_ours) => (is_ours && has_word("column_" + name) ? word("column_" + name) : name);

/** The number of decimals for all numbers of a column, at most three. @param {Answer} answer @param {number} column */
function digits_of(answer, column) {
    let digits = 0;
    for (const row of answer.rows) {
        const v = row[column];
        if (typeof v === "number" && Math.abs(v) < 1e12) digits = Math.max(digits, Math.min(3, (String(v).split(".")[1] ?? "").length));
    }
    return digits;
}

/** @param {number} v @param {number} digits */
const number_of = (v, digits) => (Math.abs(v) >= 1e15 ? String(v) : v.toLocaleString(document.documentElement.lang, { minimumFractionDigits: digits, maximumFractionDigits: digits }));

/** @param {Answer} answer @param {{by: (column: number) => void, column: number, is_down: boolean}|null} sort @param {((row: number) => void)|null} go
 *  @param {boolean} [is_ours] its columns have titles, and its numbers are no ids */
export function table_of(answer, sort, go, is_ours = true) {
    const table = element("table"), head = element("tr"), digits = answer.columns.map((_, i) => digits_of(answer, i));
    answer.columns.forEach((column, i) => {
        const title = title_of(column.name, is_ours), th = element("th", sort ? "" : title, column.is_number ? "number" : "");
        if (sort) {
            const is_sorted = i === sort.column;
            th.append(button(title + (is_sorted ? (sort.is_down ? " ▾" : " ▴") : ""), () => sort.by(i)));
            if (is_sorted) th.setAttribute("aria-sort", sort.is_down ? "descending" : "ascending");
        }
        head.append(th);
    });
    table.append(head);
    answer.rows.forEach((cells, r) => {
        const tr = element("tr");
        cells.forEach((cell, i) => {
            const text = cell === null ? "" : typeof cell === "number" && is_ours ? number_of(cell, digits[i]) : String(cell);
            const td = element("td", text.length > LONGEST ? text.slice(0, LONGEST) + "…" : text, answer.columns[i].is_number ? "number" : text.length <= SHORT ? "short" : "long");
            if (text.length > LONGEST) td.title = text.slice(0, 2000);
            const shown = /^(\d+:\d+ ?)+$/.test(text) && HISTOGRAMS[/** @type {keyof typeof HISTOGRAMS} */ (answer.columns[i].name)];
            if (shown) td.replaceChildren(histogram(text, shown));
            tr.append(td);
        });
        if (go && answer.slices?.[r] !== undefined && answer.slices[r] !== null) {
            tr.tabIndex = 0;
            tr.className = "link";
            tr.addEventListener("click", () => go(r));
            tr.addEventListener("keydown", (e) => e.key === "Enter" && go(r));
        }
        table.append(tr);
    });
    return table;
}

/** @param {Answer} answer */
const rows_text = (answer) => word(answer.n >= MOST_ROWS ? "first_rows" : "rows", { n: grouped(answer.n) });

/**
 * @param {HTMLElement} place @param {number} input @param {URLSearchParams} state
 * @param {(key: string, value: string|number|null) => void} keep
 * @param {(t0: number, t1: number, slice?: number) => Promise<void>} look_at
 */
export async function show_tables(place, input, state, keep, look_at) {
    const names = /** @type {string[]} */ ((await api.json("tables", { input })).tables);
    const section = element("div", "", "section"), choice = /** @type {HTMLSelectElement} */ (element("select"));
    const filter = /** @type {HTMLInputElement} */ (element("input")), csv = /** @type {HTMLAnchorElement} */ (element("a", "CSV"));
    const count = element("span", "", "faint"), result = element("div");
    choice.setAttribute("aria-label", word("choose_table"));
    choice.replaceChildren(...names.map((name) => new Option(has_word("table_" + name) ? word("table_" + name) : name, name, false, name === state.get("table"))));
    filter.type = "search";
    filter.placeholder = word("filter");
    filter.setAttribute("aria-label", word("filter"));
    filter.value = state.get("filter") ?? "";
    let sort = Number(state.get("sort") ?? -1), is_down = state.get("down") === "1";
    const ask = () => ({ input, name: choice.value, filter: filter.value, sort, down: is_down ? 1 : 0 });
    let n_asked = 0; // an answer that is not the one to the last request is not shown
    const show = async () => {
        if (!choice.value) return;
        const mine = ++n_asked;
        try {
            const answer = /** @type {Answer} */ (await api.json("table", ask()));
            if (mine === n_asked) show_answer(answer);
        } catch (e) {
            if (mine === n_asked) result.replaceChildren(element("p", e instanceof api.Refused ? e.message : word("server_gone"), "warn"));
        }
    };
    const show_answer = (/** @type {Answer} */ answer) => {
        const query = new URLSearchParams(Object.entries({ ...ask(), csv: 1 }).map(([k, v]) => [k, String(v)]));
        csv.href = "api/table?" + query.toString();
        csv.download = choice.value + ".csv";
        count.textContent = rows_text(answer);
        const by = (/** @type {number} */ column) => {
            is_down = column === sort ? !is_down : true;
            sort = column;
            keep("sort", sort);
            keep("down", is_down ? 1 : 0);
            void show();
        };
        result.replaceChildren(table_of(answer, { by, column: sort, is_down }, (row) => {
            const slice = answer.slices?.[row];
            if (typeof slice === "number") void look_at(0, 0, slice);
        }));
    };
    choice.addEventListener("change", () => {
        sort = -1;
        keep("sort", null);
        keep("table", choice.value);
        void show();
    });
    filter.addEventListener("input", () => {
        keep("filter", filter.value);
        void show();
    });
    const bar = element("p");
    bar.append(choice, " ", filter, " ", count, " ", csv);
    section.append(bar, result);
    place.append(section);
    await show();
}

/**
 * @param {HTMLElement} place @param {number} input @param {URLSearchParams} state
 * @param {(key: string, value: string|number|null) => void} keep
 */
export async function show_sql(place, input, state, keep) {
    const section = element("div", "", "section"), text = /** @type {HTMLTextAreaElement} */ (element("textarea"));
    const run = /** @type {HTMLButtonElement} */ (element("button", word("sql_run"))), result = element("div"), examples = element("p", "", "examples");
    text.rows = 5;
    text.spellcheck = false;
    text.setAttribute("aria-label", "SQL");
    text.value = state.get("sql") ?? "";
    run.type = "button";
    const about = await api.json("tables", { input });
    for (const example of /** @type {string[]} */ (about.examples)) {
        examples.append(button(example, () => (text.value = example, void ask())), " ");
    }
    const schema = element("p", "", "faint schema");
    schema.append(.../** @type {{name: string, columns: string}[]} */ (about.schema).map((table) => element("code", table.name + "(" + table.columns.replace(/(\w+) [A-Z]+/g, "$1") + ")")));
    const ask = async () => {
        keep("sql", text.value);
        try {
            const answer = /** @type {Answer} */ (await api.json("sql", { input, q: text.value }));
            result.replaceChildren(element("p", rows_text(answer), "faint"), table_of(answer, null, null, false));
        } catch (e) {
            result.replaceChildren(element("p", e instanceof api.Refused ? e.message : word("server_gone"), "warn"));
        }
    };
    run.addEventListener("click", () => void ask());
    text.addEventListener("keydown", (e) => {
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void ask();
    });
    section.append(element("h3", word("sql_examples")), examples, text, element("br"), run, result, element("h3", word("sql_tables")), schema);
    place.append(section);
    if (text.value) await ask();
}
