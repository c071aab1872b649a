// SPDX-License-Identifier: Apache-2.0
// The first page: all steps against their median, one of them explained, advice, and what was lost.
// @ts-check
import * as api from "./api.js";
import { show_advice, show_comparison } from "./advice.js";
import { element } from "./elements.js";
import { show_job } from "./job.js";
import { CUT, PARTS, show_strip } from "./strip.js";
import { duration, grouped, word } from "./text.js";

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

/**
 * @param {HTMLElement} place @param {number} input
 * @param {import("./job.js").Look} look_at @param {import("./job.js").LookElsewhere} elsewhere
 * @param {URLSearchParams} state @param {(key: string, value: string|number|null) => void} keep @param {(step: string) => void} align
 * @param {(text: string) => void} find in the timeline
 */
export async function show_overview(place, input, look_at, elsewhere, state, keep, align, find) {
    const o = await api.json("overview", { input });
    const section = element("div", "", "section");
    place.append(section);
    /** @type {import("./job.js").Look} */
    const go = o.has_timeline ? look_at : async () => {};
    if (o.job) show_job(section, o, input, go, elsewhere, state, keep);
    if (o.comparison) show_comparison(section, o.comparison, o.aligned ?? null, align, find);
    const [device, row] = (state.get("step") ?? "").split(".").map(Number);
    o.series.forEach((/** @type {import("./strip.js").Series} */ one, /** @type {number} */ i) => {
        section.append(element("h2", one.steps.length ? word("series_title", { title: one.title, n: grouped(one.steps.length), median: duration(one.median) }) : one.title));
        if (!one.steps.length) return;
        section.append(legend(one));
        show_strip(section, one, device === i ? row : null, o.has_timeline ? (t0, t1) => void look_at(t0, t1) : null, (chosen) => keep("step", i + "." + chosen));
    });
    for (const sentence of o.sentences) {
        const p = element("p");
        if (o.has_timeline && sentence.t1 > sentence.t0) {
            const link = /** @type {HTMLButtonElement} */ (element("button", sentence.text));
            link.type = "button";
            link.addEventListener("click", () => void look_at(sentence.t0, sentence.t1));
            p.append(link);
        } else p.textContent = sentence.text;
        section.append(p);
    }
    if (o.advice) show_advice(section, o, Boolean(o.job), go);
    if (o.losses.length) section.append(element("h3", word("losses")));
    for (const l of o.losses) section.append(element("p", word(l.file ? "lost_at" : "lost", { n: grouped(l.n), what: l.what, file: l.file, at: grouped(l.at) }), "warn"));
    const facts = element("dl", "", "facts");
    for (const [key, value] of o.facts) facts.append(element("dt", key), element("dd", typeof value === "number" ? grouped(value) : value));
    section.append(facts);
}
