// SPDX-License-Identifier: Apache-2.0
// Keyboard and mouse of a timeline.
// @ts-check
import { time_of } from "./axis.js";
import { last_before } from "./block_cache.js";
import { AXIS_HEIGHT, NAME_PX } from "./layout.js";
import { width_of } from "./fit.js";
import { save_picture } from "./picture.js";
import { duration, grouped, moment, word } from "./text.js";

/** @typedef {import("./timeline.js").Timeline} Timeline */
/** @typedef {{x: number, y: number, is_pan: boolean, t0: number, t1: number, has_moved: boolean}} Drag */

const TIP_PX = 14; // from the mouse

/** The rows between two heights; all visible rows if the axis was dragged. @param {Timeline} tl @param {number} a @param {number} b */
function rows_between(tl, a, b) {
    const top = Math.min(a, b), bottom = Math.max(a, b), all = tl.visible();
    if (bottom < AXIS_HEIGHT || a < AXIS_HEIGHT) return all;
    return all.filter((item) => Math.max(tl.y_of(item), tl.top_of(item)) < bottom && tl.y_of(item) + item.height > Math.max(top, tl.top_of(item)));
}

/** A description of what is under the mouse. @param {Timeline} tl @param {number} x @param {number} y */
function words_at(tl, x, y) {
    const hit = tl.hit(x, y);
    if (!hit) return "";
    if (x < tl.left) return width_of(hit.item.name.slice(0, 300), NAME_PX) > tl.room_of(hit.item) ? hit.item.name : ""; // what of it cannot be seen
    if (hit.item.kind === "counter") {
        const values = tl.cache.counters.get(hit.item.id)?.values, i = values ? last_before(values.t, tl.t_of(x)) : -1;
        if (!values || i < 0) return "";
        const [low, high] = [values.min[i], values.max[i]].map(grouped);
        return hit.item.name + (hit.item.series ? " " + hit.item.series : "") + ": " + (low === high ? high : low + " – " + high);
    }
    if (!hit.blocks || hit.at < 0) return "";
    const b = hit.blocks, i = hit.at, name = tl.names.get(b.name[i], () => {});
    if (hit.level === hit.item.instants) return b.n[i] > 1 ? word("instants", { n: grouped(b.n[i]) }) : name;
    return b.n[i] > 1 ? word("merged", { n: grouped(b.n[i]), busy: Math.round(b.busy[i] * 100) + " %" }) : name + ", " + duration(b.dur[i]);
}

/** Shows the line at the mouse, its time on the axis, and the description. @param {Timeline} tl @param {{x: number, y: number}|null} at */
function point_at(tl, at) {
    const [line, now, tip] = [".cursor", ".now", ".tip"].map((name) => /** @type {HTMLElement} */ (tl.frame.querySelector(name)));
    const is_here = at !== null && at.x < tl.width, is_moment = is_here && at.x >= tl.left;
    line.hidden = now.hidden = !is_moment;
    tip.hidden = true;
    if (!is_here) return;
    if (is_moment) {
        const t = tl.t_of(at.x), step = tl.ns_per_px(), marks = tl.marks_shown();
        line.style.left = at.x + "px";
        line.style.height = tl.view_height + "px";
        now.textContent = tl.is_absolute ? time_of(tl.rows.base_ns, t, step) : moment(t, step, marks.step);
        now.style.left = Math.min(at.x + 3, tl.width - now.offsetWidth) + "px";
    }
    const text = words_at(tl, at.x, at.y).slice(0, 300);
    tl.report.says(text);
    if (!text) return;
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = Math.max(is_moment ? tl.left : 0, Math.min(at.x + TIP_PX, tl.width - tip.offsetWidth)) + "px";
    tip.style.top = (at.y + TIP_PX + tip.offsetHeight < tl.view_height ? at.y + TIP_PX : at.y - TIP_PX - tip.offsetHeight) + "px";
}

/** @param {Timeline} tl @param {number} x @param {number} y */
function click(tl, x, y) {
    const hit = tl.hit(x, y);
    if (!hit) return;
    if (x < tl.left || hit.item.kind === "process") return tl.toggle(hit.item.key, tl.folded);
    if (!hit.blocks || hit.at < 0) return tl.clear();
    const b = hit.blocks, i = hit.at;
    if (b.n[i] === 1) return void tl.select(b.slice[i]);
    const more = b.dur[i] * 0.05;
    tl.show(b.begin[i] - more, b.begin[i] + b.dur[i] + more);
}

/** Folds or pins the row of the selection, also one that is hidden below a folded one. @param {Timeline} tl @param {Set<string>} set @param {boolean} is_process */
function toggle_selected(tl, set, is_process) {
    const of = tl.selected && tl.rows_of.get(tl.selected.level);
    if (!of) return;
    const hides = set === tl.folded ? [of.rank, of.process].find((key) => tl.folded.has(key)) : undefined;
    tl.toggle(hides ?? (is_process ? of.process : of.track), set);
}

/** @param {Timeline} tl @param {KeyboardEvent} e @returns {boolean} whether it is one of ours */
export function handle_key(tl, e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return false;
    const range = tl.area ?? (tl.selected && { t0: tl.selected.begin, t1: tl.selected.begin + tl.selected.dur });
    switch (e.code) {
    case "KeyW": case "KeyA": case "KeyS": case "KeyD":
        tl.held.add(e.code);
        tl.draw_soon();
        break;
    case "ArrowLeft": tl.pan(-80); break;
    case "ArrowRight": tl.pan(80); break;
    case "ArrowUp": tl.scroll.scrollTop -= 40; break;
    case "ArrowDown": tl.scroll.scrollTop += 40; break;
    case "KeyF":
        if (range) tl.show(range.t0 - (range.t1 - range.t0) * 0.1, range.t1 + (range.t1 - range.t0) * 0.1);
        else tl.show(0, tl.rows.end);
        break;
    case "KeyM":
        tl.marks = range ? [...(e.shiftKey ? tl.marks : []), { t0: range.t0, t1: range.t1 }] : [];
        tl.report.moved();
        tl.draw_soon();
        break;
    case "KeyR": void tl.select_area(range?.t0 ?? tl.t0, range?.t1 ?? tl.t1, tl.visible().map((item) => item.key)); break;
    case "KeyT": tl.show_clock(!tl.is_absolute); break;
    case "Comma": case "Period": void tl.neighbour(e.code === "Period" ? 1 : -1); break;
    case "BracketLeft": case "BracketRight": {
        const flows = tl.flows.filter((f) => f.is_source === (e.code === "BracketLeft"));
        const flow = flows.find((f) => f.rank) ?? flows[0]; // the rank that a collective waits for, rather than its launch
        if (flow) void tl.select(flow.slice, true);
        break;
    }
    case "KeyP": toggle_selected(tl, tl.pinned, false); break;
    case "Space": toggle_selected(tl, tl.folded, e.shiftKey); break;
    case "KeyI": save_picture(tl, e.shiftKey ? "svg" : "png"); break;
    case "Escape": tl.clear(); break;
    default: return false;
    }
    return true;
}

/** @param {Timeline} tl */
export function handle(tl) {
    const { canvas } = tl;
    let drag = /** @type {Drag|null} */ (null);
    const at = (/** @type {MouseEvent} */ e) => {
        const box = canvas.getBoundingClientRect();
        return { x: e.clientX - box.left, y: e.clientY - box.top };
    };
    const dragged = (/** @type {Drag} */ d, /** @type {number} */ x, /** @type {number} */ y) => {
        if (Math.abs(x - d.x) + Math.abs(y - d.y) > 4) d.has_moved = true;
        if (!d.has_moved) return;
        if (d.is_pan) {
            const by = ((d.x - x) / Math.max(1, tl.width - tl.left)) * (d.t1 - d.t0);
            return tl.show(d.t0 + by, d.t1 + by);
        }
        const t0 = tl.t_of(Math.max(tl.left, Math.min(x, d.x))), t1 = tl.t_of(Math.max(tl.left, x, d.x));
        tl.area = { t0, t1, keys: rows_between(tl, d.y, y).map((item) => item.key) };
        tl.draw_soon();
    };
    tl.scroll.addEventListener("scroll", () => {
        tl.report.moved();
        tl.draw_soon();
    }, { passive: true });
    canvas.addEventListener("wheel", (e) => {
        if (e.ctrlKey) tl.zoom(Math.exp(e.deltaY / 300), at(e).x);
        else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) tl.pan(e.deltaX);
        else if (e.shiftKey) tl.pan(e.deltaY);
        else return;
        e.preventDefault();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => {
        const { x, y } = at(e);
        canvas.focus();
        canvas.setPointerCapture(e.pointerId);
        drag = { x, y, is_pan: e.shiftKey || e.button === 1, t0: tl.t0, t1: tl.t1, has_moved: false };
        point_at(tl, null);
    });
    canvas.addEventListener("pointermove", (e) => {
        const { x, y } = at(e);
        tl.mouse_x = x;
        if (drag) dragged(drag, x, y);
        else point_at(tl, { x, y });
    });
    canvas.addEventListener("pointerleave", () => {
        tl.mouse_x = null;
        point_at(tl, null);
    });
    canvas.addEventListener("pointerup", (e) => {
        const { x, y } = at(e), done = drag;
        drag = null;
        if (!done) return;
        if (!done.has_moved) click(tl, x, y);
        else if (!done.is_pan && tl.area) void tl.select_area(tl.area.t0, tl.area.t1, tl.area.keys);
    });
    canvas.addEventListener("pointercancel", () => (drag = null));
    canvas.addEventListener("keyup", (e) => tl.held.delete(e.code));
    canvas.addEventListener("blur", () => tl.held.clear());
    new ResizeObserver(() => tl.resize()).observe(tl.scroll);
}
