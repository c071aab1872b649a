// SPDX-License-Identifier: Apache-2.0
// The page of memory: the totals of an allocator over time, and the blocks that were allocated at a chosen time, initially the peak.
// @ts-check
import * as api from "./api.js";
import { framed } from "./chart.js";
import { button, element, link, number_table } from "./elements.js";
import { bytes, duration, grouped, word } from "./text.js";

const WIDTH = 1200, HEIGHT = 220;
const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {[number, number, number]} Point time, allocated, reserved
 * @typedef {{allocators: string[], peak: Point, points: Point[]}} Held
 */

/** Steps that hold their value until the next one. @param {Point[]} points @param {1|2} what @param {(t: number) => number} x @param {number} most */
function path_of(points, what, x, most) {
    const y = (/** @type {number} */ v) => (HEIGHT - (Math.max(0, v) / most) * (HEIGHT - 10)).toFixed(1);
    let path = `M${x(points[0][0]).toFixed(1)} ${HEIGHT}`;
    for (const p of points) path += `H${x(p[0]).toFixed(1)}V${y(p[what])}`;
    return path + `H${WIDTH}`;
}

/** The value at the top of the drawing: the reserved memory, unless the allocated memory would be too small to be seen. @param {Point[]} points */
function scale_of(points) {
    const allocated = Math.max(1, ...points.map((p) => p[1])), reserved = Math.max(0, ...points.map((p) => p[2]));
    return { most: reserved > 4 * allocated ? allocated * 1.25 : Math.max(allocated, reserved), reserved };
}

/** @param {Point[]} points */
function legend(points) {
    const p = element("div", "", "legend"), { most, reserved } = scale_of(points);
    for (const [kind, sign, more] of [["allocated", "■ ", ""], ["reserved", "— ", reserved > most ? " (" + word("beyond", { bytes: bytes(reserved) }) + ")" : ""]]) {
        const entry = element("span", "", "entry"), box = element("span", sign);
        box.style.color = kind === "allocated" ? "var(--computing)" : "var(--communication)";
        entry.append(box, word(kind) + more);
        p.append(entry);
    }
    return p;
}

/** @param {Held} held @param {number} at @param {(t: number) => void} choose */
function chart(held, at, choose) {
    const svg = document.createElementNS(SVG, "svg"), points = held.points;
    const t0 = points[0][0], t1 = Math.max(points[points.length - 1][0], t0 + 1);
    const { most } = scale_of(points);
    const x = (/** @type {number} */ t) => ((t - t0) / (t1 - t0)) * WIDTH;
    /** @param {string} tag @param {Record<string, string|number>} of */
    const put = (tag, of) => {
        const made = document.createElementNS(SVG, tag);
        for (const [key, value] of Object.entries(of)) made.setAttribute(key, String(value));
        svg.append(made);
    };
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("role", "slider");
    svg.setAttribute("aria-label", word("moment"));
    svg.setAttribute("aria-valuemin", String(t0));
    svg.setAttribute("aria-valuemax", String(t1));
    svg.setAttribute("aria-valuenow", String(at));
    svg.setAttribute("aria-valuetext", duration(at));
    put("path", { d: path_of(points, 2, x, most), class: "reserved" });
    put("path", { d: path_of(points, 1, x, most) + `V${HEIGHT}Z`, class: "allocated" });
    put("line", { x1: x(at), x2: x(at), y1: 0, y2: HEIGHT, class: "moment" });
    svg.addEventListener("click", (e) => {
        const box = svg.getBoundingClientRect();
        choose(t0 + ((e.clientX - box.left) / Math.max(1, box.width)) * (t1 - t0));
    });
    svg.addEventListener("keydown", (e) => {
        const here = points.findIndex((p) => p[0] >= at), is_exact = points[here]?.[0] === at;
        const to = e.key === "ArrowLeft" ? points[(here < 0 ? points.length : here) - 1]
            : e.key === "ArrowRight" ? points[is_exact ? here + 1 : here] : e.key === "Home" ? points[0] : e.key === "End" ? points[points.length - 1] : undefined;
        if (!to) return;
        e.preventDefault();
        choose(to[0]);
    });
    return { svg, frame: framed(svg, t0, t1, most) };
}

const name_of = (/** @type {string} */ name) => name.slice(0, 300) || word("unknown");

/**
 * @param {HTMLElement} place @param {number} input @param {URLSearchParams} state
 * @param {(key: string, value: string|number|null) => void} keep
 * @param {(t0: number, t1: number, slice?: number) => Promise<void>} look_at
 */
export async function show_memory(place, input, state, keep, look_at) {
    const section = element("div", "", "section memory"), bar = element("p"), graph = element("div"), tables = element("div", "", "beside");
    const choice = /** @type {HTMLSelectElement} */ (element("select")), about = element("span", "", "faint");
    choice.setAttribute("aria-label", word("allocator"));
    let asked = 0;
    const ask = async () => {
        const mine = ++asked, allocator = Number(state.get("allocator") ?? 0) || 0;
        const held = /** @type {Held} */ (await api.json("memory", { input, allocator }));
        const at = Math.round(Number(state.get("at") ?? held.peak[0]));
        const alive = await api.json("memory_at", { input, allocator, at });
        if (mine !== asked) return;
        choice.replaceChildren(...held.allocators.map((name, i) => new Option(name, String(i), false, i === allocator)));
        const had_focus = graph.contains(document.activeElement), { svg, frame } = chart(held, at, (t) => {
            keep("at", Math.round(t));
            void ask();
        });
        graph.replaceChildren(frame, legend(held.points));
        if (had_focus) svg.focus();
        about.textContent = word("alive", { at: duration(at), n: grouped(alive.n), bytes: bytes(alive.bytes), peak: bytes(held.peak[1]) });
        tables.replaceChildren(
            number_table([word("taken_by"), word("count"), word("size")], alive.owners.map((/** @type {any} */ o) => [name_of(o.name), grouped(o.count), bytes(o.bytes)])),
            number_table([word("block"), word("size"), word("begin"), word("lives")], alive.blocks.map((/** @type {any} */ b) => [
                link(name_of(b.name), () => void look_at(b.begin - 50000, b.begin + 50000)), bytes(b.bytes), duration(b.begin),
                b.end === null ? word("to_the_end") : duration(b.end - b.begin)])));
    };
    choice.addEventListener("change", () => {
        keep("allocator", choice.value);
        keep("at", null);
        void ask();
    });
    bar.append(choice, " ", button(word("peak"), () => {
        keep("at", null);
        void ask();
    }), " ", about);
    const below = element("div", "", "section memory");
    section.append(bar, graph);
    below.append(tables);
    place.append(section, below);
    await ask();
}
