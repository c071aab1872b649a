// SPDX-License-Identifier: Apache-2.0
// Memory by category over time, as stacked areas, and the amounts at the peak.
// @ts-check
import * as api from "./api.js";
import { framed } from "./chart.js";
import { element } from "./elements.js";
import { bytes, duration, word } from "./text.js";

const WIDTH = 1200, HEIGHT = 220;
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {{device: string, names: string[], points: number[][]}} Categories */

/** @param {number[]} point @param {number} below */
const sum_of = (point, below) => point.slice(1, below + 1).reduce((a, b) => a + Math.max(0, b), 0);

/** @param {Categories} c */
function chart(c) {
    const svg = document.createElementNS(SVG, "svg"), n = c.names.length;
    const t0 = c.points[0][0], t1 = Math.max(c.points[c.points.length - 1][0], t0 + 1);
    const most = Math.max(1, ...c.points.map((p) => sum_of(p, n)));
    const x = (/** @type {number} */ t) => (((t - t0) / (t1 - t0)) * WIDTH).toFixed(1);
    const y = (/** @type {number} */ v) => (HEIGHT - (v / most) * (HEIGHT - 10)).toFixed(1);
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", word("memory_by_category"));
    for (let i = n; i > 0; i--) { // the highest first: lower areas are drawn over it
        if (!c.points.some((p) => p[i] > 0)) continue;
        const path = document.createElementNS(SVG, "path"), title = document.createElementNS(SVG, "title");
        path.setAttribute("d", `M0 ${HEIGHT}` + c.points.map((p) => `H${x(p[0])}V${y(sum_of(p, i))}`).join("") + `H${WIDTH}V${HEIGHT}Z`);
        path.setAttribute("class", "category" + (i - 1));
        title.textContent = word("category_" + c.names[i - 1].toLowerCase());
        path.append(title);
        svg.append(path);
    }
    return framed(svg, t0, t1, most);
}

/** @param {HTMLElement} place @param {number} input */
export async function show_categories(place, input) {
    const c = /** @type {Categories} */ (await api.json("memory_categories", { input }));
    if (!c.points.length) return;
    const n = c.names.length, peak = c.points.reduce((a, b) => (sum_of(b, n) > sum_of(a, n) ? b : a));
    const legend = element("p");
    c.names.forEach((name, i) => {
        if (!c.points.some((p) => p[i + 1] > 0)) return;
        const entry = element("span", "", "entry"), box = element("span", "■ ", "category" + i);
        entry.append(box, word("category_" + name.toLowerCase()) + " " + bytes(peak[i + 1]));
        legend.append(entry, " ");
    });
    place.replaceChildren(element("h2", word("memory_by_category") + ", " + c.device), chart(c),
        element("p", word("category_peak", { at: duration(peak[0]), bytes: bytes(sum_of(peak, n)) }), "faint"), legend);
}
