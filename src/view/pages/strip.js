// SPDX-License-Identifier: Apache-2.0
// A bar chart of all steps of a device, for mouse and keyboard. The selected step is compared with the median step. If there are more
// steps than pixels, a column shows the longest of its steps.
// @ts-check
import { element, link, number_table } from "./elements.js";
import { said } from "./sentences.js";
import { duration, word } from "./text.js";

export const PARTS = ["computing", "overlapped", "communication", "free"];
const HEIGHT = 140, FOOT = 16, SLOW = 5, LABEL_PX = 40, TOP = SLOW + 3, AXIS = 64; // AXIS: for the times at the left
export const CUT = 4; // bars are cut off at this many medians: otherwise one stall would make all other bars invisible

/**
 * @typedef {{text: string, event: string, t0: number, t1: number}} Sentence
 * @typedef {{name: string, begin: number, end: number, time: number, parts: number[], is_slow: boolean, why: Sentence[]}} Step
 * @typedef {{says: Sentence[], why: Sentence[], is_start_up: boolean}} Finding
 * @typedef {{findings: Finding[], title: string, is_host: boolean, median: number, whole: number, whole_parts: number[], selected: number|null, steps: Step[]}} Series
 */

/** What a part of a step is: on the host alone operators compute. @param {Series} of @param {string} part */
export const part_name = (of, part) => (of.is_host ? word("host_" + part) : word(part));

/** The parts of which there is something. @param {Series} of */
export const parts_of = (of) => PARTS.map((part, i) => ({ part, i })).filter(({ i }) => of.whole_parts[i] > 0);

/** @param {number[]} values */
function median_of(values) {
    const sorted = [...values].sort((a, b) => a - b), n = sorted.length;
    return n % 2 ? sorted[n >> 1] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/** @param {number} ns */
const more = (ns) => (ns >= 0 ? "+" : "−") + duration(Math.abs(ns));

/** One step against the median of all: its parts, and what it had more of. @param {HTMLElement} place @param {Series} of @param {Step} step
 *  @param {((cause: import("./job.js").Cause) => void)|null} go to the timeline; null: there is none */
function show_step(place, of, step, go) {
    const head = element("h3", word("step_against", { name: step.name, time: duration(step.time), more: more(step.time - of.median), median: duration(of.median) }));
    const usual = PARTS.map((_, p) => median_of(of.steps.map((s) => s.parts[p])));
    const parts = number_table([word("part"), word("this_step"), word("median_step"), word("difference")],
        parts_of(of).map(({ part, i }) => [part_name(of, part), duration(step.parts[i]), duration(usual[i]), more(step.parts[i] - usual[i])]));
    place.replaceChildren(head);
    if (go) place.append(link(word("show_step"), () => go({ t0: step.begin, t1: step.end, event: "" })));
    const beside = element("div", "", "beside"), list = element("div", step.why.length > 1 ? word("had_more") : "");
    for (const reason of step.why.slice(1)) { // the first says what the heading does
        const p = element("p");
        if (go && reason.t1 > reason.t0) p.append(link(said(reason.text), () => go(reason)));
        else p.textContent = said(reason.text);
        list.append(p);
    }
    beside.append(parts, list);
    place.append(beside);
}

/** @param {HTMLElement} place @param {HTMLElement} beside for the answer about the selected step @param {Series} of @param {number|null} chosen a row of the steps @param {((cause: import("./job.js").Cause) => void)|null} go
 *  @param {(row: number) => void} keep */
export function show_strip(place, beside, of, chosen, go, keep) {
    const figure = element("figure", "", "strip"), canvas = document.createElement("canvas"), tip = element("figcaption", "", "faint"), answer = element("div");
    const longest = of.steps.reduce((m, s) => Math.max(m, s.time), of.median * 1.2) || 1, n = of.steps.length;
    const most = of.median > 0 ? Math.min(longest, of.median * CUT) : longest;
    let at = chosen !== null && chosen >= 0 && chosen < n ? chosen : of.selected;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "slider");
    canvas.setAttribute("aria-label", of.title);
    canvas.setAttribute("aria-valuemin", "0");
    canvas.setAttribute("aria-valuemax", String(n - 1));
    tip.textContent = word("strip_keys");
    figure.append(canvas, tip);
    place.append(figure);
    beside.append(answer);
    let width = 1;
    /** @param {number} x */
    const row_at = (x) => Math.min(n - 1, Math.max(0, Math.floor(((x - AXIS) / width) * n)));
    const draw = () => {
        const ratio = window.devicePixelRatio || 1, c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), style = getComputedStyle(document.documentElement);
        const ink = (/** @type {string} */ name) => style.getPropertyValue("--" + name).trim(), bottom = HEIGHT;
        width = Math.max(1, figure.clientWidth - AXIS);
        canvas.width = Math.round((width + AXIS) * ratio);
        canvas.height = Math.round((HEIGHT + FOOT) * ratio);
        canvas.style.width = width + AXIS + "px";
        canvas.style.height = HEIGHT + FOOT + "px";
        c.scale(ratio, ratio);
        const each = width / n, columns = Math.min(n, Math.floor(width)), colours = PARTS.map(ink);
        /** @param {number} ns */
        const high = (ns) => (Math.max(0, ns) / most) * (HEIGHT - TOP);
        c.font = "11px system-ui, sans-serif";
        c.textBaseline = "middle";
        c.textAlign = "right";
        for (const share of [0, 0.5, 1]) { // the axis, and a line at each of its times
            const y = bottom - high(most * share);
            c.fillStyle = ink("line");
            c.fillRect(AXIS, y - (share ? 0 : 1), width, 1);
            c.fillStyle = ink("faint");
            c.fillText(share ? duration(most * share) : "0", AXIS - 6, Math.min(y, bottom - 6));
        }
        c.textAlign = "left";
        c.save();
        c.translate(AXIS, 0);
        for (let k = 0; k < columns; k++) {
            let row = Math.floor((k * n) / columns);
            const end = Math.max(row + 1, Math.floor(((k + 1) * n) / columns));
            for (let r = row; r < end; r++) if (of.steps[r].time > of.steps[row].time) row = r;
            const step = of.steps[row], x = (k * width) / columns, w = Math.max(1, width / columns - (each > 4 ? 1 : 0));
            let y = bottom;
            PARTS.forEach((_, p) => {
                const h = Math.min(high(step.parts[p]), y - TOP);
                c.fillStyle = colours[p];
                c.fillRect(x, (y -= h), w, h);
            });
            if (step.time > most) c.clearRect(x, y + 8, w, 3);
            if (step.is_slow) {
                c.fillStyle = ink("warn");
                c.fillRect(x, y - SLOW, w, SLOW - 1);
            }
        }
        c.strokeStyle = c.fillStyle = ink("text");
        c.setLineDash([6, 4]);
        c.beginPath();
        c.moveTo(0, bottom - high(of.median));
        c.lineTo(width, bottom - high(of.median));
        c.stroke();
        c.setLineDash([]);
        if (at !== null) {
            c.lineWidth = 2;
            c.strokeRect(at * each, 1, Math.max(3, each - 1), bottom - 1);
        }
        c.fillStyle = ink("faint");
        for (let i = 0, last = -LABEL_PX; i < n; i++)
            if (i * each - last >= LABEL_PX) c.fillText(of.steps[i].name.slice(0, 12), (last = i * each), bottom + FOOT / 2 + 1, Math.max(LABEL_PX - 4, each - 2));
        c.restore();
    };
    /** @param {number} row */
    const words = (row) => word("step_time_of", { name: of.steps[row].name, time: duration(of.steps[row].time) }) + ": " +
        parts_of(of).map(({ part, i }) => part_name(of, part) + " " + duration(of.steps[row].parts[i])).join(", ");
    /** @param {number} row */
    const choose = (row) => {
        at = Math.min(n - 1, Math.max(0, row));
        tip.textContent = words(at);
        canvas.setAttribute("aria-valuenow", String(at));
        canvas.setAttribute("aria-valuetext", words(at));
        keep(at);
        show_step(answer, of, of.steps[at], go);
        draw();
    };
    const x_of = (/** @type {MouseEvent} */ e) => e.clientX - canvas.getBoundingClientRect().left;
    canvas.addEventListener("mousemove", (e) => (tip.textContent = words(row_at(x_of(e)))));
    canvas.addEventListener("click", (e) => choose(row_at(x_of(e))));
    const go_to_step = () => at !== null && go?.({ t0: of.steps[at].begin, t1: of.steps[at].end, event: "" });
    canvas.addEventListener("dblclick", go_to_step);
    canvas.addEventListener("keydown", (e) => {
        const here = at ?? 0, to = { ArrowLeft: at === null ? 0 : here - 1, ArrowRight: at === null ? 0 : here + 1, Home: 0, End: n - 1 }[e.key];
        if (to !== undefined) choose(to);
        else if (e.key === "Enter") go_to_step();
        else return;
        e.preventDefault();
        e.stopPropagation();
    });
    if (at !== null) show_step(answer, of, of.steps[at], go);
    new ResizeObserver(draw).observe(figure);
    draw();
}

