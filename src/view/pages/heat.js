// SPDX-License-Identifier: Apache-2.0
// A grid of coloured cells on one canvas, for mouse and keyboard. Larger values have lighter colours, so that the grid can be read
// with colour vision deficiency and on black-and-white prints.
// @ts-check
import { element } from "./elements.js";
import { word } from "./text.js";

const STOPS = [[0, 32, 76], [64, 77, 107], [124, 123, 120], [187, 173, 108], [255, 233, 69]];
const LABEL = 76, HEAD = 18, LEAST = 4, MOST = 18, WIDEST = 64, GAP = 4;
const LARGEST = 16000; // pixels of a side of a canvas: browsers have no larger ones

/** @param {number} share 0 to 1 */
export function heat_colour(share) {
    const at = Math.min(1, Math.max(0, share)) * (STOPS.length - 1), low = Math.min(STOPS.length - 2, Math.floor(at)), part = at - low;
    return "rgb(" + STOPS[low].map((v, i) => Math.round(v + (STOPS[low + 1][i] - v) * part)).join(",") + ")";
}

/**
 * @typedef {{rows: string[], columns: string[], gaps: Set<number>, value: (row: number, column: number) => number|null,
 *   text: (row: number, column: number) => string, shown: (v: number) => string, choose: (row: number, column: number) => void, name: string, corner: string}} Heat
 */

/** @param {HTMLElement} place @param {Heat} of */
export function show_heat(place, of) {
    const figure = element("figure", "", "heat"), canvas = document.createElement("canvas"), words = element("figcaption");
    const legend = element("p", "", "faint"), scroll = element("div", "", "scroll");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "grid");
    canvas.setAttribute("aria-label", of.name);
    words.setAttribute("aria-live", "polite");
    words.textContent = word("heat_keys");
    scroll.append(canvas);
    figure.append(scroll, legend, words);
    place.append(figure);
    let row = 0, column = 0, has_cursor = false;
    const values = of.rows.flatMap((_, r) => of.columns.map((_name, c) => of.value(r, c))).filter((v) => v !== null).sort((a, b) => a - b);
    // The scale reaches at least from 0.8 to 1.2 medians, so that small differences have similar colours.
    const middle = values[values.length >> 1] ?? 0, low = Math.min(values[0] ?? 0, middle * 0.8), high = Math.max(values[values.length - 1] ?? 0, middle * 1.2);
    /** @param {number} v */
    const share = (v) => (high > low ? (v - low) / (high - low) : 0.5);
    if (values.length) {
        const bar = element("span", "", "scale");
        bar.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(heat_colour).join(",")})`;
        legend.append(of.shown(low) + " ", bar, " " + of.shown(high));
    }
    const height = Math.max(LEAST, Math.min(MOST, Math.floor(720 / Math.max(1, of.rows.length))));
    let width = 1;
    const tops = [...of.rows, ""].map((_, r) => HEAD + r * height); // of each row, and the end of the last one
    for (const gap of of.gaps) for (let r = gap; r < tops.length; r++) tops[r] += GAP;
    const draw = () => {
        const ratio = window.devicePixelRatio || 1, c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
        const style = getComputedStyle(document.documentElement), text = style.getPropertyValue("--text"), line = style.getPropertyValue("--line");
        width = Math.max(LEAST, Math.min(WIDEST, Math.floor((figure.clientWidth - LABEL - 4) / Math.max(1, of.columns.length))));
        const w = LABEL + width * of.columns.length + 2, h = tops[of.rows.length] + 2;
        canvas.width = Math.min(LARGEST, Math.round(w * ratio));
        canvas.height = Math.min(LARGEST, Math.round(h * ratio));
        canvas.style.width = w + "px";
        canvas.style.height = h + "px";
        c.scale(canvas.width / w, canvas.height / h); // beyond the largest canvas: fewer pixels, all of the grid
        c.font = "11px system-ui, sans-serif";
        c.textBaseline = "middle";
        const label = Math.ceil(34 / width), label_rows = Math.ceil(12 / height);
        c.fillStyle = style.getPropertyValue("--faint");
        c.textAlign = "right";
        c.fillText(of.corner + " →", LABEL - 6, HEAD / 2, LABEL - 6);
        c.textAlign = "left";
        c.fillStyle = text;
        of.columns.forEach((name, i) => i % label === 0 && c.fillText(name.slice(0, 12), LABEL + i * width, HEAD / 2, Math.max(34, width * label)));
        of.rows.forEach((name, r) => {
            c.fillStyle = text;
            if (r % label_rows === 0) c.fillText(name.slice(0, 24), 0, tops[r] + height / 2, LABEL - 6);
            for (let k = 0; k < of.columns.length; k++) {
                const v = of.value(r, k);
                c.fillStyle = v === null ? line : heat_colour(share(v));
                c.fillRect(LABEL + k * width, tops[r] + (v === null ? height / 2 : 0), width - (width > 6 ? 1 : 0), v === null ? 1 : height - (height > 6 ? 1 : 0));
            }
        });
        if (has_cursor) {
            c.strokeStyle = text;
            c.lineWidth = 2;
            c.strokeRect(LABEL + column * width, tops[row], width, height);
        }
    };
    /** @param {number} r @param {number} c */
    const move = (r, c) => {
        has_cursor = true;
        row = Math.min(of.rows.length - 1, Math.max(0, r));
        column = Math.min(of.columns.length - 1, Math.max(0, c));
        words.textContent = of.text(row, column);
        draw();
    };
    /** @param {MouseEvent} e @returns {[number, number]|null} */
    const hit = (e) => {
        const box = canvas.getBoundingClientRect(), x = e.clientX - box.left - LABEL, y = e.clientY - box.top;
        let r = of.rows.length - 1;
        while (r >= 0 && tops[r] > y) r--;
        const c = Math.floor(x / width);
        return r < 0 || c < 0 || c >= of.columns.length || y > tops[of.rows.length] ? null : [r, c];
    };
    canvas.addEventListener("mousemove", (e) => {
        const at = hit(e);
        if (at && (at[0] !== row || at[1] !== column || !has_cursor)) move(...at);
    });
    canvas.addEventListener("click", (e) => {
        const at = hit(e);
        if (at) of.choose(...at);
    });
    canvas.addEventListener("focus", () => move(row, column));
    canvas.addEventListener("keydown", (e) => {
        const by = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[e.key];
        if (by) move(row + by[0], column + by[1]);
        else if (e.key === "Home") move(row, 0);
        else if (e.key === "End") move(row, of.columns.length - 1);
        else if (e.key === "Enter") of.choose(row, column);
        else return;
        e.preventDefault();
        e.stopPropagation();
    });
    new ResizeObserver(draw).observe(figure);
    draw();
}
