// SPDX-License-Identifier: Apache-2.0
// The first page: all steps against their median, the slowest one explained, and what was lost.
// @ts-check
import * as api from "./api.js";
import { show_advice, show_comparison } from "./advice.js";
import { element } from "./elements.js";
import { show_job } from "./job.js";
import { duration, grouped, word } from "./text.js";

const PARTS = ["computing", "overlapped", "communication", "free"];
const STRIP_HEIGHT = 140;

/** @typedef {{name: string, begin: number, end: number, time: number, parts: number[], is_slow: boolean}} Step */

/** @param {Step[]} steps @param {number} median @param {(step: Step) => void} go */
function strip(steps, median, go) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const most = Math.max(median * 1.2, ...steps.map((s) => s.time)), width = 1200, each = width / Math.max(1, steps.length);
    svg.setAttribute("viewBox", `0 0 ${width} ${STRIP_HEIGHT}`);
    svg.setAttribute("role", "list");
    svg.style.width = "100%";
    svg.style.height = STRIP_HEIGHT + "px";
    svg.setAttribute("preserveAspectRatio", "none");
    /** @param {string} tag @param {Record<string, string|number>} of @param {Element} parent */
    const put = (tag, of, parent) => {
        const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
        for (const [key, value] of Object.entries(of)) made.setAttribute(key, String(value));
        parent.append(made);
        return made;
    };
    steps.forEach((step, i) => {
        const group = put("g", { tabindex: 0, role: "listitem", "aria-label": word("step") + " " + step.name + ": " + duration(step.time) }, svg);
        let y = STRIP_HEIGHT;
        PARTS.forEach((part, p) => {
            const h = (Math.max(0, step.parts[p]) / most) * (STRIP_HEIGHT - 8);
            y -= h;
            put("rect", { x: i * each, y, width: Math.max(0.5, each - (each > 4 ? 1 : 0)), height: h, class: part }, group);
        });
        if (step.is_slow) put("rect", { x: i * each, y: y - 5, width: Math.max(1, each - 1), height: 4, class: "slow" }, group);
        put("title", {}, group).textContent = word("step") + " " + step.name + ": " + duration(step.time);
        group.addEventListener("click", () => go(step));
        group.addEventListener("keydown", (e) => /** @type {KeyboardEvent} */ (e).key === "Enter" && go(step));
    });
    const y = STRIP_HEIGHT - (median / most) * (STRIP_HEIGHT - 8);
    put("line", { x1: 0, x2: width, y1: y, y2: y, class: "median" }, svg);
    return svg;
}

function legend() {
    const p = element("p", "", "faint");
    for (const part of PARTS) {
        const box = element("span", "■ ");
        box.style.color = `var(--${part})`;
        p.append(box, word(part) + "   ");
    }
    return p;
}

/**
 * @param {HTMLElement} place @param {number} input
 * @param {import("./job.js").Look} look_at @param {import("./job.js").LookElsewhere} elsewhere
 * @param {URLSearchParams} state @param {(key: string, value: string|number|null) => void} keep @param {(step: string) => void} align
 */
export async function show_overview(place, input, look_at, elsewhere, state, keep, align) {
    const o = await api.json("overview", { input });
    const section = element("div", "", "section");
    place.append(section);
    /** @type {import("./job.js").Look} */
    const go = o.has_timeline ? look_at : async () => {};
    if (o.job) show_job(section, o, input, go, elsewhere, state, keep);
    if (o.comparison) show_comparison(section, o.comparison, o.aligned ?? null, align);
    for (const one of o.series) {
        section.append(element("h2", one.title));
        if (one.steps.length) {
            section.append(legend(), strip(one.steps, one.median, (step) => o.has_timeline && void look_at(step.begin, step.end)));
        }
    }
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
    const facts = element("dl", "", "facts");
    for (const [key, value] of o.facts) facts.append(element("dt", key), element("dd", typeof value === "number" ? grouped(value) : value));
    section.append(facts);
}
