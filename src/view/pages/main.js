// SPDX-License-Identifier: Apache-2.0
// The frame of all pages: choice of input and page, search, language, colours. The address contains the state of the pages.
// @ts-check
import * as api from "./api.js";
import { button, element } from "./elements.js";
import { show_flame } from "./flame.js";
import { handle_key } from "./handling.js";
import { show_memory } from "./memory.js";
import { show_overview } from "./overview.js";
import { rank_bar, ranks_shown } from "./ranks.js";
import { show_roofline } from "./roofline.js";
import { show_sql, show_tables } from "./tables.js";
import { grouped, speak, word } from "./text.js";
import { Timeline } from "./timeline.js";
import { restore_timeline, save_timeline, TIMELINE_KEYS } from "./timeline_state.js";

const PAGES = ["overview", "timeline", "flame", "memory", "roofline", "tables", "sql"];
const LOOK_AGAIN_MS = 500, WATCH_MS = 2000;

/** @param {string} id */
const by_id = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The address behind "#": page=timeline&t0=1&t1=2. */
const state = new URLSearchParams(location.hash.slice(1));
/** @type {api.Input[]} */
let inputs = [];
/** @type {Timeline|null} */
let timeline = null;
/** @type {{q: string, n: number, slices: number[], at: number}} */
let found = { q: "", n: 0, slices: [], at: -1 };
let saving = 0;

/** @param {string} key @param {string|number|null} value */
function keep(key, value) {
    if (value === null || value === "") state.delete(key);
    else state.set(key, String(value));
    clearTimeout(saving);
    saving = window.setTimeout(() => history.replaceState(null, "", "#" + state.toString()), 200);
}

const input = () => Math.min(Number(state.get("input") ?? 0) || 0, Math.max(0, inputs.length - 1));

/** @param {string} text @param {HTMLElement} [action] */
function notice(text, action = undefined) {
    if (by_id("notice").firstChild?.textContent === text) return; // a button that has the focus keeps it
    by_id("notice").replaceChildren(...(text ? [element("span", text)] : []), ...(action ? [" ", action] : []));
    by_id("notice").hidden = !text;
}

/** @param {Error} e */
function failed(e) {
    notice(e instanceof api.Refused ? e.message : word("server_gone"));
}

/** @param {string} text */
function says(text) {
    by_id("status").textContent = text;
}

function theme() {
    const kept = state.get("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.documentElement.dataset.theme = kept;
    by_id("theme").textContent = word(kept === "dark" ? "light" : "dark");
    timeline?.draw_soon();
}

/** Whether an input has a page: some have no memory, or no shapes of kernels. @param {api.Input|undefined} one @param {string} page */
const has_page = (one, page) => (page !== "memory" || one?.has_memory) && (page !== "roofline" || one?.has_roofline);

/** The page that is shown: the one in the address, if the input has it. */
function page_shown() {
    const page = state.get("page") ?? "overview";
    return PAGES.includes(page) && has_page(inputs[input()], page) ? page : "overview";
}

/** The label of an input in the list: its name, or as much of its path as distinguishes it from others of the same name. @param {api.Input} one */
function label_of(one) {
    const others = inputs.filter((other) => other !== one && other.name === one.name), parts = one.path.split("/");
    for (let n = 1; others.length && n < parts.length; n++) {
        const end = "/" + parts.slice(-n).join("/");
        if (!others.some((other) => ("/" + other.path).endsWith(end))) return parts.slice(-n).join("/");
    }
    return others.length ? one.path : one.name;
}

function frame() {
    speak(state.get("lang") ?? (navigator.language.startsWith("zh") ? "zh" : "en"));
    theme();
    by_id("language").textContent = word("other_language");
    /** @type {HTMLInputElement} */ (by_id("search")).placeholder = word("search_short");
    by_id("search").title = word("search");
    by_id("search").setAttribute("aria-label", word("search"));
    const page = page_shown(), tabs = by_id("pages");
    tabs.replaceChildren(...PAGES.filter((name) => has_page(inputs[input()], name)).map((name) => {
        const tab = /** @type {HTMLButtonElement} */ (element("button", word(name)));
        tab.type = "button";
        tab.setAttribute("role", "tab");
        tab.setAttribute("aria-selected", String(name === page));
        tab.dataset.page = name;
        tab.addEventListener("click", () => go(name));
        return tab;
    }));
    const choice = /** @type {HTMLSelectElement} */ (by_id("input"));
    choice.hidden = inputs.length < 2;
    choice.replaceChildren(...inputs.map((one, i) => new Option(label_of(one), String(i), false, i === input())));
    const one = inputs[input()];
    by_id("title").replaceChildren("ascope", ...(one && choice.hidden ? [": ", element("bdi", one.name)] : [])); // a name may turn the direction of texts
    by_id("simulated").hidden = !one?.is_simulated;
    by_id("simulated").textContent = word("simulated");
    document.title = "ascope" + (one ? ": " + one.name : "") + (one?.is_simulated ? " (" + word("simulated") + ")" : "");
}

/** Adds an entry to the browser's history: "back" returns to what is shown now. */
function step_on() {
    clearTimeout(saving);
    history.replaceState(null, "", "#" + state.toString());
    history.pushState(null, "", "#" + state.toString());
}

/** @param {string} page */
function go(page) {
    step_on();
    keep("page", page);
    void show();
}

/** Goes to a range of the timeline. @param {number} t0 @param {number} t1 @param {number} [slice] @param {Record<string, string|number>} [more] */
async function look_at(t0, t1, slice = undefined, more = {}) {
    step_on();
    keep("page", "timeline");
    for (const key of ["ranks", "pins", "area", "y"]) keep(key, more[key] ?? null);
    keep("t0", Math.floor(t0));
    keep("t1", Math.ceil(t1));
    keep("slice", slice ?? null);
    await show();
}

/** Goes to what a cause is about, with a margin: selects its slice, and pins the device tracks that work meanwhile.
 *  @param {import("./job.js").Cause} cause */
async function look_at_cause(cause) {
    const { t0, t1 } = cause, edge = Math.max((t1 - t0) / 2, 1000);
    /** @type {Record<string, string|number>} */
    const more = cause.run ? { ranks: cause.run } : {};
    try {
        const found = await api.json("place", { input: input(), t0: Math.floor(t0), t1: Math.ceil(t1), name: cause.event, ...(cause.run ? { run: cause.run } : {}) });
        if (found.devices.length) more.pins = found.devices.map((/** @type {number} */ id) => "t" + id).join(",");
        await look_at(t0 - edge, t1 + edge, found.slice ?? undefined, more);
    } catch (e) {
        failed(/** @type {Error} */ (e));
    }
}

/** Goes to a moment of another input, by the clock of its machine. @param {string} path @param {bigint} begin_ns @param {number} dur */
function look_elsewhere(path, begin_ns, dur) {
    const other = inputs.findIndex((one) => one.path === path || one.path.startsWith(path + "/")); // of results a file in it
    if (other < 0) return false;
    step_on();
    for (const key of ["ranks", ...TIMELINE_KEYS]) keep(key, null);
    keep("input", other);
    keep("page", "timeline");
    keep("moment", begin_ns + "+" + dur);
    shown = "";
    void look();
    return true;
}

async function show_timeline(/** @type {HTMLElement} */ whole) {
    const all = /** @type {api.Rows} */ (await api.json("rows", { input: input() }));
    if (!whole.isConnected) return; // another page is shown by now
    all.processes.forEach((p, i) => (p.index = i));
    const order = state.get("order") ?? (inputs[input()]?.kind === "two runs" ? "process" : "rank");
    const rows = ranks_shown(all, state.get("ranks"), order), place = rank_bar(whole, all, state.get("ranks"), order, (key, value) => (keep(key, value), void show()));
    const moment = /^(\d+)[+ ](\d+)$/.exec(state.get("moment") ?? "");
    if (moment) {
        const begin = Number(BigInt(moment[1]) - BigInt(all.base_ns));
        keep("t0", begin);
        keep("t1", begin + Number(moment[2]));
        keep("moment", null);
    }
    let is_made = false; // the address is not overwritten before it was read
    const made = new Timeline(place, input(), rows, {
        moved: () => is_made && timeline === made && save_timeline(made, keep),
        says, failed,
        flame: (t0, t1, levels) => {
            step_on();
            keep("t0", Math.floor(t0));
            keep("t1", Math.ceil(t1));
            keep("rows", levels.join(","));
            keep("node", null);
            keep("page", "flame");
            void show();
        },
    });
    timeline = made;
    await restore_timeline(made, state);
    if (timeline !== made) return;
    is_made = true;
    save_timeline(made, keep);
    made.canvas.focus();
}

/** Whether a page of an input can be shown, which may still be loading. @param {api.Input} one @param {string} page */
const can_show = (one, page) => one.shows === "all" || one.shows === "first" || (one.shows === "overview" && page === "overview");

async function show() {
    const main = by_id("page"), page = page_shown(), one = inputs[input()];
    const place = element("div"); // a page that was left while it was being fetched is filled in where nobody sees it
    timeline = null;
    main.replaceChildren(place);
    frame();
    says("");
    if (!one || !can_show(one, page)) return;
    if (one.state === "ready") notice("");
    try {
        if (page === "timeline") await show_timeline(place);
        else if (page === "flame") await show_flame(place, input(), state, keep, look_at, says);
        else if (page === "memory") await show_memory(place, input(), state, keep, look_at);
        else if (page === "roofline") await show_roofline(place, input(), look_at, says, one.is_simulated);
        else if (page === "tables") await show_tables(place, input(), state, keep, look_at);
        else if (page === "sql") await show_sql(place, input(), state, keep);
        else await show_overview(place, input(), look_at, look_at_cause, look_elsewhere, state, keep, (step) => void reload(step), search_for, (table) => (keep("table", table), go("tables")));
        if (place.isConnected) main.dataset.shown = page;
    } catch (e) {
        if (place.isConnected) failed(/** @type {Error} */ (e));
    }
}

/** Loads the input again. @param {string} [step] at which two runs are aligned */
async function reload(step = undefined) {
    try {
        await api.json("reload", { input: input(), ...(step === undefined ? {} : { step }) });
        void look();
    } catch (e) {
        failed(/** @type {Error} */ (e));
    }
}

/** The estimated remaining time of loading; empty if it is too early for an estimate. @param {api.Input} one */
function left(one) {
    const s = Math.ceil(one.left_s);
    return s <= 0 ? "" : s < 100 ? word("left_s", { n: s }) : word("left_min", { n: Math.ceil(s / 60) });
}

/** Forgets state that is not valid for the whole file: numbers of slices, and the range if the user did not choose one. */
function forget_first() {
    for (const key of ["slice", "fold", "pins", "area"]) keep(key, null);
    if (timeline && timeline.t0 === timeline.rows.shown_begin && timeline.t1 === timeline.rows.shown_end) {
        keep("t0", null);
        keep("t1", null);
    }
}

/** Shows the state of the input in the notice bar: its progress, or that it failed, has changed, or is gone. @param {api.Input} one */
function say_state(one) {
    const again = () => button(word("load_again"), () => void reload());
    if (one.state === "loading" || one.state === "new") notice(word("loading", { name: one.name, percent: one.percent, stage: word(one.stage), left: left(one), shows: word("shows_" + one.shows) }));
    else if (one.state === "failed") notice(one.message, again());
    else if (one.source === "changed" && state.has("follow")) void reload();
    else if (one.source === "changed") {
        const both = element("span");
        both.append(again(), " ", button(word("follow"), () => (keep("follow", 1), void reload())));
        notice(word("changed", { name: one.name }), both);
    }
    else if (one.source === "gone") notice(word("gone", { name: one.name }));
    else if (state.has("follow")) notice(word("follows", { name: one.name }), button(word("follow_no_more"), () => (keep("follow", null), notice(""))));
}

/** Identifies the data that is shown: input, number of its load, and how much of it. */
let shown = "";
let looking = 0, is_gone = false;

/** Polls the state of the inputs: often while they are being loaded, then seldom, for changes of their files. */
async function look() {
    clearTimeout(looking);
    const mine = (looking = window.setTimeout(() => {}, 0)), had_roofline = inputs[input()]?.has_roofline;
    try {
        inputs = (await api.json("about")).inputs;
    } catch (e) {
        failed(/** @type {Error} */ (e));
        is_gone = true;
        if (mine === looking) looking = window.setTimeout(() => void look(), WATCH_MS); // a tunnel may come back
        return;
    }
    if (mine !== looking) return;
    if (is_gone) notice("");
    is_gone = false;
    const one = inputs[input()];
    if (one) {
        const load = input() + " " + one.n_loads + " " + one.shows;
        if (one.state === "new") await api.json("reload", { input: input() }).catch(failed);
        if (one.shows === "nothing") {
            shown = "";
            frame();
        } else if (shown !== load) {
            if (shown.endsWith(" first")) forget_first();
            shown = load;
            found = { q: "", n: 0, slices: [], at: -1 };
            await show();
        } else if (one.has_roofline !== had_roofline) { // of a large file it comes last
            if (state.get("page") === "roofline") await show();
            else frame();
        }
        say_state(one);
    }
    if (mine !== looking) return;
    const is_loading = inputs.some((other, i) => other.state === "loading" || (other.state === "new" && i === input()));
    looking = window.setTimeout(() => void look(), is_loading ? LOOK_AGAIN_MS : WATCH_MS);
}

/** @param {number} by */
async function search(by) {
    const q = /** @type {HTMLInputElement} */ (by_id("search")).value;
    keep("q", q);
    if (!q) {
        by_id("found").textContent = "";
        return;
    }
    try {
        if (found.q !== q) {
            const reply = await api.json("search", { input: input(), q });
            found = { q, n: reply.n, slices: reply.slices, at: by > 0 ? -1 : 0 };
        }
        if (found.slices.length) found.at = (found.at + by + found.slices.length) % found.slices.length;
        by_id("found").textContent = found.slices.length ? word("found", { at: grouped(found.at + 1), n: grouped(found.n) }) : word("nothing_found");
        if (!found.slices.length) return;
        const slice = found.slices[found.at];
        if (timeline) await timeline.select(slice, true);
        else {
            step_on();
            keep("slice", slice);
            keep("page", "timeline");
            await show();
            await /** @type {Timeline|null} */ (timeline)?.select(slice, true);
        }
    } catch (e) {
        failed(/** @type {Error} */ (e));
    }
}

function end_search() {
    /** @type {HTMLInputElement} */ (by_id("search")).value = by_id("found").textContent = "";
    found = { q: "", n: 0, slices: [], at: -1 };
    keep("q", null);
}

/** @param {string} text */
function search_for(text) {
    /** @type {HTMLInputElement} */ (by_id("search")).value = text;
    void search(1);
}

function show_keys() {
    const dialog = /** @type {HTMLDialogElement} */ (by_id("keys")), table = element("table");
    const rows = [["W S", "key_zoom"], ["A D ← →", "key_pan"], ["F", "key_fit"], ["M", "key_mark"], ["/", "key_search"], [", .", "key_neighbour"],
        ["R", "key_range"], ["[ ]", "key_flow"], ["Space", "key_fold"], ["P", "key_pin"], ["T", "key_clock"], ["I", "key_picture"], ["Enter ↑ ↓ ← →", "key_flame"], ["Esc", "key_clear"], ["", "key_mouse"]];
    for (const [keys, what] of rows) {
        const tr = element("tr");
        tr.append(element("td", keys), element("td", word(what)));
        table.append(tr);
    }
    const close = /** @type {HTMLButtonElement} */ (element("button", word("close")));
    close.type = "button";
    close.addEventListener("click", () => dialog.close());
    dialog.replaceChildren(element("h2", word("keys")), table, close);
    dialog.showModal();
}

by_id("theme").addEventListener("click", () => {
    keep("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    theme();
    void show();
});
by_id("language").addEventListener("click", () => {
    keep("lang", document.documentElement.lang === "zh" ? "en" : "zh");
    void show();
});
by_id("help").addEventListener("click", show_keys);
by_id("input").addEventListener("change", (e) => {
    step_on();
    keep("input", /** @type {HTMLSelectElement} */ (e.target).value);
    for (const key of ["ranks", "moment", "rows", "node", "allocator", "at", "step", ...TIMELINE_KEYS]) keep(key, null);
    found = { q: "", n: 0, slices: [], at: -1 };
    shown = "";
    void look();
});
by_id("search").addEventListener("keydown", (e) => {
    if (e.key === "Enter") void search(e.shiftKey ? -1 : 1);
    if (e.key === "Escape") {
        end_search();
        (timeline?.canvas ?? by_id("page")).focus();
        e.preventDefault(); // the browser's own way to empty a field would not end the search
    }
});
document.addEventListener("keydown", (e) => {
    const target = /** @type {HTMLElement} */ (e.target);
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "/") by_id("search").focus();
    else if (e.key === "?") show_keys();
    else if (e.key === "Escape" && found.q && timeline && !timeline.selected && !timeline.area) end_search();
    else if (!(timeline && (target === timeline.canvas || target === document.body || target.id === "page") && handle_key(timeline, e))) return;
    e.preventDefault();
});
document.addEventListener("keyup", (e) => timeline?.held.delete(e.code));
/** The user changed the address: back, forward, or a pasted one. */
function address_changed() {
    const now = new URLSearchParams(location.hash.slice(1));
    if (now.toString() === state.toString()) return;
    clearTimeout(saving);
    for (const key of [...state.keys()]) state.delete(key);
    for (const [key, value] of now) state.set(key, value);
    /** @type {HTMLInputElement} */ (by_id("search")).value = state.get("q") ?? "";
    shown = "";
    void look();
}
window.addEventListener("popstate", address_changed);
window.addEventListener("hashchange", address_changed);
/** @type {HTMLInputElement} */ (by_id("search")).value = state.get("q") ?? "";
frame();
void look();
