// SPDX-License-Identifier: Apache-2.0
// The overview of a job of many ranks: verdicts, the time of each rank in each step, and the bandwidth of each link.
// @ts-check
import * as api from "./api.js";
import { element, link, number_table, share_cell } from "./elements.js";
import { show_heat } from "./heat.js";
import { said as in_words } from "./sentences.js";
import { duration, is_english, word } from "./text.js";

/**
 * @typedef {{rank: number, path: string, source: string, is_drawn: boolean, clock_ahead_ns: number}} JobRank
 * @typedef {{kind: string, text: string, about: string|null, rank: number|null, other_rank: number|null, step: string|null, ratio: number, ms: number}} Verdict
 * @typedef {{collective: string, begin: number, end: number, waiting_rank: number}|null} Place
 * @typedef {{kind: "computing"|"free"|"communication", rank: number|null, name: string, group: string|null, group_name: string, ns: number, saved_ns: number}} PathPart
 * @typedef {{base_ns: string, critical_path: {step: string|null, ns: number, segments: number, ranks: number, parts: PathPart[]}|null, job_ranks: JobRank[], steps: string[], cells: [number, number, number, number, number, number|null, number|null][],
 *   groups: {name: string, ranks: number[]}[], links: {transport: string, src: number, dst: number, mb: number, ms: number}[],
 *   places: Place[], verdicts: Verdict[], has_compared: boolean, notes: {text: string, is_loss: boolean}[]}} Job
 * @typedef {(t0: number, t1: number, slice?: number, more?: Record<string, string|number>) => Promise<void>} Look
 * @typedef {(path: string, begin_ns: bigint, dur: number) => boolean} LookElsewhere
 * @typedef {{t0: number, t1: number, event: string, run?: string}} Cause a range of the timeline, and the name of a slice in it, if any
 */

const MEASURES = ["step_time", "computing", "communication", "free"];

/** Ranks by their titles in the timeline, as the address has them. @param {(number|null|undefined)[]} ranks */
const titles = (ranks) => [...new Set(ranks.filter((r) => r !== null && r !== undefined))].map((r) => "Rank " + r).join(";");

/** The rows in which two ranks run a collective: pinned, they are one below the other. @param {number} input @param {string} name @param {number[]} ranks
 *  @param {number} t0 @param {number} t1 */
async function rows_of(input, name, ranks, t0, t1) {
    /** @param {string} text */
    const quoted = (text) => "'" + text.replaceAll("'", "''") + "'";
    const sql = "SELECT id FROM slices WHERE name = " + quoted(name) + ` AND begin_ns + dur_ns > ${Math.floor(t0)} AND begin_ns < ${Math.ceil(t1)} AND (` +
        ranks.map((r) => `run = 'Rank ${Math.trunc(r)}'`).join(" OR ") + ") LIMIT 40";
    const found = await api.json("sql", { input, q: sql }), rows = await api.json("rows", { input });
    /** @type {number[]} */
    const pins = [];
    let slice = /** @type {number|undefined} */ (undefined);
    for (const [id] of found.rows) {
        const s = await api.json("slice", { input, slice: id });
        for (const process of rows.processes)
            for (const track of process.tracks)
                if (track.levels.includes(s.level) && !pins.includes(track.id)) pins.push(track.id);
        if (slice === undefined && s.process.startsWith("Rank " + ranks[0] + ":")) slice = Number(id);
    }
    return { pins, slice };
}

/** Verdicts whose texts are sentences of the judge, with their numbers. */
const JUDGED = ["slow_rank", "late_host", "slow_step", "uneven_work", "stage_imbalance"];

/** @param {HTMLElement} section @param {Job} job @param {number} shift @param {number} input @param {Look} look_at */
function show_verdicts(section, job, shift, input, look_at) {
    const drawn = new Set(job.job_ranks.filter((r) => r.is_drawn).map((r) => r.rank));
    section.append(element("h2", word("verdicts")));
    if (!job.verdicts.length) section.append(element("p", word(job.has_compared ? "no_verdicts" : "not_compared")));
    job.verdicts.forEach((v, i) => {
        const place = job.places[i], p = element("p");
        const text = JUDGED.includes(v.kind) ? v.text : word("verdict_" + v.kind, { text: v.text, rank: v.rank ?? "", other: v.other_rank ?? "", step: v.step ?? "", ms: Math.abs(v.ms).toFixed(3), percent: Math.round(v.ratio * 100) });
        const said = in_words(v.rank === null && v.kind !== "slow_step" ? v.text : text);
        const step = job.cells.find((c) => (v.rank === null || c[0] === v.rank) && (v.step === null || job.steps[c[1]] === v.step) && c[5] !== null);
        if (place && drawn.has(v.rank ?? -1) && drawn.has(place.waiting_rank)) {
            const t0 = shift + place.begin, t1 = shift + place.end, ranks = [v.rank ?? 0, place.waiting_rank], edge = (t1 - t0) / 2;
            p.append(link(said, async () => {
                const { pins, slice } = await rows_of(input, place.collective, ranks, t0, t1);
                await look_at(t0 - edge, t1 + edge, slice, { ranks: titles(ranks), pins: pins.map((id) => "t" + id).join(",") });
            }), " ", element("span", word("beside", { rank: ranks[0], other: ranks[1], name: place.collective }), "faint"));
        } else if (step && (v.rank === null || drawn.has(v.rank)))
            p.append(link(said, () => void look_at(shift + Number(step[5]), shift + Number(step[6]), undefined, { ranks: titles([v.rank, v.other_rank].filter((r) => drawn.has(r ?? -1))) })));
        else p.textContent = said;
        if (v.about) p.append(" ", element("span", v.about.split("; ").map(in_words).join(is_english() ? "; " : "；"), "faint"));
        p.title = v.text;
        section.append(p);
    });
    for (const note of job.notes) section.append(element("p", note.text, note.is_loss ? "warn" : "faint"));
}

/** Ranks in the order of the groups of one kind, and where a group begins. @param {Job} job @param {string} kind */
function in_groups(job, kind) {
    const all = job.job_ranks.map((r) => r.rank), seen = new Set(), order = /** @type {number[]} */ ([]), gaps = /** @type {Set<number>} */ (new Set());
    for (const group of job.groups.filter((g) => g.name === kind)) {
        const more = group.ranks.filter((r) => all.includes(r) && !seen.has(r));
        if (more.length && order.length) gaps.add(order.length);
        more.forEach((r) => (seen.add(r), order.push(r)));
    }
    const rest = all.filter((r) => !seen.has(r));
    if (rest.length && order.length) gaps.add(order.length);
    return { order: [...order, ...rest], gaps };
}

/** @param {HTMLElement} section @param {Job} job @param {number} shift @param {Look} look_at @param {LookElsewhere} elsewhere
 *  @param {URLSearchParams} state @param {(key: string, value: string|null) => void} keep */
function show_steps(section, job, shift, look_at, elsewhere, state, keep) {
    const kinds = [...new Set(job.groups.map((g) => g.name))], controls = element("p"), place = element("div");
    const cell = new Map(job.cells.map((c) => [c[0] + " " + c[1], c]));
    /** @param {string} key @param {string} label @param {string} usual @param {[string, string][]} choices */
    const select = (key, label, usual, choices) => {
        const made = document.createElement("select"), box = element("label", label + " ");
        choices.forEach(([value, text]) => made.add(new Option(text, value, false, (state.get(key) ?? usual) === value)));
        made.addEventListener("change", () => (keep(key, made.value), draw()));
        box.append(made);
        controls.append(box, " ");
        return made;
    };
    section.append(element("h2", word("ranks_and_steps")), controls, place);
    const measure = select("heat", word("shows"), "computing", MEASURES.map((m) => [m, word(m)]));
    const group = select("group", word("groups"), "", [["", word("no_groups")], ...kinds.map((k) => /** @type {[string, string]} */ ([k, k]))]);
    const draw = () => {
        const { order, gaps } = in_groups(job, group.value), what = MEASURES.indexOf(measure.value);
        /** @param {[number, number, number, number, number, number|null, number|null]} c */
        const us = (c) => (what <= 0 ? c[2] + c[3] + c[4] : Number(c[1 + what]));
        place.replaceChildren();
        show_heat(place, {
            name: word("ranks_and_steps"), corner: word("step"), gaps, columns: job.steps.map((s) => s || word("whole_range")), rows: order.map((r) => word("rank_n", { rank: r })),
            value: (r, c) => {
                const of = cell.get(order[r] + " " + c);
                return of ? us(of) : null;
            },
            shown: (v) => duration(v * 1000),
            text: (r, c) => {
                const of = cell.get(order[r] + " " + c), head = word("rank_n", { rank: order[r] }) + ", " + (job.steps[c] ? word("step") + " " + job.steps[c] : word("whole_range")) + ": ";
                return head + (of ? MEASURES.map((m, i) => word(m) + " " + duration((i ? Number(of[1 + i]) : of[2] + of[3] + of[4]) * 1000)).join(", ") : word("nothing"));
            },
            choose: (r, c) => {
                const of = cell.get(order[r] + " " + c), rank = job.job_ranks.find((one) => one.rank === order[r]);
                if (!of || of[5] === null || of[6] === null || !rank) return;
                if (rank.is_drawn) void look_at(shift + of[5], shift + of[6], undefined, { ranks: titles([order[r]]) });
                else elsewhere(rank.path, BigInt(job.base_ns) + BigInt(of[5] + rank.clock_ahead_ns), of[6] - of[5]);
            },
        });
    };
    draw();
}

/** @param {HTMLElement} section @param {Job} job @param {number} shift @param {Look} look_at */
function show_links(section, job, shift, look_at) {
    const kinds = [...new Set(job.links.map((l) => l.transport))];
    if (!kinds.length) return;
    const maps = element("div", "", "maps");
    section.append(element("h2", word("links")), maps);
    for (const kind of kinds) {
        const one = element("div");
        maps.append(one);
        const links = job.links.filter((l) => l.transport === kind), ranks = [...new Set(links.flatMap((l) => [l.src, l.dst]))].sort((a, b) => a - b);
        const by = new Map(links.map((l) => [l.src + " " + l.dst, l]));
        /** @param {number} r @param {number} c */
        const at = (r, c) => by.get(ranks[r] + " " + ranks[c]);
        one.append(element("h3", kind + " (GB/s)"));
        show_heat(one, {
            name: word("links") + " " + kind, corner: word("to"), gaps: new Set(), rows: ranks.map((r) => word("from_rank", { rank: r })), columns: ranks.map(String),
            value: (r, c) => {
                const l = at(r, c);
                return l && l.ms > 0 ? l.mb / l.ms : null;
            },
            shown: (v) => v.toFixed(2) + " GB/s",
            text: (r, c) => {
                const l = at(r, c);
                return ranks[r] + " → " + ranks[c] + ": " + (l && l.ms > 0 ? (l.mb / l.ms).toFixed(2) + " GB/s, " + l.mb.toFixed(1) + " MB, " + duration(l.ms * 1e6) : word("nothing"));
            },
            choose: (r, c) => {
                const first = job.cells.find((one) => one[0] === ranks[r] && one[5] !== null);
                if (at(r, c) && first) void look_at(shift + Number(first[5]), shift + Number(first[6]), undefined, { ranks: titles([ranks[r], ranks[c]]) });
            },
        });
    }
}

/** @param {HTMLElement} section @param {Job} job */
export function show_heading(section, job) {
    const n = job.job_ranks.length, drawn = job.job_ranks.filter((r) => r.is_drawn).length;
    section.append(element("h2", word("job_of", { n, steps: job.steps.filter((s) => s).length })));
    section.append(element("p", word(drawn === n ? "drawn_all" : drawn ? "drawn_ranks" : "drawn_none", { n: drawn }), "faint"));
}

const PATH_COLOURS = { computing: "computing", free: "free", communication: "communication" };

/** What a part of the critical path is. @param {PathPart} part */
function path_words(part) {
    const rank = part.rank === null ? "" : word(part.kind === "communication" ? "joins_last" : "rank_n", { rank: part.rank });
    const name = part.name && part.group ? word("name_of_group", { name: part.name, group: part.group_name || part.group }) : part.name;
    return word("path_" + part.kind) + [rank, name].filter(Boolean).map((text) => ", " + text).join("");
}

/** The critical path through all ranks, as `ascope cluster` prints it. @param {HTMLElement} section @param {Job} job */
export function show_path(section, job) {
    const path = job.critical_path;
    if (!path || path.ns <= 0) return;
    const title = word(path.step === null ? "critical_path" : "critical_path_of", { step: path.step ?? "", time: duration(path.ns) });
    section.append(element("h2", title), element("p", word("path_through", { n: path.segments, ranks: path.ranks }), "faint"));
    /** @param {string} text @param {number} ns @param {string} kind @param {string} saved */
    const row = (text, ns, kind, saved) => {
        const label = element("span", text);
        label.title = text;
        return [label, share_cell(ns / path.ns, kind), duration(ns), saved];
    };
    const rows = path.parts.map((part) => row(path_words(part), part.ns, PATH_COLOURS[part.kind], duration(part.saved_ns)));
    const rest = path.parts.reduce((sum, part) => sum - part.ns, path.ns);
    if (rest > 0) rows.push(row(word("other_parts"), rest, "line", ""));
    const table = number_table([word("part"), word("share_of_all"), word("length"), word("saved_if_0")], rows);
    table.className = "one_line";
    section.append(table);
}

/**
 * @param {HTMLElement} section @param {{base_ns: string, job: Job}} o @param {number} input @param {Look} look_at @param {LookElsewhere} elsewhere
 * @param {URLSearchParams} state @param {(key: string, value: string|null) => void} keep
 */
export function show_job(section, o, input, look_at, elsewhere, state, keep) {
    const shift = Number(BigInt(o.job.base_ns) - BigInt(o.base_ns));
    show_verdicts(section, o.job, shift, input, look_at);
    if (o.job.cells.length) show_steps(section, o.job, shift, look_at, elsewhere, state, keep);
    show_links(section, o.job, shift, look_at);
}
