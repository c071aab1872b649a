// SPDX-License-Identifier: Apache-2.0
// The axis of a timeline: times relative to its begin, or of the clock of the machine (UTC).
// @ts-check
import { moment } from "./text.js";

const EARLIEST_NS = 10n ** 17n; // 1973: a clock with smaller values counts from the start of the machine
const DAY_NS = 86400n * 10n ** 9n;

/** Whether the clock has dates, or counts from the start of a machine. @param {string} base_ns */
const has_dates = (base_ns) => BigInt(base_ns) >= EARLIEST_NS;

/** @param {string} base_ns @param {number} t ns from the base */
const since = (base_ns, t) => BigInt(base_ns) + BigInt(Math.round(t));

/** The day of a moment; nothing if the clock has no dates. @param {string} base_ns @param {number} t */
export function date_of(base_ns, t) {
    return has_dates(base_ns) ? new Date(Number(since(base_ns, t) / 10n ** 6n)).toISOString().slice(0, 10) + " UTC" : "";
}

/** The time of day, or seconds of a clock without dates, with as many digits as marks that are step_ns apart need.
 *  @param {string} base_ns @param {number} t @param {number} step_ns */
export function time_of(base_ns, t, step_ns) {
    const ns = since(base_ns, t), digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(1, step_ns)))));
    const fraction = digits ? "." + (ns % 10n ** 9n).toString().padStart(9, "0").slice(0, digits) : "", s = ns / 10n ** 9n;
    if (!has_dates(base_ns)) return s + fraction + " s";
    const of_day = Number((ns % DAY_NS) / 10n ** 9n), two = (/** @type {number} */ v) => String(v).padStart(2, "0");
    return two(Math.floor(of_day / 3600)) + ":" + two(Math.floor(of_day / 60) % 60) + ":" + two(of_day % 60) + fraction;
}

/** Moments of marks, and their texts. @param {{t0: number, t1: number, px: number, base_ns: string, is_absolute: boolean}} of */
export function marks_of(of) {
    const rough = ((of.t1 - of.t0) / Math.max(1, of.px)) * (of.is_absolute ? 150 : 120), power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough);
    // Marks of the clock are at round times of the clock, not of the timeline.
    const shift = of.is_absolute ? Number(BigInt(of.base_ns) % BigInt(Math.round(step))) : 0;
    const out = [];
    for (let t = Math.ceil((of.t0 + shift) / step) * step - shift; t <= of.t1; t += step)
        out.push({ t, text: of.is_absolute ? time_of(of.base_ns, t, step) : moment(t, step) });
    return { step, marks: out };
}
