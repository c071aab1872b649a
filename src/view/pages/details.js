// SPDX-License-Identifier: Apache-2.0
// The details of the selected slice, and statistics of a selected range. Every text from a file becomes a text node.
// @ts-check
import { date_of, time_of } from "./axis.js";
import { button, element, link } from "./elements.js";
import { duration, exactly, grouped, word } from "./text.js";

/** A time of the machine's clock, with all digits, and as the number of ns that is in files. @param {string} base_ns @param {number} begin */
function absolute(base_ns, begin) {
    const date = date_of(base_ns, begin);
    return (date ? date.replace(" ", " " + time_of(base_ns, begin, 1) + " ") + ", " : "") + (BigInt(base_ns) + BigInt(Math.round(begin))).toString() + " ns";
}

/**
 * @param {HTMLElement} place @param {any} s @param {string} base_ns @param {(slice: number) => void} go
 */
export function show_slice(place, s, base_ns, go) {
    const facts = element("dl", "", "facts");
    /** @param {string} name @param {Node|string} value */
    const put = (name, value) => {
        const d = element("dd");
        d.append(value);
        facts.append(element("dt", name), d);
    };
    put(word("name"), s.name);
    put(word("track"), s.process + " / " + s.track);
    if (s.category) put(word("category"), s.category);
    put(word("begin"), exactly(s.begin) + " (" + absolute(base_ns, s.begin) + ")");
    if (s.is_instant) {
        if (s.scope) put(word("instant_of"), word("scope_" + s.scope));
    } else put(word("duration"), duration(s.dur) + " (" + grouped(s.dur) + " ns)");
    for (const [key, value] of Object.entries(s.args ?? {})) {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        put(key, /stack/i.test(key) ? element("pre", text.split(/;\r?\n|;/).join("\n"), "stack") : text);
    }
    for (const flow of s.flows) {
        put(word(flow.is_source ? "from" : "to"), link([flow.name, flow.rank, duration(flow.begin)].filter(Boolean).join(", "), () => go(flow.slice)));
    }
    place.replaceChildren(facts);
}

/** Of the answer, and as texts. @type {[string, (v: number) => string][]} */
const COLUMNS = [["count", grouped], ["self", duration], ["share", (v) => (v === null ? "" : (100 * v).toFixed(1) + " %")], ["sum", duration], ["mean", duration], ["median", duration],
    ["p99", duration], ["longest", duration]];

/** @param {HTMLElement} place @param {any} found @param {(slice: number) => void} go @param {() => void} flame */
export function show_area(place, found, go, flame) {
    const table = element("table"), head = element("tr");
    head.append(element("th", word("name")), ...COLUMNS.map(([c]) => element("th", word(c), "number")));
    table.append(head);
    for (const row of found.rows) {
        const tr = element("tr"), name = element("td");
        name.append(link(row.name, () => go(row.longest_slice)));
        tr.append(name, ...COLUMNS.map(([c, shown]) => element("td", shown(row[c]), "number")));
        table.append(tr);
    }
    if (!found.rows.length) return place.replaceChildren(element("p", word("nothing"), "faint"));
    place.replaceChildren(button(word("flame"), flame), table);
}
