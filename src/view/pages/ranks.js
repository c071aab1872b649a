// SPDX-License-Identifier: Apache-2.0
// Which ranks a joint timeline shows: a bar of buttons above it, and the rows of those that are chosen.
// @ts-check
import { button, element } from "./elements.js";
import { word } from "./text.js";

/** @param {import("./api.js").Rows} rows */
function all_ranks(rows) {
    return [...new Set(rows.processes.map((p) => p.rank).filter((r) => r !== null))];
}

/** "Rank 3;Rank 2": in this order; those that are not there are left out. @param {string|null} text @param {(string|null)[]} all */
function chosen(text, all) {
    return (text ?? "").split(";").filter((r) => all.includes(r));
}

/** What a process is called without its rank. @param {import("./api.js").Process} process */
export function own_name(process) {
    const before = (process.rank ?? "") + ": ";
    return process.rank !== null && process.name.startsWith(before) ? process.name.slice(before.length) : process.name;
}

/** The same process of all ranks together: their headings have the rank then. @param {import("./api.js").Process[]} processes */
function by_process(processes) {
    const names = [...new Set(processes.map(own_name))];
    return names.flatMap((name) => processes.filter((p) => own_name(p) === name)).map((p) => ({ ...p, is_mixed: true }));
}

/** @param {import("./api.js").Rows} rows @param {string|null} text @param {string} order "rank" or "process" @returns {import("./api.js").Rows} */
export function ranks_shown(rows, text, order) {
    const all = all_ranks(rows), ranks = chosen(text, all);
    const processes = ranks.length ? ranks.flatMap((r) => rows.processes.filter((p) => p.rank === r)) : rows.processes;
    return { ...rows, processes: all.length && order === "process" ? by_process(processes) : processes };
}

/**
 * The place for the timeline, below the bar where there are ranks to choose from.
 * @param {HTMLElement} place @param {import("./api.js").Rows} rows @param {string|null} text @param {string} order
 * @param {(key: "ranks"|"order", value: string|null) => void} choose
 */
export function rank_bar(place, rows, text, order, choose) {
    const all = all_ranks(rows), now = chosen(text, all);
    if (all.length < 2) return place;
    const ranked = element("div", "", "ranked"), bar = element("div", "", "bar"), inner = element("div", "", "inner");
    /** @param {string} name @param {boolean} is_on @param {() => void} does */
    const put = (name, is_on, does) => {
        const made = button(name, does);
        made.setAttribute("aria-pressed", String(is_on));
        bar.append(made);
    };
    put(word("by_process"), order === "process", () => choose("order", order === "process" ? "rank" : "process"));
    put(word("all_ranks"), !now.length, () => choose("ranks", null));
    for (const rank of all)
        put(rank ?? "", now.includes(rank ?? ""), () => {
            const next = now.includes(rank ?? "") ? now.filter((r) => r !== rank) : [...now, rank ?? ""];
            choose("ranks", next.length ? next.join(";") : null);
        });
    ranked.append(bar, inner);
    place.append(ranked);
    return inner;
}
