// SPDX-License-Identifier: Apache-2.0
// The flame graph: slices of some rows in a range as one tree, the outermost on top, as wide as their total time. The server makes the tree.
// @ts-check
import * as api from "./api.js";
import { colour, colour_index, ink } from "./colours.js";
import { button, element } from "./elements.js";
import { fitting } from "./fit.js";
import { duration, grouped, moment, word } from "./text.js";

const ROW = 19, LEAST_PX = 0.5, LABEL_PX = 30;
const SVG = "http://www.w3.org/2000/svg";
const ALL = "all"; // instead of levels

/**
 * @typedef {{name: string, parent: number|null, total: number, self: number, count: number, longest_slice: number}} Reply
 * @typedef {Reply & {id: number, depth: number, children: Node[], outer: Node|null, x: number, w: number, group: SVGGElement|null}} Node
 * @typedef {{place: HTMLElement, roots: Node[], total: number, zoomed: Node|null, focused: Node|null, show: (node: Node|null) => void,
 *   zoom: (node: Node|null) => void}} Graph
 */

/** @param {Reply[]} replies */
function tree_of(replies) {
    /** @type {Node[]} */
    const nodes = [];
    for (const reply of replies) {
        const outer = reply.parent === null ? null : nodes[reply.parent];
        const node = { ...reply, id: nodes.length, depth: outer ? outer.depth + 1 : 0, children: [], outer, x: 0, w: 0, group: null };
        nodes.push(node);
        outer?.children.push(node);
    }
    for (const node of nodes) node.children.sort((a, b) => b.total - a.total || a.id - b.id);
    return { nodes, roots: nodes.filter((node) => !node.outer).sort((a, b) => b.total - a.total || a.id - b.id) };
}

/** Computes the positions of a node and its descendants, in pixels. @param {Node} node @param {number} x @param {number} w @param {Node[]} out */
function spread(node, x, w, out) {
    /** @type {[Node, number, number][]} */
    const waiting = [[node, x, w]];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [one, from, wide] = next;
        one.x = from;
        one.w = wide;
        out.push(one);
        const inner = Math.max(one.total, one.children.reduce((sum, child) => sum + child.total, 0), 1);
        let at = from;
        for (const child of one.children) {
            const w_child = (wide * child.total) / inner;
            if (w_child >= LEAST_PX) waiting.push([child, at, w_child]);
            at += w_child;
        }
    }
}

/** The nodes to be drawn. @param {Graph} g @param {number} width */
function drawn_nodes(g, width) {
    /** @type {Node[]} */
    const out = [];
    if (g.zoomed) {
        for (let outer = g.zoomed.outer; outer; outer = outer.outer) {
            outer.x = 0;
            outer.w = width;
            out.push(outer);
        }
        spread(g.zoomed, 0, width, out);
        return out;
    }
    let at = 0;
    for (const root of g.roots) {
        const w = (width * root.total) / Math.max(1, g.total);
        if (w >= LEAST_PX) spread(root, at, w, out);
        at += w;
    }
    return out;
}

/** @param {Graph} g @param {Node} node */
function describe(g, node) {
    const share = ((100 * node.total) / Math.max(1, g.total)).toFixed(1);
    return word("node", { name: node.name.slice(0, 300), total: duration(node.total), share, self: duration(node.self), n: grouped(node.count) });
}

/** @param {Graph} g @param {Node} node */
function group_of(g, node) {
    const group = document.createElementNS(SVG, "g"), rect = document.createElementNS(SVG, "rect"), y = node.depth * ROW;
    /** @param {Element} to @param {Record<string, string|number>} of */
    const put = (to, of) => Object.entries(of).forEach(([key, value]) => to.setAttribute(key, String(value)));
    put(group, { tabindex: -1, role: "treeitem", "aria-level": node.depth + 1, "aria-label": describe(g, node) });
    if (g.zoomed && node.depth < g.zoomed.depth) group.setAttribute("class", "outer");
    put(rect, { x: node.x, y, width: Math.max(LEAST_PX, node.w - (node.w > 3 ? 1 : 0)), height: ROW - 1, fill: colour(colour_index(node.name)) });
    group.append(rect);
    if (node.w >= LABEL_PX) {
        const text = document.createElementNS(SVG, "text");
        put(text, { x: node.x + 3, y: y + ROW - 6, fill: ink(colour_index(node.name)) });
        text.textContent = fitting(node.name, node.w - 6);
        group.append(text);
    }
    group.addEventListener("pointerenter", () => g.show(node));
    group.addEventListener("focus", () => g.show(node));
    group.addEventListener("click", () => g.zoom(node === g.zoomed ? node.outer : node));
    node.group = group;
    return group;
}

/** @param {Graph} g @param {Node} node */
function focus(g, node) {
    if (g.focused) g.focused.group?.setAttribute("tabindex", "-1");
    g.focused = node;
    node.group?.setAttribute("tabindex", "0");
    node.group?.focus();
}

/** @param {Graph} g @param {KeyboardEvent} e */
function key(g, e) {
    const here = g.focused;
    if (!here || e.ctrlKey || e.metaKey || e.altKey) return;
    const beside = (here.outer ? here.outer.children : g.roots).filter((node) => node.group?.isConnected);
    /** @type {Record<string, Node|null|undefined>} */
    const to = {
        ArrowUp: here.outer, ArrowDown: here.children.find((node) => node.group?.isConnected),
        ArrowLeft: beside[beside.indexOf(here) - 1], ArrowRight: beside[beside.indexOf(here) + 1],
    };
    if (e.key in to) {
        const node = to[e.key];
        if (node) focus(g, node);
    } else if (e.key === "Enter") g.zoom(here);
    else if (e.key === "Escape") g.zoom(g.zoomed ? g.zoomed.outer : null);
    else return;
    e.preventDefault();
    e.stopPropagation();
}

/** @param {Graph} g */
function draw(g) {
    const svg = document.createElementNS(SVG, "svg"), nodes = drawn_nodes(g, Math.max(100, g.place.clientWidth));
    const had_focus = g.place.contains(document.activeElement);
    let depth = 0;
    for (const node of nodes) {
        svg.append(group_of(g, node));
        depth = Math.max(depth, node.depth + 1);
    }
    svg.setAttribute("height", String(depth * ROW));
    svg.setAttribute("role", "tree");
    svg.setAttribute("aria-label", word("flame"));
    g.place.replaceChildren(svg);
    const first = g.zoomed ?? (g.focused?.group?.isConnected ? g.focused : nodes[0]);
    if (!first) return;
    if (had_focus) focus(g, first);
    else {
        g.focused = first;
        first.group?.setAttribute("tabindex", "0");
    }
}

/** Which rows: one thread, those that were selected in the timeline, or all. @param {api.Rows} rows @param {string} chosen levels */
function rows_choice(rows, chosen) {
    const choice = /** @type {HTMLSelectElement} */ (element("select"));
    choice.setAttribute("aria-label", word("track"));
    let is_listed = chosen === ALL || !chosen;
    for (const process of rows.processes)
        for (const track of process.tracks.filter((one) => one.levels.length)) { // others have only instants
            const levels = track.levels.join(","), title = [process.name, track.name].map((name) => name || word("no_name")).join(" / ");
            is_listed ||= levels === chosen;
            choice.append(new Option(title.slice(0, 120), levels, false, levels === chosen));
        }
    if (!is_listed) choice.append(new Option(word("chosen_rows"), chosen, false, true));
    choice.append(new Option(word("all_rows"), ALL, false, chosen === ALL));
    return choice;
}

/**
 * @param {HTMLElement} place @param {number} input @param {URLSearchParams} state
 * @param {(key: string, value: string|number|null) => void} keep
 * @param {(t0: number, t1: number, slice?: number) => Promise<void>} look_at @param {(text: string) => void} says
 */
export async function show_flame(place, input, state, keep, look_at, says) {
    const rows = /** @type {api.Rows} */ (await api.json("rows", { input }));
    const section = element("div", "", "section flame"), bar = element("p"), about = element("p", "", "faint"), graph = element("div");
    let chosen = state.get("rows") ?? ""; // empty: the main thread
    const choice = rows_choice(rows, chosen), range = element("span", "", "faint");
    let is_asked = 0;
    /** @type {Graph} */
    const g = { place: graph, roots: [], total: 0, zoomed: null, focused: null, show: () => {}, zoom: () => {} };
    /** @type {Node|null} */
    let shown = null;
    g.show = (node) => {
        shown = node;
        says(node ? describe(g, node) : "");
    };
    g.zoom = (node) => {
        g.zoomed = node;
        keep("node", node ? node.id : null);
        draw(g);
    };
    const ask = async () => {
        const asked = ++is_asked;
        const given0 = Number(state.get("t0") ?? NaN), given1 = Number(state.get("t1") ?? NaN), is_given = given1 > given0;
        const t0 = is_given ? Math.floor(given0) : 0, t1 = is_given ? Math.ceil(given1) : rows.end + 1;
        /** @type {Record<string, string|number>} */
        const of = !chosen ? { main: 1 } : chosen === ALL ? { all: 1 } : { levels: chosen };
        const found = await api.json("flame", { input, t0, t1, ...of });
        if (asked !== is_asked) return;
        if (!chosen) choice.value = found.levels.join(",");
        const made = tree_of(found.nodes);
        g.roots = made.roots;
        g.total = found.total;
        g.zoomed = made.nodes[Number(state.get("node") ?? NaN)] ?? null;
        g.focused = null;
        range.textContent = word("range", { from: moment(t0, (t1 - t0) / 100), to: moment(t1, (t1 - t0) / 100) });
        about.textContent = word("area", { n: grouped(found.n), dur: duration(t1 - t0) }) +
            (found.left_out ? "; " + word("left_out", { n: grouped(found.left_out) }) : "");
        if (found.nodes.length) draw(g);
        else graph.replaceChildren(element("p", word("nothing"), "faint"));
    };
    choice.addEventListener("change", () => {
        chosen = choice.value;
        keep("rows", chosen);
        keep("node", null);
        void ask();
    });
    const whole = button(word("whole_range"), () => {
        for (const name of ["t0", "t1", "node"]) keep(name, null);
        void ask();
    });
    const longest = button(word("to_longest"), () => {
        const node = shown ?? g.focused;
        if (node) void look_at(0, 0, node.longest_slice);
    });
    graph.addEventListener("keydown", (e) => key(g, e));
    bar.append(choice, " ", range, " ", whole, " ", longest);
    section.append(bar, graph, about);
    place.append(section);
    await ask();
    new ResizeObserver(() => g.roots.length && Math.abs((graph.firstElementChild?.clientWidth ?? 0) - graph.clientWidth) > 1 && draw(g)).observe(graph);
}
