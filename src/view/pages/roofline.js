// SPDX-License-Identifier: Apache-2.0
// The roofline: operations per second of each kind of kernel over its operations per byte, with logarithmic axes, and the peaks of the
// device. The area of a circle is the time of its kernels.
// @ts-check
import * as api from "./api.js";
import { colour, colour_index, N_COLOURS } from "./colours.js";
import { button, element, number_table } from "./elements.js";
import { duration, grouped, magnitude, word } from "./text.js";

const WIDTH = 1200, HEIGHT = 460, LEFT = 70, RIGHT = 20, TOP = 14, BOTTOM = 40, LEAST_PX = 3, MOST_PX = 22, LEGEND = 8;
const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {{run: string, name: string, shapes: string, types: string, formats: string, numbers: string, count: number, ns: number, operations: number, bytes: number,
 *   operations_by: string, bytes_by: string, share: number|null, begin: number, end: number}} Work
 * @typedef {{run: string, what: string, source: string, per_s: number}} Roof
 * @typedef {{n: number, kernels_ns: number, worked_ns: number, roofs: Roof[], rows: Work[]}} Reply
 * @typedef {(value: number) => number} Scale
 */

/** @param {string} tag @param {Record<string, string|number>} of @param {string} [text] */
function drawn(tag, of, text = "") {
    const made = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(of)) made.setAttribute(key, String(value));
    if (text) made.textContent = text;
    return made;
}

/** From one power of ten to another, with room on both sides. @param {number[]} values @returns {[number, number]} */
function decades(values) {
    return [Math.floor(Math.log10(Math.min(...values)) - 0.1), Math.ceil(Math.log10(Math.max(...values)) + 0.1)];
}

const rate = (/** @type {Work} */ w) => w.operations / (w.ns / 1e9);
const intensity = (/** @type {Work} */ w) => w.operations / w.bytes;
const percent = (/** @type {number|null} */ share) => (share === null ? "–" : (share * 100).toFixed(1) + " %");

/** Equal roofs of several ranks are one. @param {Roof[]} roofs */
function distinct(roofs) {
    /** @type {Map<string, Roof & {runs: string[]}>} */
    const seen = new Map();
    for (const roof of roofs) {
        const key = [roof.what, roof.source, roof.per_s].join(" "), known = seen.get(key);
        if (known) known.runs.push(roof.run);
        else seen.set(key, { ...roof, runs: [roof.run] });
    }
    return [...seen.values()];
}

/** @param {Roof & {runs?: string[]}} roof */
function roof_text(roof) {
    const is_memory = roof.what === "memory", unit = is_memory ? "B/s" : "/s";
    const what = is_memory ? word("roof_memory") : roof.what, whose = roof.runs && roof.runs.length === 1 && roof.run ? roof.run + ": " : "";
    return whose + word("roof", { what, per_s: magnitude(roof.per_s) + unit, source: word("roof_" + roof.source) });
}

/** @param {Element} svg @param {[number, number]} xs @param {[number, number]} ys @param {Scale} x @param {Scale} y */
function draw_grid(svg, xs, ys, x, y) {
    for (let p = xs[0]; p <= xs[1]; p++) {
        svg.append(drawn("line", { x1: x(10 ** p), x2: x(10 ** p), y1: TOP, y2: HEIGHT - BOTTOM, class: "grid" }));
        svg.append(drawn("text", { x: x(10 ** p), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }, magnitude(10 ** p)));
    }
    for (let p = ys[0]; p <= ys[1]; p++) {
        svg.append(drawn("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(10 ** p), y2: y(10 ** p), class: "grid" }));
        svg.append(drawn("text", { x: LEFT - 6, y: y(10 ** p) + 4, "text-anchor": "end" }, magnitude(10 ** p) + "/s"));
    }
    svg.append(drawn("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, word("intensity")));
}

/** A slope for the memory, and a level for each kind of numbers from the slope on. @param {Element} svg @param {Roof[]} roofs @param {[number, number]} xs
 * @param {[number, number]} ys @param {Scale} x @param {Scale} y */
function draw_roofs(svg, roofs, xs, ys, x, y) {
    const memories = roofs.filter((roof) => roof.what === "memory"), levels = roofs.filter((roof) => roof.what !== "memory");
    const top = Math.max(0, ...levels.map((roof) => roof.per_s)), least = 10 ** xs[0], most = 10 ** xs[1];
    for (const memory of memories) {
        const from = Math.max(least, 10 ** ys[0] / memory.per_s), to = Math.min(most, (top || 10 ** ys[1]) / memory.per_s);
        if (to > from) svg.append(drawn("line", { x1: x(from), y1: y(from * memory.per_s), x2: x(to), y2: y(to * memory.per_s), class: "roof " + memory.source }));
    }
    const steepest = Math.max(0, ...memories.map((roof) => roof.per_s));
    for (const level of levels) {
        const from = steepest ? Math.min(most, Math.max(least, level.per_s / steepest)) : least;
        svg.append(drawn("line", { x1: x(from), y1: y(level.per_s), x2: x(most), y2: y(level.per_s), class: "roof" }));
        svg.append(drawn("text", { x: x(most) - 4, y: y(level.per_s) - 5, "text-anchor": "end" }, level.what + " " + magnitude(level.per_s) + "/s"));
    }
}

/** Shapes, types, and formats unless all of them are the usual one. @param {Work} w */
const tensors = (w) => [w.shapes.slice(0, 200), w.types.slice(0, 100), /^(ND|N\/A|;)*$/.test(w.formats) ? "" : w.formats.slice(0, 100)].filter(Boolean).join(" · ");

/** @param {Work} w */
function describe(w) {
    return [w.run, w.name, tensors(w)].filter(Boolean).join(" · ") + ": " + word("work", {
        n: grouped(w.count), total: duration(w.ns), rate: magnitude(rate(w)) + "/s", intensity: magnitude(intensity(w)), share: percent(w.share),
    });
}

/** Colours by name: the usual colour of a name, or the next free one if another name has it, as long as there are free ones. @param {Work[]} points */
function colours_of(points) {
    /** @type {Map<string, number>} */
    const made = new Map(), taken = new Set();
    for (const { name } of points) {
        if (made.has(name)) continue;
        let index = colour_index(name);
        while (taken.has(index) && taken.size < N_COLOURS) index = (index + 1) % N_COLOURS;
        taken.add(index);
        made.set(name, index);
    }
    return made;
}

/** @param {Work[]} points the longest first @param {Map<string, number>} colours @param {Roof[]} roofs @param {(w: Work) => void} show @param {(text: string) => void} says */
function chart(points, colours, roofs, show, says) {
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": word("roofline") });
    const levels = roofs.filter((roof) => roof.what !== "memory").map((roof) => roof.per_s), memories = roofs.filter((roof) => roof.what === "memory");
    const ridges = memories.flatMap((memory) => levels.map((level) => level / memory.per_s));
    const xs = decades([...points.map(intensity), ...ridges]), ys = decades([...points.map(rate), ...levels]);
    /** @type {Scale} */
    const x = (v) => LEFT + ((Math.log10(v) - xs[0]) / (xs[1] - xs[0])) * (WIDTH - LEFT - RIGHT);
    /** @type {Scale} */
    const y = (v) => HEIGHT - BOTTOM - ((Math.log10(v) - ys[0]) / (ys[1] - ys[0])) * (HEIGHT - TOP - BOTTOM);
    draw_grid(svg, xs, ys, x, y);
    draw_roofs(svg, roofs, xs, ys, x, y);
    const circles = points.map((w) => {
        const r = Math.max(LEAST_PX, MOST_PX * Math.sqrt(w.ns / points[0].ns));
        const circle = /** @type {SVGCircleElement} */ (drawn("circle", {
            cx: x(intensity(w)).toFixed(1), cy: y(rate(w)).toFixed(1), r: r.toFixed(1), fill: colour(colours.get(w.name) ?? 0), tabindex: -1, role: "button", "aria-label": describe(w),
        }));
        circle.addEventListener("pointerenter", () => says(describe(w)));
        circle.addEventListener("focus", () => says(describe(w)));
        circle.addEventListener("click", () => show(w));
        return circle;
    });
    circles[0].setAttribute("tabindex", "0");
    svg.addEventListener("keydown", (event) => {
        const e = /** @type {KeyboardEvent} */ (event), here = circles.indexOf(/** @type {SVGCircleElement} */ (document.activeElement));
        const step = e.key === "ArrowRight" || e.key === "ArrowDown" ? 1 : e.key === "ArrowLeft" || e.key === "ArrowUp" ? -1 : 0;
        if (here < 0 || e.ctrlKey || e.metaKey || e.altKey) return;
        if (e.key === "Enter") show(points[here]);
        else if (step) {
            const to = circles[here + step] ?? circles[here];
            circles[here].setAttribute("tabindex", "-1");
            to.setAttribute("tabindex", "0");
            to.focus();
        } else return;
        e.preventDefault();
        e.stopPropagation();
    });
    svg.append(...circles); // the largest is at the bottom
    return svg;
}

/** The source of a figure, if it is not the shapes. @param {string} by */
const by_text = (by) => (by === "counters" ? " " + word("by_counters") : by === "shapes, no mask" ? " " + word("by_no_mask") : "");

/** @param {Work[]} rows @param {(w: Work) => void} show */
function table_of(rows, show) {
    const has_runs = rows.some((w) => w.run);
    const titles = [word("name"), ...(has_runs ? [word("run_of")] : []), word("count"), word("sum"), word("operations_per_s"), word("bytes_per_s"),
        word("intensity_short"), word("of_roof")];
    return number_table(titles, rows.map((w) => {
        const what = element("div");
        what.append(button(w.name.slice(0, 120), () => show(w)), " ", element("span", tensors(w), "faint"));
        return [what, ...(has_runs ? [w.run] : []), grouped(w.count), duration(w.ns), w.operations ? magnitude(rate(w)) + "/s" + by_text(w.operations_by) : "–",
            w.bytes ? magnitude(w.bytes / (w.ns / 1e9)) + "B/s" + by_text(w.bytes_by) : "–", w.operations && w.bytes ? magnitude(intensity(w)) : "–", percent(w.share)];
    }));
}

/** Names by colour, those that take longest. @param {Work[]} points @param {Map<string, number>} colours */
function legend(points, colours) {
    /** @type {Map<string, HTMLElement>} */
    const entries = new Map();
    for (const w of points) {
        if (entries.size === LEGEND || entries.has(w.name)) continue;
        const entry = element("span", "", "entry"), dot = element("span", "●");
        dot.style.color = colour(colours.get(w.name) ?? 0);
        entry.append(dot, " " + w.name.slice(0, 60));
        entries.set(w.name, entry);
    }
    const made = element("p");
    made.append(...entries.values());
    return made;
}

/**
 * @param {HTMLElement} place @param {number} input @param {(t0: number, t1: number, slice?: number) => Promise<void>} look_at
 * @param {(text: string) => void} says @param {boolean} is_simulated
 */
export async function show_roofline(place, input, look_at, says, is_simulated) {
    const reply = /** @type {Reply} */ (await api.json("roofline", { input })), roofs = distinct(reply.roofs);
    const section = element("div", "", "section roofline"), about = element("p"), missing = element("p", "", "faint");
    const points = reply.rows.filter((w) => w.operations > 0 && w.bytes > 0 && w.ns > 0);
    const show = (/** @type {Work} */ w) => void look_at(w.begin - (w.end - w.begin), w.end + (w.end - w.begin));
    about.append(...roofs.map((roof) => element("span", roof_text(roof), "entry")));
    const kinds = new Set(roofs.map((roof) => roof.what)), without = new Set(points.map((w) => w.numbers).filter((kind) => kind && !kinds.has(kind)));
    missing.textContent = [word("roofline_covers", { share: ((100 * reply.worked_ns) / Math.max(1, reply.kernels_ns)).toFixed(1) }),
        ...[...without].map((kind) => word("no_roof", { kind })), ...(kinds.has("memory") ? [] : [word("no_roof_memory")]),
        ...(reply.n > reply.rows.length ? [word("longest_rows", { n: grouped(reply.rows.length), all: grouped(reply.n) })] : []), word("roofline_keys")].join(" ");
    section.append(about);
    if (is_simulated) section.append(element("p", word("roofline_simulated"), "faint"));
    if (points.length) {
        const colours = colours_of(points);
        section.append(chart(points, colours, roofs, show, says), legend(points, colours));
    }
    section.append(missing, table_of(reply.rows, show));
    place.append(section);
}
