// SPDX-License-Identifier: Apache-2.0
// What to change, and what differs between two runs: the answers of `ascope advise` and `ascope compare` on the overview.
// @ts-check
import { element, link, number_table } from "./elements.js";
import { said } from "./sentences.js";
import { duration, word } from "./text.js";

const PARTS = ["step", "computing", "communication", "free"], SHOWN = 20;

/**
 * @typedef {{text: string, gain_us: number, place: {begin_ns: number, dur_ns: number, process: string, thread: string|null, event: string|null}|null}} Evidence
 * @typedef {{check: string, title: string, rank: number|null, gain_us: number, share: number, where: string|null, lost_us: number, more_us: number, more: string|null, ranks: number, found: string, change: string, evidence: Evidence[]}} Advice
 */

/**
 * @param {HTMLElement} section @param {{base_ns: string, advice: {base_ns: string, advice: Advice[], advise_checks: {check: string, state: string, needs: string}[]}}} o
 * @param {boolean} is_job @param {boolean} has_steps @param {(cause: import("./job.js").Cause) => Promise<void>} look_at
 */
export function show_advice(section, o, is_job, has_steps, look_at) {
    const shift = Number(BigInt(o.advice.base_ns) - BigInt(o.base_ns)), list = element("ol", "", "advice");
    section.append(element("h2", word("advice")));
    if (!o.advice.advice.length) section.append(element("p", word("no_advice")));
    for (const one of o.advice.advice) {
        const item = element("li"), title = word("check_" + one.check, { title: one.title });
        const percent = (one.share * 100).toFixed(1), also = one.more ? word("gain_beside", { gain: duration(one.more_us * 1000), where: said(one.more) }) : "";
        const gain = (one.where ? word("gain_there", { title, gain: duration(one.lost_us * 1000), where: said(one.where), percent })
            : word(has_steps ? "gain" : "gain_in_all", { title, gain: duration(one.gain_us * 1000), percent })) + also;
        item.append(element("strong", gain + (is_job && one.rank !== null ? " (" + word("rank_n", { rank: one.rank }) + ")" : "")));
        item.append(element("p", said(one.found)));
        for (const e of one.evidence) {
            const p = element("p"), place = e.place;
            if (place) {
                const t0 = shift + place.begin_ns, cause = { t0, t1: t0 + place.dur_ns, event: place.event ?? "", run: is_job && one.rank !== null ? "Rank " + one.rank : undefined };
                p.append(link(said(e.text), () => void look_at(cause)));
            } else p.textContent = said(e.text);
            item.append(p);
        }
        item.append(element("p", word("change", { text: word("change_" + one.check, { text: one.change }) })));
        list.append(item);
    }
    section.append(list);
    /** @type {Map<string, string[]>} several checks need the same */
    const missing = new Map();
    for (const c of o.advice.advise_checks.filter((one) => one.state === "not recorded"))
        missing.set(c.needs, [...(missing.get(c.needs) ?? []), word("check_" + c.check, { title: c.check.replaceAll("_", " ") })]);
    const unchecked = [...missing].map(([needs, checks]) => checks.join(", ") + " (" + said(needs) + ")").join("; ");
    if (missing.size) section.append(element("p", word("not_checked", { list: unchecked }), "faint"));
}

/** @param {number} us */
const more = (us) => (us >= 0 ? "+" : "−") + duration(Math.abs(us) * 1000);

/** At whose begin the runs are aligned. @param {HTMLElement} section @param {any} c @param {string|null} now @param {(step: string) => void} align */
function show_alignment(section, c, now, align) {
    const steps = c.steps.filter((/** @type {any} */ s) => s.a !== null && s.a === s.b).map((/** @type {any} */ s) => s.a);
    const choice = document.createElement("select"), label = element("label", word("aligned_at") + " ");
    if (!steps.includes(now)) choice.add(new Option("", ""));
    for (const step of steps) choice.add(new Option(step, step, false, step === now));
    choice.addEventListener("change", () => choice.value && align(choice.value));
    label.append(choice);
    if (steps.length) section.append(label);
}

/**
 * @param {HTMLElement} section @param {any} c what `ascope compare --json` has @param {string|null} aligned @param {(step: string) => void} align
 * @param {(text: string) => void} find in the timeline
 */
export function show_comparison(section, c, aligned, align, find) {
    section.append(element("h2", word("comparison", { a: c.a, b: c.b })));
    show_alignment(section, c, aligned, align);
    section.append(number_table([word("per_step"), "A", "B", "B − A", ""], PARTS.map((part) => {
        const d = c.overall[part];
        return [word(part), duration(d.a_us * 1000), duration(d.b_us * 1000), more(d.more_us), word("difference_" + d.state)];
    })));
    const changes = (c.changes ?? []).slice(0, SHOWN);
    if (!changes.length) return;
    section.append(element("h3", word("changes")));
    section.append(number_table([word("name"), "A", "B", "B − A", ""], changes.map((/** @type {any} */ r) =>
        [link(r.name + (r.detail ? " " + r.detail : ""), () => find(r.name)), duration(r.step.a_us * 1000), duration(r.step.b_us * 1000), more(r.step.more_us), word("difference_" + r.step.state)])));
}
