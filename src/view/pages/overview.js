// SPDX-License-Identifier: Apache-2.0
// The first page: what could not be read, all steps against their median, one of them explained, and advice.
// @ts-check
import * as api from "./api.js";
import { show_advice, show_comparison } from "./advice.js";
import { button, element } from "./elements.js";
import { show_job } from "./job.js";
import { said } from "./sentences.js";
import { CUT, PARTS, show_strip } from "./strip.js";
import { table_of } from "./tables.js";
import { duration, grouped, has_word, word } from "./text.js";

const LONGEST = 15;

/** @param {import("./strip.js").Series} of */
function legend(of) {
    const p = element("p", "", "faint");
    for (const part of PARTS) {
        const box = element("span", "■ ");
        box.style.color = `var(--${part})`;
        p.append(box, word(part) + "   ");
    }
    if (of.median > 0 && of.steps.some((s) => s.time > of.median * CUT)) p.append(word("cut", { n: CUT }));
    return p;
}

/** A table of what takes longest: of kernels, or of all slices if there are no kernels. @param {HTMLElement} section @param {number} input @param {import("./job.js").Look} look_at
 *  @param {() => void} to_tables */
async function show_longest(section, input, look_at, to_tables) {
    for (const [name, title] of [["kernels", "longest_kernels"], ["by name", "longest_names"]]) {
        const answer = /** @type {import("./tables.js").Answer} */ (await api.json("table", { input, name }));
        if (!answer.rows.length) continue;
        answer.rows = answer.rows.slice(0, LONGEST);
        section.append(element("h2", word(title)), table_of(answer, null, (row) => {
            const slice = answer.slices?.[row];
            if (typeof slice === "number") void look_at(0, 0, slice);
        }), button(word("all_tables"), to_tables));
        return;
    }
    section.append(element("p", word("no_slices")));
}

/** @param {[string, string|number][]} facts */
function facts_of(facts) {
    const list = element("dl", "", "facts");
    for (const [key, value] of facts) {
        const text = String(value);
        list.append(element("dt", has_word("fact_" + key) ? word("fact_" + key) : key), element("dd", /^\d+$/.test(text) ? grouped(Number(text)) : text === "none" ? word(text) : text));
    }
    return list;
}

/**
 * @param {HTMLElement} place @param {number} input
 * @param {import("./job.js").Look} look_at @param {(cause: import("./job.js").Cause) => Promise<void>} look_at_cause @param {import("./job.js").LookElsewhere} elsewhere
 * @param {URLSearchParams} state @param {(key: string, value: string|number|null) => void} keep @param {(step: string) => void} align
 * @param {(text: string) => void} find in the timeline @param {() => void} to_tables
 */
export async function show_overview(place, input, look_at, look_at_cause, elsewhere, state, keep, align, find, to_tables) {
    const o = await api.json("overview", { input });
    const section = element("div", "", "section");
    place.append(section);
    /** @type {import("./job.js").Look} */
    const go = o.has_timeline ? look_at : async () => {};
    if (o.losses.length) section.append(element("h2", word("losses")));
    for (const l of o.losses) section.append(element("p", word(l.file ? "lost_at" : "lost", { n: grouped(l.n), what: l.what, file: l.file, at: grouped(l.at) }), "warn"));
    if (o.job) show_job(section, o, input, go, elsewhere, state, keep);
    if (o.comparison) show_comparison(section, o.comparison, o.aligned ?? null, align, find);
    const [device, row] = (state.get("step") ?? "").split(".").map(Number);
    o.series.forEach((/** @type {import("./strip.js").Series} */ one, /** @type {number} */ i) => {
        section.append(element("h2", one.steps.length ? word("series_title", { title: said(one.title), n: grouped(one.steps.length), median: duration(one.median) }) : said(one.title)));
        if (!one.steps.length) return;
        section.append(legend(one));
        show_strip(section, one, device === i ? row : null, o.has_timeline ? (cause) => void look_at_cause(cause) : null, (chosen) => keep("step", i + "." + chosen));
    });
    for (const sentence of o.sentences) {
        const p = element("p");
        if (o.has_timeline && sentence.t1 > sentence.t0) {
            const link = /** @type {HTMLButtonElement} */ (element("button", said(sentence.text)));
            link.type = "button";
            link.addEventListener("click", () => void look_at_cause(sentence));
            p.append(link);
        } else p.textContent = said(sentence.text);
        section.append(p);
    }
    const has_steps = Boolean(o.job) || o.series.some((/** @type {import("./strip.js").Series} */ one) => one.steps.length > 0);
    if (o.advice) show_advice(section, o, Boolean(o.job), has_steps, look_at_cause);
    if (o.has_timeline && !o.job && !o.comparison && !(o.advice && has_steps)) await show_longest(section, input, look_at, to_tables);
    section.append(facts_of(o.facts));
}
