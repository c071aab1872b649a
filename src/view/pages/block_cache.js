// SPDX-License-Identifier: Apache-2.0
// A cache of blocks by level. It fetches three times the visible range, at a resolution that is a power of two, so that panning and
// small zooms need no request. There is one request at a time; the next one is sent when its answer has arrived.
// @ts-check
import * as api from "./api.js";

/** @typedef {{t0: number, t1: number, least: number, blocks: api.Blocks}} Kept */

/** The resolution for a view: the largest power of two that is at most two pixels. @param {number} ns_per_px */
export function least_for(ns_per_px) {
    const least = 2 ** Math.floor(Math.log2(2 * ns_per_px));
    return least < 1 ? 0 : least;
}

export class BlockCache {
    /** @param {number} input @param {() => void} changed @param {(e: Error) => void} failed */
    constructor(input, changed, failed) {
        this.input = input;
        this.changed = changed;
        this.failed = failed;
        /** @type {Map<number, Kept>} */
        this.kept = new Map();
        /** @type {Map<number, {t0: number, t1: number, least: number, values: api.Values}>} */
        this.counters = new Map();
        this.is_busy = false;
        /** @type {{levels: number[], counters: number[], t0: number, t1: number, least: number}|null} */
        this.wanted = null;
    }

    /** @param {{t0: number, t1: number, least: number}|undefined} kept @param {number} t0 @param {number} t1 @param {number} least */
    static covers(kept, t0, t1, least) {
        return kept !== undefined && kept.least === least && kept.t0 <= t0 && kept.t1 >= t1;
    }

    /** Requests what is visible now, if it is not cached. @param {number[]} levels @param {number[]} counters @param {number} t0 @param {number} t1 @param {number} least */
    want(levels, counters, t0, t1, least) {
        const missing = levels.filter((level) => !BlockCache.covers(this.kept.get(level), t0, t1, least));
        const missing_counters = counters.filter((id) => !BlockCache.covers(this.counters.get(id), t0, t1, least));
        this.wanted = missing.length || missing_counters.length ? { levels: missing, counters: missing_counters, t0, t1, least } : null;
        if (this.wanted && !this.is_busy) void this.fetch();
    }

    async fetch() {
        this.is_busy = true;
        while (this.wanted) {
            const { levels, counters, t0, t1, least } = this.wanted;
            const width = t1 - t0, from = t0 - width, to = t1 + width;
            this.wanted = null;
            try {
                if (levels.length)
                    for (const [level, blocks] of await api.slices(this.input, levels, from, to, least))
                        this.kept.set(level, { t0: from, t1: to, least, blocks });
                for (const id of counters)
                    this.counters.set(id, { t0: from, t1: to, least, values: await api.counter(this.input, id, from, to, least) });
            } catch (e) {
                this.is_busy = false;
                this.failed(/** @type {Error} */ (e));
                return;
            }
            this.changed();
        }
        this.is_busy = false;
    }
}

/** The position of the last of sorted times that is not after t; -1: none. @param {Float64Array} list @param {number} t */
export function last_before(list, t) {
    let low = 0, high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle] <= t) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

/** The first block that may be visible at a time or later. @param {api.Blocks} b @param {number} t */
export const first_from = (b, t) => Math.max(0, last_before(b.begin, t));

/** The block at a time, or one at a distance of at most `near` ns; -1: none. @param {api.Blocks} b @param {number} t @param {number} near */
export function block_at(b, t, near) {
    const first = first_from(b, t);
    for (const i of [first, first + 1])
        if (i < b.begin.length && b.begin[i] - near <= t && t <= b.begin[i] + b.dur[i] + near) return i;
    return -1;
}
