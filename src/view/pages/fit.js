// SPDX-License-Identifier: Apache-2.0
// Texts that fit into some pixels, by the widths that the page's font has.
// @ts-check

const SIZE = 11, KEPT = 20000, LONGEST = 300; // px of the font; widths that are remembered; characters that are looked at
const ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
/** @type {Map<string, number>} */
const known = new Map();

/** @param {string} text @param {number} [size] of the font */
export function width_of(text, size = SIZE) {
    let width = known.get(text);
    if (width === undefined) {
        if (known.size >= KEPT) known.clear();
        ruler.font = SIZE + "px system-ui, sans-serif";
        known.set(text, (width = ruler.measureText(text).width));
    }
    return (width * size) / SIZE;
}

/** How many characters of a text that is too wide leave room for dots. @param {string} text @param {number} width @param {number} room */
const n_fitting = (text, width, room) => Math.max(1, Math.floor((text.length * (room - SIZE)) / width));

/** The begin of a text. @param {string} text @param {number} room */
export function fitting(text, room) {
    const whole = text.slice(0, LONGEST), width = width_of(whole);
    return width <= room ? whole : whole.slice(0, n_fitting(whole, width, room)) + "…";
}

/** Its begin and its end, where names differ. @param {string} text @param {number} room @param {number} size of the font */
export function fitting_ends(text, room, size) {
    const whole = text.slice(0, LONGEST), width = width_of(whole, size);
    if (width <= room) return whole;
    const n = n_fitting(whole, width, room), n_end = Math.floor(n / 2);
    return whole.slice(0, n - n_end) + "…" + whole.slice(whole.length - n_end);
}
