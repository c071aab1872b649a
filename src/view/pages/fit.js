// SPDX-License-Identifier: Apache-2.0
// Shortens texts to a width in pixels, measured with the font of the page.
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

/** The number of characters of a text that fit with an ellipsis. @param {string} text @param {number} width @param {number} room */
const n_fitting = (text, width, room) => Math.max(1, Math.floor((text.length * (room - SIZE)) / width));

/** The begin of a text, with an ellipsis if it is too wide. @param {string} text @param {number} room */
export function fitting(text, room) {
    const whole = text.slice(0, LONGEST), width = width_of(whole);
    return width <= room ? whole : whole.slice(0, n_fitting(whole, width, room)) + "…";
}

/** The begin and the end of a text, with an ellipsis between them if it is too wide: names often differ at the end. @param {string} text @param {number} room @param {number} size of the font */
export function fitting_ends(text, room, size) {
    const whole = text.slice(0, LONGEST), width = width_of(whole, size);
    if (width <= room) return whole;
    const n = n_fitting(whole, width, room), n_end = Math.floor(n / 2);
    return whole.slice(0, n - n_end) + "…" + whole.slice(whole.length - n_end);
}
