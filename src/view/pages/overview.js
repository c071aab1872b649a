// SPDX-License-Identifier: Apache-2.0
// The first page: what could not be read, all steps against their median, one of them explained, and advice.
// @ts-check
import * as api from "./api.js";
import { show_advice, show_comparison } from "./advice.js";
import { show_card, show_top } from "./card.js";
import { element, link } from "./elements.js";
import { show_heading, show_job, show_path } from "./job.js";
import { said } from "./sentences.js";
import { CUT, part_name, parts_of, show_strip } from "./strip.js";
import { grouped, has_word, word } from "./text.js";

/** @param {import("./strip.js").Series} of */
function legend(of) {
    const p = element("p", "", "faint");
    for (const { part } of parts_of(of)) {
        const entry = element("span", "", "entry"), box = element("span", "■ ");
        box.style.color = `var(--${part})`;
        entry.append(box, part_name(of, part));
        p.append(entry);
    }
    if (of.median > 0 && of.steps.some((s) => s.time > of.median * CUT)) p.append(word("cut", { n: CUT }));
    return p;
}

/** The steps of each device. Of a single one the answer about the selected step has its place elsewhere, beside the advice.
 *  @param {HTMLElement} place @param {HTMLElement} beside @param {{series: import("./strip.js").Series[]}} o @param {((cause: import("./job.js").Cause) => void)|null} go
 *  @param {URLSearchParams} state @param {(key: string, value: string|number|null) => void} keep */
function show_series(place, beside, o, go, state, keep) {
    const [device, row] = (state.get("step") ?? "").split(".").map(Number);
    o.series.forEach((one, i) => {
        place.append(element("h2", said(one.title)));
        if (!one.steps.length) return;
        place.append(legend(one));
        show_strip(place, o.series.length === 1 ? beside : place, one, device === i ? row : null, go, (chosen) => keep("step", i + "." + chosen));
    });
}

/** What the judge finds in the steps, each with its largest causes. @param {HTMLElement} section @param {import("./strip.js").Series[]} series
 *  @param {((cause: import("./job.js").Cause) => void)|null} go */
function show_findings(section, series, go) {
    const all = series.flatMap((of) => of.findings.map((one) => ({ ...one, of })));
    /** @param {HTMLElement} place @param {import("./strip.js").Sentence} sentence @param {string} before */
    const put = (place, sentence, before = "") => {
        const text = before + said(sentence.text);
        if (go && sentence.t1 > sentence.t0) place.append(link(text, () => go(sentence)));
        else place.textContent = text;
    };
    if (all.length) section.append(element("h2", word("verdicts")));
    for (const one of all) {
        const p = element("p", "", one.is_start_up ? "faint" : "verdict"), list = element("ul", "", "causes");
        put(p, one.says[0], series.length > 1 ? said(one.of.title) + ": " : "");
        for (const cause of one.why) {
            const item = element("li");
            put(item, cause);
            list.append(item);
        }
        section.append(p);
        if (one.why.length) section.append(list);
    }
}

/** @param {[string, string|number][]} facts */
function facts_of(facts) {
    const list = element("dl", "", "facts");
    for (const [key, value] of facts) {
        const text = String(value);
        list.append(element("dt", has_word("fact_" + key) ? word("fact_" + key) : key), element("dd", /^\d+$/.test(text) ? grouped(Number(text)) : said(text)));
    }
    return list;
}

/** Two columns where there is room for them. @param {HTMLElement} section */
function columns_in(section) {
    const columns = element("div", "", "columns"), left = element("div"), right = element("div");
    columns.append(left, right);
    section.append(columns);
    return { left, right };
}

/**
 * @param {HTMLElement} place @param {number} input
 * @param {import("./job.js").Look} look_at @param {(cause: import("./job.js").Cause) => Promise<void>} look_at_cause @param {import("./job.js").LookElsewhere} elsewhere
 * @param {URLSearchParams} state @param {(key: string, value: string|number|null) => void} keep @param {(step: string) => void} align
 * @param {(text: string) => void} find in the timeline @param {(table: string) => void} to_table
 */
export async function show_overview(place, input, look_at, look_at_cause, elsewhere, state, keep, align, find, to_table) {
    const o = await api.json("overview", { input });
    const section = element("div", "", "section overview");
    place.append(section);
    const go = o.has_timeline ? look_at : async () => {}, to_cause = o.has_timeline ? look_at_cause : async () => {};
    if (o.losses.length) section.append(element("h2", word("losses")));
    for (const l of o.losses) section.append(element("p", word(l.file ? "lost_at" : "lost", { n: grouped(l.n), what: said(l.what), file: l.file, at: grouped(l.at) }), "warn"));
    const of_step = o.has_timeline ? (/** @type {import("./job.js").Cause} */ cause) => void look_at_cause(cause) : null;
    if (o.job) show_heading(section, o.job);
    show_findings(section, o.series, of_step);
    if (!o.job && !o.comparison) show_card(section, o);
    if (o.comparison) show_comparison(section, o.comparison, o.aligned ?? null, align, find);
    const has_steps = Boolean(o.job) || o.series.some((/** @type {import("./strip.js").Series} */ one) => one.steps.length > 0);
    const steps = element("div"), { left, right } = columns_in(section);
    left.parentElement?.before(steps);
    if (o.job) show_job(left, o, input, go, elsewhere, state, keep);
    show_series(steps, left, o, of_step, state, keep);
    for (const sentence of o.sentences) {
        const p = element("p");
        if (o.has_timeline && sentence.t1 > sentence.t0) p.append(link(said(sentence.text), () => void look_at_cause(sentence)));
        else p.textContent = said(sentence.text);
        left.append(p);
    }
    if (o.advice) show_advice(right, o, Boolean(o.job), has_steps, to_cause);
    if (o.job) show_path(right, o.job);
    if (o.has_timeline && !o.job && !o.comparison) await show_top([left, right], input, (slice) => void look_at(0, 0, slice), to_table);
    section.append(facts_of(o.facts));
}
