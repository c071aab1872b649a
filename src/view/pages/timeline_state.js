// SPDX-License-Identifier: Apache-2.0
// The state of a timeline in the address: range, selection, marks, folded and pinned rows, scroll position.
// @ts-check

/** @typedef {import("./timeline.js").Timeline} Timeline */
/** @typedef {{t0: number, t1: number}} Range */

/** The keys that are not valid for another input. */
export const TIMELINE_KEYS = ["t0", "t1", "slice", "fold", "pins", "marks", "area", "y"];

/** @param {Range} r */
const text_of = (r) => Math.floor(r.t0) + "-" + Math.ceil(r.t1);

/** @param {string} text @returns {Range|null} */
function range_of(text) {
    const m = /^(-?\d+)-(\d+)$/.exec(text);
    return m && Number(m[2]) > Number(m[1]) ? { t0: Number(m[1]), t1: Number(m[2]) } : null;
}

/** @param {string|null} text @returns {string[]} */
const list_of = (text) => (text ? text.split(",") : []);

/** @param {Timeline} tl @param {(key: string, value: string|number|null) => void} keep */
export function save_timeline(tl, keep) {
    keep("t0", Math.floor(tl.t0));
    keep("t1", Math.ceil(tl.t1));
    keep("slice", tl.selected ? tl.selected.slice : null);
    keep("fold", [...tl.folded].join(","));
    keep("pins", [...tl.pinned].join(","));
    keep("marks", tl.marks.map(text_of).join(","));
    keep("area", tl.area ? [text_of(tl.area), ...tl.area.keys].join(",") : null);
    keep("y", Math.round(tl.scroll.scrollTop) || null);
    keep("clock", tl.is_absolute ? 1 : null);
}

/** @param {Timeline} tl @param {URLSearchParams} state */
export async function restore_timeline(tl, state) {
    const t0 = Number(state.get("t0") ?? NaN), t1 = Number(state.get("t1") ?? NaN), slice = state.get("slice"), y = Number(state.get("y"));
    const [range, ...keys] = list_of(state.get("area")), area = range_of(range ?? "");
    tl.folded = new Set(list_of(state.get("fold")));
    tl.pinned = new Set(list_of(state.get("pins")));
    tl.marks = list_of(state.get("marks")).map(range_of).filter((r) => r !== null);
    tl.show_clock(state.has("clock"));
    tl.arrange();
    if (t1 > t0) tl.show(t0, t1);
    if (slice !== null) await tl.select(Number(slice), !(t1 > t0));
    else if (area) await tl.select_area(area.t0, area.t1, keys);
    if (y > 0) tl.scroll.scrollTop = y; // what is selected has its details now, and the rows their height
}
