// SPDX-License-Identifier: Apache-2.0
// A name has the same colour wherever it is shown. There are twelve colours, in two sets for light and dark pages. They differ in
// lightness, so that people with colour vision deficiency can distinguish them, too.
// @ts-check

const LIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6d31", "#637939", "#5254a3", "#ad494a", "#7b4173", "#8ca252"];
const DARK = ["#4aa3df", "#f0b840", "#2fc39a", "#e29bc4", "#7cc8f2", "#f08040", "#b8964f", "#94ad5a", "#8889d6", "#d87b7c", "#b478aa", "#b5cf6b"];

export const N_COLOURS = LIGHT.length;

/** What a name is without the numbers that make it unique: hcom_allReduce__483_1_1 is one of many, but MatMulV2 is not MatMulV3. The report
 *  (view_report.c) has the same rule. @param {string} name */
export function kind_of(name) {
    return name.replace(/(?<![A-Za-z\d])\d+/g, "").replace(/[_#]+/g, "").replace(/[A-Z]/g, (c) => c.toLowerCase());
}

/** @param {string} text */
function hash(text) {
    let h = 2166136261;
    for (const byte of new TextEncoder().encode(text)) h = Math.imul(h ^ byte, 16777619);
    return h >>> 0;
}

export function is_dark() {
    return document.documentElement.dataset.theme === "dark";
}

/** By name: a frame asks for thousands of them. @type {Map<string, number>} */
const known = new Map();

/** @param {string} name */
export function colour_index(name) {
    let index = known.get(name);
    if (index === undefined) known.set(name, (index = hash(kind_of(name)) % LIGHT.length));
    return index;
}

/** @param {number} index */
export function colour(index) {
    return (is_dark() ? DARK : LIGHT)[index];
}

/** "#17191c" as a pixel: 0xAABBGGRR. @param {string} text */
export function bits_of(text) {
    const v = parseInt(text.slice(1), 16);
    return ((255 << 24) | ((v & 255) << 16) | (v & 0xff00) | (v >> 16)) >>> 0;
}
const LIGHT_BITS = Uint32Array.from(LIGHT, bits_of), DARK_BITS = Uint32Array.from(DARK, bits_of);

/** All of them for a pixel buffer. */
export function colours_bits() {
    return is_dark() ? DARK_BITS : LIGHT_BITS;
}

/** Black or white, whichever is easier to read on a colour: by the contrast of WCAG. @param {string} text */
function ink_on(text) {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}
const LIGHT_INK = LIGHT.map(ink_on), DARK_INK = DARK.map(ink_on);

/** The colour of a text on one of them. @param {number} index */
export function ink(index) {
    return (is_dark() ? DARK_INK : LIGHT_INK)[index];
}
