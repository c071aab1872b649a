// SPDX-License-Identifier: Apache-2.0
// The client of the server's API. Addresses are relative to that of the page, which contains the token.
// @ts-check

/**
 * @typedef {{name: string, path: string, kind: string, is_simulated: boolean, has_memory: boolean, has_roofline: boolean, state: "loading"|"ready"|"failed"|"new",
 *   shows: "nothing"|"overview"|"first"|"all", percent: number, stage: "reading"|"drawing"|"arranging", left_s: number, n_loads: number, source: "as_loaded"|"changed"|"gone", message: string}} Input
 * @typedef {{id: number, name: string, n: number, is_device: boolean, levels: number[], instants: number|null}} Track
 * @typedef {{id: number, name: string, unit: string}} Counter
 * @typedef {{name: string, label: string, rank: string|null, index: number, is_mixed?: boolean, tracks: Track[], counters: Counter[]}} Process
 * @typedef {{base_ns: string, end: number, shown_begin: number, shown_end: number, n_slices: number, n_names: number,
 *   processes: Process[]}} Rows
 * @typedef {{level: number, begin: Float64Array, dur: Float64Array, slice: Uint32Array, n: Uint32Array, name: Uint32Array,
 *   busy: Float32Array}} Blocks
 * @typedef {{t: Float64Array, min: Float64Array, max: Float64Array}} Values
 */

export class Refused extends Error {}

/** @param {string} what @param {Record<string, string|number>} [of] @param {AbortSignal} [signal] */
async function ask(what, of = {}, signal = undefined) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(of)) query.set(key, String(value));
    const reply = await fetch("api/" + what + "?" + query.toString(), { signal });
    if (!reply.ok) throw new Refused((await reply.text()) || reply.statusText);
    return reply;
}

/** @param {string} what @param {Record<string, string|number>} [of] @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function json(what, of = {}, signal = undefined) {
    return (await ask(what, of, signal)).json();
}

/**
 * The blocks of some levels between two moments (ns from the base).
 * @param {number} input @param {number[]} levels @param {number} t0 @param {number} t1 @param {number} least
 * @param {AbortSignal} [signal] @returns {Promise<Map<number, Blocks>>}
 */
export async function slices(input, levels, t0, t1, least, signal = undefined) {
    const reply = await ask("slices", { input, levels: levels.join(","), t0: Math.floor(t0), t1: Math.ceil(t1), least }, signal);
    const bytes = await reply.arrayBuffer();
    const head = new Uint32Array(bytes, 0, 2);
    const n_levels = head[1];
    const counts = new Uint32Array(bytes, 8, n_levels * 2);
    let n = 0;
    for (let i = 0; i < n_levels; i++) n += counts[i * 2 + 1];
    let at = 8 + n_levels * 8;
    /** @template T @param {new (b: ArrayBuffer, o: number, n: number) => T} Kind @param {number} size @returns {T} */
    const column = (Kind, size) => {
        const made = new Kind(bytes, at, n);
        at += n * size;
        return made;
    };
    const begin = column(Float64Array, 8), dur = column(Float64Array, 8), slice = column(Uint32Array, 4);
    const count = column(Uint32Array, 4), name = column(Uint32Array, 4), busy = column(Float32Array, 4);
    const out = new Map();
    for (let i = 0, from = 0; i < n_levels; i++) {
        const to = from + counts[i * 2 + 1];
        out.set(counts[i * 2], {
            level: counts[i * 2], begin: begin.subarray(from, to), dur: dur.subarray(from, to), slice: slice.subarray(from, to),
            n: count.subarray(from, to), name: name.subarray(from, to), busy: busy.subarray(from, to),
        });
        from = to;
    }
    return out;
}

/**
 * The values of a counter: of each pixel the least and the largest.
 * @param {number} input @param {number} id @param {number} t0 @param {number} t1 @param {number} least
 * @param {AbortSignal} [signal] @returns {Promise<Values>}
 */
export async function counter(input, id, t0, t1, least, signal = undefined) {
    const bytes = await (await ask("counter", { input, id, t0: Math.floor(t0), t1: Math.ceil(t1), least }, signal)).arrayBuffer();
    const n = new Uint32Array(bytes, 0, 2)[1];
    return { t: new Float64Array(bytes, 8, n), min: new Float64Array(bytes, 8 + n * 8, n), max: new Float64Array(bytes, 8 + n * 16, n) };
}

/** Names by number, fetched when they are needed for the first time. */
export class Names {
    /** @param {number} input */
    constructor(input) {
        this.input = input;
        /** @type {string[]} */
        this.known = [];
        /** @type {Promise<void>|null} */
        this.asked = null;
    }
    /** @param {number} id @param {() => void} later */
    get(id, later) {
        if (id < this.known.length) return this.known[id];
        this.asked ??= json("names", { input: this.input, from: this.known.length }).then((more) => {
            for (const name of more) this.known.push(name);
            this.asked = null;
            if (more.length) later();
        }, () => void (this.asked = null)); // the server is gone, which others report; the next frame asks again
        return "";
    }
}
