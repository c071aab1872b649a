// SPDX-License-Identifier: Apache-2.0
// The same colour for the same name, wherever it is shown. Twelve of them, which also people who see fewer colours tell apart by
// their lightness, in two sets: for dark and for light pages.
// @ts-check

const LIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6d31", "#637939", "#5254a3", "#ad494a", "#7b4173", "#8ca252"];
const DARK = ["#4aa3df", "#f0b840", "#2fc39a", "#e29bc4", "#7cc8f2", "#f08040", "#b8964f", "#94ad5a", "#8889d6", "#d87b7c", "#b478aa", "#b5cf6b"];

/** What a name is without the numbers that make it unique: hcom_allReduce__483_1_1 is one of many. @param {string} name */
export function kind_of(name) {
    return name.replace(/[\d_#]+/g, "").toLowerCase();
}

/** @param {string} text */
function hash(text) {
    let h = 2166136261;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
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

/** All of them for a pixel buffer: 0xAABBGGRR. */
export function colours_bits() {
    return (is_dark() ? DARK : LIGHT).map((text) => {
        const r = parseInt(text.slice(1, 3), 16), g = parseInt(text.slice(3, 5), 16), b = parseInt(text.slice(5, 7), 16);
        return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    });
}
