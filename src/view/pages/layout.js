// SPDX-License-Identifier: Apache-2.0
// The vertical layout of a timeline: processes with their tracks and counters; a track has its levels and, below them, its instants. Pinned
// rows come first.
// @ts-check
import { own_name } from "./ranks.js";
import { word } from "./text.js";

export const AXIS_HEIGHT = 26, NAME_PX = 12; // the latter: the font of the names of rows
export const LEVEL_HEIGHT = 18, PROCESS_HEIGHT = 22, COUNTER_HEIGHT = 40, GAP = 4;

/**
 * @typedef {{kind: "process"|"track"|"counter", key: string, name: string, y: number, height: number, is_pinned: boolean,
 *   is_folded: boolean, levels: number[], instants: number|null, series: string, id: number}} Item
 */

/** How wide the names of rows are. @param {number} width of all */
export const names_width = (width) => (width < 700 ? 160 : 220);

/** Keys of the rows that ranks have. @param {import("./api.js").Rows} rows */
export function rank_keys(rows) {
    /** @type {Map<string|null, string>} */
    const keys = new Map();
    for (const p of rows.processes) if (!keys.has(p.rank)) keys.set(p.rank, "r" + p.index);
    return keys;
}

/**
 * @param {import("./api.js").Rows} rows @param {Set<string>} folded @param {Set<string>} pinned
 * @returns {{items: Item[], height: number, pinned_height: number}}
 */
export function lay_out(rows, folded, pinned) {
    /** @type {Item[]} */
    const items = [];
    let y = 0;
    /** @param {Omit<Item, "y"|"height">} item @param {number} height */
    const put = (item, height) => {
        items.push({ ...item, y, height });
        y += height;
    };
    /** @param {import("./api.js").Process} process @param {boolean} only_pinned */
    const put_rows = (process, only_pinned) => {
        const of = only_pinned && process.rank !== null ? process.rank + ": " : "";
        for (const track of process.tracks) {
            const key = "t" + track.id, is_pinned = pinned.has(key), is_folded = folded.has(key);
            const all = track.instants === null ? track.levels : [...track.levels, track.instants];
            const levels = is_folded ? all.slice(0, 1) : all;
            if (is_pinned === only_pinned && levels.length)
                put({ kind: "track", key, name: of + (track.name || word("no_name")), is_pinned, is_folded, levels, instants: levels.includes(track.instants ?? -1) ? track.instants : null, series: "", id: track.id }, levels.length * LEVEL_HEIGHT + GAP);
        }
        for (const counter of process.counters) {
            const key = "c" + counter.id, is_pinned = pinned.has(key);
            if (is_pinned === only_pinned)
                put({ kind: "counter", key, name: of + counter.name, is_pinned, is_folded: false, levels: [], instants: null, series: counter.unit, id: counter.id }, COUNTER_HEIGHT);
        }
    };
    for (const process of rows.processes) put_rows(process, true);
    const pinned_height = y, keys = rank_keys(rows);
    let rank = /** @type {string|null} */ (null);
    for (const process of rows.processes) {
        if (!process.tracks.length && !process.counters.length) continue;
        const rank_key = keys.get(process.rank) ?? "";
        /** @param {string} key @param {string} name */
        const heading = (key, name) => put({ kind: "process", key, name, is_pinned: false, is_folded: folded.has(key), levels: [], instants: null, series: "", id: process.index }, PROCESS_HEIGHT);
        if (process.rank !== null && process.rank !== rank && !process.is_mixed) heading(rank_key, process.rank);
        rank = process.rank;
        if (rank !== null && folded.has(rank_key) && !process.is_mixed) continue;
        heading("p" + process.index, ((process.is_mixed ? process.name : own_name(process)) || word("no_name")) + (process.label ? " (" + process.label + ")" : ""));
        if (!folded.has("p" + process.index)) put_rows(process, false);
    }
    return { items, height: y, pinned_height };
}

/** The first item that ends below y. @param {Item[]} items @param {number} y */
export function item_at(items, y) {
    let low = 0, high = items.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (items[middle].y + items[middle].height <= y) low = middle + 1;
        else high = middle;
    }
    return low;
}
