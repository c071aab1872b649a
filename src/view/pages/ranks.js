// SPDX-License-Identifier: Apache-2.0
// Which ranks a joint timeline shows: a bar of buttons above it, and the rows of those that are chosen.
// @ts-check
import { button, element } from "./details.js";
import { word } from "./text.js";

/** @param {import("./api.js").Rows} rows */
function all_ranks(rows) {
    return [...new Set(rows.processes.map((p) => p.rank).filter((r) => r !== null))];
}

/** "Rank 3;Rank 2": in this order; those that are not there are left out. @param {string|null} text @param {(string|null)[]} all */
function chosen(text, all) {
    return (text ?? "").split(";").filter((r) => all.includes(r));
}

/** @param {import("./api.js").Rows} rows @param {string|null} text @returns {import("./api.js").Rows} */
export function ranks_shown(rows, text) {
    const ranks = chosen(text, all_ranks(rows));
    return ranks.length ? { ...rows, processes: ranks.flatMap((r) => rows.processes.filter((p) => p.rank === r)) } : rows;
}

/**
 * The place for the timeline, below the bar where there are ranks to choose from.
 * @param {HTMLElement} place @param {import("./api.js").Rows} rows @param {string|null} text @param {(ranks: string|null) => void} choose
 */
export function rank_bar(place, rows, text, choose) {
    const all = all_ranks(rows), now = chosen(text, all);
    if (all.length < 2) return place;
    const ranked = element("div", "", "ranked"), bar = element("div", "", "bar"), inner = element("div", "", "inner");
    /** @param {string} name @param {boolean} is_on @param {() => void} does */
    const put = (name, is_on, does) => {
        const made = button(name, does);
        made.setAttribute("aria-pressed", String(is_on));
        bar.append(made);
    };
    put(word("all_ranks"), !now.length, () => choose(null));
    for (const rank of all)
        put(rank ?? "", now.includes(rank ?? ""), () => {
            const next = now.includes(rank ?? "") ? now.filter((r) => r !== rank) : [...now, rank ?? ""];
            choose(next.length ? next.join(";") : null);
        });
    ranked.append(bar, inner);
    place.append(ranked);
    return inner;
}
