// SPDX-License-Identifier: Apache-2.0
// The timeline: one canvas for all rows. Draws blocks that the server made for this range and resolution, never all slices.
// @ts-check
import * as api from "./api.js";
import { BlockCache, block_at, least_for } from "./block_cache.js";
import { colour, colours_bits, colour_index, is_dark } from "./colours.js";
import { show_area, show_slice } from "./details.js";
import { button } from "./elements.js";
import { item_at, lay_out, LEVEL_HEIGHT, PROCESS_HEIGHT } from "./layout.js";
import { save_picture } from "./picture.js";
import { duration, grouped, moment, word } from "./text.js";

const INSTANT_PX = 4; // half as wide as the mark of an instant
const NAMES_WIDTH = 220, AXIS_HEIGHT = 26, LABEL_LEAST = 24;
const PIXELS_FROM = 3000; // so many rectangles are painted faster into a buffer of our own
const PAN_A_FRAME = 14, ZOOM_A_FRAME = 1.04, EDGE = 0.02;

/** @typedef {{slice: number, level: number, begin: number, dur: number, name: string}} Selected */

export class Timeline {
    /**
     * @param {HTMLElement} place @param {number} input @param {api.Rows} rows
     * @param {{moved: () => void, says: (text: string) => void, failed: (e: Error) => void,
     *   flame: (t0: number, t1: number, levels: number[]) => void}} report
     */
    constructor(place, input, rows, report) {
        this.input = input;
        this.rows = rows;
        this.report = report;
        this.names = new api.Names(input);
        this.t0 = rows.shown_begin;
        this.t1 = Math.max(rows.shown_end, rows.shown_begin + 1);
        /** @type {Set<string>} */
        this.folded = new Set();
        /** @type {Set<string>} */
        this.pinned = new Set();
        /** @type {Selected|null} */
        this.selected = null;
        /** @type {{t0: number, t1: number, levels: number[]}|null} */
        this.area = null;
        /** @type {{t0: number, t1: number}[]} */
        this.marks = [];
        /** @type {{slice: number, level: number, begin: number, rank?: string, is_source: boolean}[]} */
        this.flows = [];
        /** @type {{x: number, y: number, is_pan: boolean, t0: number, t1: number, has_moved: boolean}|null} */
        this.drag = null;
        /** @type {Set<string>} */
        this.held = new Set();
        this.speed = 0;
        this.mouse_x = NAMES_WIDTH;
        this.is_due = false;
        this.frame_ms = 0;
        /** @type {import("./layout.js").Item[]} */
        this.items = [];
        this.height = this.width = this.view_height = 0;
        this.ratio = 1;

        place.innerHTML = '<div class="timeline"><div class="pictures"></div><div class="scroll"><canvas tabindex="0" role="application"></canvas><div></div></div><div class="details"></div></div>';
        this.scroll = /** @type {HTMLElement} */ (place.querySelector(".scroll"));
        this.canvas = /** @type {HTMLCanvasElement} */ (place.querySelector("canvas"));
        this.spacer = /** @type {HTMLElement} */ (this.scroll.lastElementChild);
        this.details = /** @type {HTMLElement} */ (place.querySelector(".details"));
        const pictures = /** @type {HTMLElement} */ (place.querySelector(".pictures"));
        pictures.append(button("PNG", () => save_picture(this, "png")), button("SVG", () => save_picture(this, "svg")));
        this.canvas.setAttribute("aria-label", word("timeline"));
        this.canvas.dataset.frames = "0";
        this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
        this.cache = new BlockCache(input, () => this.draw_soon(), report.failed);
        this.arrange();
        this.listen();
    }

    arrange() {
        const { items, height } = lay_out(this.rows, this.folded, this.pinned);
        this.items = items;
        this.height = height;
        this.resize();
    }

    resize() {
        const ratio = window.devicePixelRatio || 1;
        this.width = this.scroll.clientWidth;
        this.view_height = this.scroll.clientHeight;
        this.canvas.width = Math.max(1, Math.round(this.width * ratio));
        this.canvas.height = Math.max(1, Math.round(this.view_height * ratio));
        this.canvas.style.width = this.width + "px";
        this.canvas.style.height = this.view_height + "px";
        this.spacer.style.height = Math.max(0, this.height + AXIS_HEIGHT - this.view_height) + "px";
        this.ratio = ratio;
        this.draw_soon();
    }

    draw_soon() {
        if (this.is_due) return;
        this.is_due = true;
        requestAnimationFrame(() => {
            this.is_due = false;
            if (!this.canvas.isConnected) return;
            this.move_by_keys();
            const begin = performance.now();
            this.draw();
            this.frame_ms = performance.now() - begin;
            this.canvas.dataset.frames = String(Number(this.canvas.dataset.frames) + 1);
            this.canvas.dataset.frameMs = this.frame_ms.toFixed(2);
        });
    }

    // Places and times.

    /** @param {number} t */
    x_of(t) {
        return NAMES_WIDTH + ((t - this.t0) / (this.t1 - this.t0)) * (this.width - NAMES_WIDTH);
    }
    /** @param {number} x */
    t_of(x) {
        return this.t0 + ((x - NAMES_WIDTH) / Math.max(1, this.width - NAMES_WIDTH)) * (this.t1 - this.t0);
    }
    ns_per_px() {
        return (this.t1 - this.t0) / Math.max(1, this.width - NAMES_WIDTH);
    }

    /** @param {number} t0 @param {number} t1 */
    show(t0, t1) {
        const least = 10, all = this.rows.end + 1;
        const width = Math.min(Math.max(t1 - t0, least), all * (1 + 2 * EDGE));
        const begin = Math.min(Math.max(t0, -all * EDGE), all * (1 + EDGE) - width);
        this.t0 = begin;
        this.t1 = begin + width;
        this.report.moved();
        this.draw_soon();
    }

    /** @param {number} factor @param {number} x */
    zoom(factor, x) {
        const t = this.t_of(Math.max(x, NAMES_WIDTH));
        this.show(t - (t - this.t0) * factor, t + (this.t1 - t) * factor);
    }

    /** @param {number} px */
    pan(px) {
        const by = px * this.ns_per_px();
        this.show(this.t0 + by, this.t1 + by);
    }

    // Drawing.

    visible() {
        const top = this.scroll.scrollTop, bottom = top + this.view_height - AXIS_HEIGHT;
        const out = [];
        for (let i = item_at(this.items, top); i < this.items.length && this.items[i].y < bottom; i++) out.push(this.items[i]);
        return out;
    }

    draw() {
        const c = this.context, items = this.visible();
        const style = getComputedStyle(document.documentElement);
        const of = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
        const shown = { back: of("--back"), text: of("--text"), faint: of("--faint"), line: of("--line"), panel: of("--panel"), accent: of("--accent") };
        const least = least_for(this.ns_per_px());
        const levels = items.flatMap((item) => item.levels), counters = items.filter((item) => item.kind === "counter").map((item) => item.id);
        this.cache.want(levels, counters, Math.max(this.t0, -1), this.t1, least);
        c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        c.fillStyle = shown.back;
        c.fillRect(0, 0, this.width, this.view_height);
        this.draw_rows(items, shown);
        this.draw_blocks(items);
        for (const item of items) if (item.kind === "counter") this.draw_counter(item, shown);
        this.draw_ranges(shown);
        this.draw_flows(shown);
        this.draw_axis(shown);
    }

    /** @param {import("./layout.js").Item} item */
    y_of(item) {
        return item.y - this.scroll.scrollTop + AXIS_HEIGHT;
    }

    /** @param {import("./layout.js").Item[]} items @param {Record<string, string>} shown */
    draw_rows(items, shown) {
        const c = this.context;
        c.font = "12px system-ui, sans-serif";
        c.textBaseline = "middle";
        for (const item of items) {
            const y = this.y_of(item);
            c.fillStyle = item.kind === "process" || item.is_pinned ? shown.panel : shown.back;
            c.fillRect(0, y, item.kind === "process" ? this.width : NAMES_WIDTH, item.height);
            c.fillStyle = shown.line;
            c.fillRect(0, y + item.height - 1, this.width, 1);
            c.fillStyle = item.kind === "process" ? shown.text : shown.faint;
            const fold = item.kind === "process" || item.levels.length > 1 || item.is_folded ? (item.is_folded ? "▸ " : "▾ ") : "   ";
            c.save();
            c.beginPath();
            c.rect(0, y, item.kind === "process" ? this.width : NAMES_WIDTH - 6, item.height);
            c.clip();
            c.fillText(fold + item.name, item.kind === "process" ? 8 : 16, y + Math.min(item.height, PROCESS_HEIGHT) / 2);
            c.restore();
        }
    }

    /** @param {import("./layout.js").Item[]} items */
    draw_blocks(items) {
        /** @type {{x: number, y: number, w: number, index: number, share: number, label: string}[]} */
        const rects = [];
        /** @type {{x: number, y: number, index: number}[]} */
        const marks = [];
        const scale = (this.width - NAMES_WIDTH) / (this.t1 - this.t0);
        for (const item of items)
            item.levels.forEach((level, depth) => {
                const kept = this.cache.kept.get(level);
                if (!kept) return;
                const b = kept.blocks, y = this.y_of(item) + depth * LEVEL_HEIGHT + 2;
                for (let i = 0, drawn = -1; i < b.begin.length; i++) {
                    const from = NAMES_WIDTH + (b.begin[i] - this.t0) * scale, to = from + b.dur[i] * scale;
                    if (to < NAMES_WIDTH || from > this.width) continue;
                    if (to - from < 1 && Math.floor(to) === drawn && level !== item.instants) continue; // blocks of a closer view: the pixel has one
                    drawn = Math.floor(to);
                    const x = Math.max(from, NAMES_WIDTH), w = Math.max(1, Math.min(to, this.width) - x);
                    const name = this.names.get(b.name[i], () => this.draw_soon());
                    if (level === item.instants) marks.push({ x: from, y, index: colour_index(name) });
                    else rects.push({ x, y, w: w > 3 ? w - 0.5 : w, index: colour_index(name), share: b.n[i] > 1 ? b.busy[i] : 1, label: b.n[i] > 1 ? "" : name });
                }
            });
        if (rects.length < PIXELS_FROM || !(this.context instanceof CanvasRenderingContext2D)) this.fill_rects(rects);
        else this.fill_pixels(rects);
        this.fill_marks(marks);
        const c = this.context;
        c.font = "11px system-ui, sans-serif";
        c.fillStyle = is_dark() ? "#000000" : "#ffffff";
        for (const r of rects) {
            if (r.w < LABEL_LEAST || !r.label) continue;
            const fits = Math.floor((r.w - 6) / 6);
            c.fillText(r.label.length > fits ? r.label.slice(0, Math.max(1, fits - 1)) + "…" : r.label, r.x + 3, r.y + (LEVEL_HEIGHT - 2) / 2, r.w - 4);
        }
    }

    /** Instants: a tip that points at their moment. @param {{x: number, y: number, index: number}[]} marks */
    fill_marks(marks) {
        const c = this.context;
        for (const m of marks) {
            c.fillStyle = colour(m.index);
            c.beginPath();
            c.moveTo(m.x, m.y);
            c.lineTo(m.x + INSTANT_PX, m.y + LEVEL_HEIGHT - 4);
            c.lineTo(m.x - INSTANT_PX, m.y + LEVEL_HEIGHT - 4);
            c.fill();
        }
    }

    /** @param {{x: number, y: number, w: number, index: number, share: number}[]} rects */
    fill_rects(rects) {
        const c = this.context, height = LEVEL_HEIGHT - 2;
        let last = -1;
        for (const r of [...rects].sort((a, b) => a.index - b.index)) {
            if (r.index !== last) c.fillStyle = colour((last = r.index));
            const h = Math.max(2, Math.round(height * r.share));
            c.fillRect(r.x, r.y + height - h, r.w, h);
        }
    }

    /** @param {{x: number, y: number, w: number, index: number, share: number}[]} rects */
    fill_pixels(rects) {
        const left = Math.round(NAMES_WIDTH * this.ratio), top = Math.round(AXIS_HEIGHT * this.ratio);
        const width = this.canvas.width - left, height = this.canvas.height - top;
        if (width <= 0 || height <= 0) return;
        const image = this.context.getImageData(left, top, width, height), pixel = new Uint32Array(image.data.buffer);
        const row = Math.round((LEVEL_HEIGHT - 2) * this.ratio), bits_of = colours_bits();
        for (const r of rects) {
            const bits = bits_of[r.index], tall = Math.max(2, Math.round(row * r.share));
            const x0 = Math.max(0, Math.round(r.x * this.ratio) - left), x1 = Math.min(width, x0 + Math.max(1, Math.round(r.w * this.ratio)));
            const y0 = Math.max(0, Math.round(r.y * this.ratio) - top + row - tall), y1 = Math.min(height, Math.round(r.y * this.ratio) - top + row);
            for (let y = y0; y < y1; y++) pixel.fill(bits, y * width + x0, y * width + x1);
        }
        this.context.putImageData(image, left, top);
    }

    /** @param {import("./layout.js").Item} item @param {Record<string, string>} shown */
    draw_counter(item, shown) {
        const kept = this.cache.counters.get(item.id);
        if (!kept || !kept.values.t.length) return;
        const c = this.context, { t, min, max } = kept.values, y = this.y_of(item) + 2, height = item.height - 6;
        let most = 0;
        for (let i = 0; i < t.length; i++) if (Number.isFinite(max[i])) most = Math.max(most, max[i]);
        if (most <= 0) most = 1;
        c.fillStyle = shown.accent;
        for (let i = 0; i < t.length; i++) {
            const from = Math.max(NAMES_WIDTH, this.x_of(t[i])), to = Math.min(this.width, i + 1 < t.length ? this.x_of(t[i + 1]) : this.width);
            if (to < NAMES_WIDTH || from > this.width || !Number.isFinite(max[i])) continue;
            const h = (height * Math.max(0, max[i])) / most, low = (height * Math.max(0, min[i])) / most;
            c.globalAlpha = 0.35;
            c.fillRect(from, y + height - h, Math.max(1, to - from), h);
            c.globalAlpha = 1;
            c.fillRect(from, y + height - h, Math.max(1, to - from), Math.max(1, h - low));
        }
        c.fillStyle = shown.faint;
        c.fillText(grouped(most), NAMES_WIDTH + 4, y + 8);
    }

    /** @param {Record<string, string>} shown */
    draw_ranges(shown) {
        const c = this.context;
        for (const [ranges, alpha] of /** @type {const} */ ([[this.marks, 0.12], [this.area ? [this.area] : [], 0.2]]))
            for (const range of ranges) {
                const from = Math.max(NAMES_WIDTH, this.x_of(range.t0)), to = Math.min(this.width, this.x_of(range.t1));
                if (to <= from) continue;
                c.globalAlpha = alpha;
                c.fillStyle = shown.accent;
                c.fillRect(from, AXIS_HEIGHT, to - from, this.view_height);
                c.globalAlpha = 1;
                c.fillStyle = shown.text;
                c.fillText(duration(range.t1 - range.t0), from + 4, AXIS_HEIGHT + 8);
            }
        if (!this.selected) return;
        const place = this.place_of(this.selected.level);
        if (!place) return;
        const from = Math.max(NAMES_WIDTH, this.x_of(this.selected.begin)), to = Math.min(this.width, this.x_of(this.selected.begin + this.selected.dur));
        c.strokeStyle = shown.text;
        c.lineWidth = 2;
        if (to >= NAMES_WIDTH && from <= this.width) c.strokeRect(from, place.y, Math.max(2, to - from), LEVEL_HEIGHT - 2);
    }

    /** Where a level is on the canvas. @param {number} level */
    place_of(level) {
        for (const item of this.items) {
            const depth = item.levels.indexOf(level);
            if (depth >= 0) return { item, y: this.y_of(item) + depth * LEVEL_HEIGHT + 2 };
        }
        return null;
    }

    /** @param {Record<string, string>} shown */
    draw_flows(shown) {
        if (!this.selected) return;
        const here = this.place_of(this.selected.level), c = this.context;
        if (!here) return;
        c.strokeStyle = shown.accent;
        c.lineWidth = 1.5;
        c.save();
        c.beginPath();
        c.rect(NAMES_WIDTH, AXIS_HEIGHT, this.width, this.view_height);
        c.clip();
        for (const flow of this.flows) {
            const there = this.place_of(flow.level);
            if (!there) continue;
            const [from, to] = flow.is_source ? [flow, this.selected] : [this.selected, flow];
            const a = { x: this.x_of(from.begin), y: (flow.is_source ? there : here).y + 8 };
            // Another rank that waits has begun before: the line ends where the wait does.
            const b = { x: this.x_of(flow.rank ? Math.max(from.begin, to.begin) : to.begin), y: (flow.is_source ? here : there).y + 8 };
            const bend = Math.min(80, Math.max(flow.rank ? 0 : 20, Math.abs(b.x - a.x) / 2));
            c.beginPath();
            c.moveTo(a.x, a.y);
            c.bezierCurveTo(a.x + bend, a.y, b.x - bend, b.y, b.x, b.y);
            c.stroke();
        }
        c.restore();
    }

    /** @param {Record<string, string>} shown */
    draw_axis(shown) {
        const c = this.context;
        c.fillStyle = shown.panel;
        c.fillRect(0, 0, this.width, AXIS_HEIGHT);
        c.fillStyle = shown.line;
        c.fillRect(0, AXIS_HEIGHT - 1, this.width, 1);
        c.fillRect(NAMES_WIDTH - 1, 0, 1, this.view_height);
        c.font = "11px system-ui, sans-serif";
        const rough = this.ns_per_px() * 120, power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
        for (let t = Math.ceil(this.t0 / step) * step; t <= this.t1; t += step) {
            const x = this.x_of(t);
            c.fillStyle = shown.line;
            c.fillRect(x, AXIS_HEIGHT - 7, 1, 6);
            c.fillStyle = shown.faint;
            c.fillText(moment(t, step), x + 3, 10);
        }
        c.fillStyle = shown.text;
        c.fillText(duration(this.t1 - this.t0), 8, AXIS_HEIGHT / 2);
    }

    // What the user does.

    /** What is at a place: a row, a level of it, a block on it. @param {number} x @param {number} y */
    hit(x, y) {
        const item = this.items[item_at(this.items, y - AXIS_HEIGHT + this.scroll.scrollTop)];
        if (!item || y < AXIS_HEIGHT) return null;
        const depth = Math.floor((y - this.y_of(item) - 2) / LEVEL_HEIGHT), level = item.levels[depth];
        const blocks = level === undefined ? undefined : this.cache.kept.get(level)?.blocks;
        const at = blocks && x >= NAMES_WIDTH ? block_at(blocks, this.t_of(x), (level === item.instants ? INSTANT_PX : 3) * this.ns_per_px()) : -1;
        return { item, level, blocks, at };
    }

    /** @param {number} slice @param {boolean} [brings] into view */
    async select(slice, brings = false) {
        try {
            const s = await api.json("slice", { input: this.input, slice });
            this.selected = { slice, level: s.level, begin: s.begin, dur: s.dur, name: s.name };
            this.flows = s.flows;
            this.area = null;
            if (brings) this.bring(s.begin, s.dur, s.level);
            show_slice(this.details, s, this.rows.base_ns, (other) => void this.select(other, true));
            this.report.says(word("selected", { name: s.name, dur: duration(s.dur) }));
            this.report.moved();
            this.resize();
        } catch (e) {
            this.report.failed(/** @type {Error} */ (e));
        }
    }

    /** @param {number} begin @param {number} dur @param {number} level */
    bring(begin, dur, level) {
        const width = this.t1 - this.t0;
        if (begin < this.t0 || begin + dur > this.t1 || (dur > 0 && dur < width / 1000)) {
            const wanted = dur === 0 ? width : Math.min(Math.max(dur * 8, 100), Math.max(width, dur * 2));
            this.show(begin + dur / 2 - wanted / 2, begin + dur / 2 + wanted / 2);
        }
        const track = this.rows.processes.flatMap((p, i) => p.tracks.map((t) => ({ t, process: "p" + i, rank: p.rank }))).find(({ t }) => t.levels.includes(level) || t.instants === level);
        if (track && [track.process, "r" + track.rank, "t" + track.t.id].some((key) => this.folded.delete(key))) this.arrange();
        const place = this.place_of(level);
        if (place && (place.y < AXIS_HEIGHT || place.y > this.view_height - LEVEL_HEIGHT))
            this.scroll.scrollTop += place.y - this.view_height / 2;
    }

    async select_area() {
        if (!this.area) return;
        this.selected = null;
        this.flows = [];
        const { t0, t1, levels } = this.area;
        try {
            const found = await api.json("area", { input: this.input, levels: levels.join(","), t0: Math.floor(t0), t1: Math.ceil(t1) });
            show_area(this.details, found, (slice) => void this.select(slice, true), () => this.report.flame(t0, t1, levels));
            this.report.says(word("area", { n: grouped(found.n), dur: duration(t1 - t0) }));
            this.resize();
        } catch (e) {
            this.report.failed(/** @type {Error} */ (e));
        }
    }

    clear() {
        this.selected = this.area = null;
        this.flows = [];
        this.details.replaceChildren();
        this.report.says("");
        this.resize();
    }

    /** @param {string} key of a row @param {Set<string>} set */
    toggle(key, set) {
        if (!set.delete(key)) set.add(key);
        this.arrange();
    }

    move_by_keys() {
        if (!this.held.size) {
            this.speed = 0;
            return;
        }
        this.speed = Math.min(3, this.speed + 0.08);
        const by = 1 + this.speed;
        if (this.held.has("KeyA")) this.pan(-PAN_A_FRAME * by);
        if (this.held.has("KeyD")) this.pan(PAN_A_FRAME * by);
        if (this.held.has("KeyW")) this.zoom(1 / (1 + (ZOOM_A_FRAME - 1) * by), this.mouse_x);
        if (this.held.has("KeyS")) this.zoom(1 + (ZOOM_A_FRAME - 1) * by, this.mouse_x);
        this.draw_soon();
    }

    /** @param {KeyboardEvent} e */
    key(e) {
        if (e.ctrlKey || e.metaKey || e.altKey) return false;
        const range = this.area ?? (this.selected && { t0: this.selected.begin, t1: this.selected.begin + this.selected.dur });
        switch (e.code) {
        case "KeyW": case "KeyA": case "KeyS": case "KeyD":
            this.held.add(e.code);
            this.draw_soon();
            return true;
        case "ArrowLeft": this.pan(-80); return true;
        case "ArrowRight": this.pan(80); return true;
        case "KeyF":
            if (range) this.show(range.t0 - (range.t1 - range.t0) * 0.1, range.t1 + (range.t1 - range.t0) * 0.1);
            else this.show(0, this.rows.end);
            return true;
        case "KeyM":
            if (range) this.marks = e.shiftKey ? [...this.marks, range] : [range];
            else this.marks = [];
            this.draw_soon();
            return true;
        case "Comma": case "Period": void this.neighbour(e.code === "Period" ? 1 : -1); return true;
        case "BracketLeft": case "BracketRight": {
            const flows = this.flows.filter((f) => f.is_source === (e.code === "BracketLeft"));
            const flow = flows.find((f) => f.rank) ?? flows[0]; // for whom a collective waits, rather than who launched it
            if (flow) void this.select(flow.slice, true);
            return true;
        }
        case "KeyP": case "Space": {
            const place = this.selected && this.place_of(this.selected.level);
            if (place) this.toggle(place.item.key, e.code === "KeyP" ? this.pinned : this.folded);
            return true;
        }
        case "KeyI": save_picture(this, e.shiftKey ? "svg" : "png"); return true;
        case "Escape": this.clear(); return true;
        default: return false;
        }
    }

    /** The slice beside the selected one on its level; without a selection the first that is visible. @param {number} by */
    async neighbour(by) {
        try {
            if (this.selected) {
                const found = await api.json("neighbour", { input: this.input, slice: this.selected.slice, by });
                if (found.slice !== null) await this.select(found.slice, true);
                return;
            }
            for (const item of this.visible())
                for (const level of item.levels) {
                    const blocks = this.cache.kept.get(level)?.blocks;
                    const at = blocks ? blocks.begin.findIndex((t) => t >= this.t0) : -1;
                    if (blocks && at >= 0) return void this.select(blocks.slice[at]);
                }
        } catch (e) {
            this.report.failed(/** @type {Error} */ (e));
        }
    }

    listen() {
        const at = (/** @type {MouseEvent} */ e) => {
            const box = this.canvas.getBoundingClientRect();
            return { x: e.clientX - box.left, y: e.clientY - box.top };
        };
        this.scroll.addEventListener("scroll", () => this.draw_soon(), { passive: true });
        this.canvas.addEventListener("wheel", (e) => {
            if (e.ctrlKey) this.zoom(Math.exp(e.deltaY / 300), at(e).x);
            else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan(e.deltaX);
            else return;
            e.preventDefault();
        }, { passive: false });
        this.canvas.addEventListener("pointerdown", (e) => {
            const { x, y } = at(e);
            this.canvas.focus();
            this.canvas.setPointerCapture(e.pointerId);
            this.drag = { x, y, is_pan: e.shiftKey || e.button === 1, t0: this.t0, t1: this.t1, has_moved: false };
        });
        this.canvas.addEventListener("pointermove", (e) => {
            const { x, y } = at(e);
            this.mouse_x = x;
            if (this.drag) this.dragged(x, y);
            else this.hover(x, y);
        });
        this.canvas.addEventListener("pointerup", (e) => {
            const { x, y } = at(e), drag = this.drag;
            this.drag = null;
            if (!drag) return;
            if (!drag.has_moved) this.click(x, y);
            else if (!drag.is_pan) void this.select_area();
        });
        this.canvas.addEventListener("pointercancel", () => (this.drag = null));
        this.canvas.addEventListener("keyup", (e) => this.held.delete(e.code));
        this.canvas.addEventListener("blur", () => this.held.clear());
        new ResizeObserver(() => this.resize()).observe(this.scroll);
    }

    /** @param {number} x @param {number} y */
    dragged(x, y) {
        const drag = /** @type {NonNullable<Timeline["drag"]>} */ (this.drag);
        if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4) drag.has_moved = true;
        if (!drag.has_moved) return;
        if (drag.is_pan) {
            const by = ((drag.x - x) / Math.max(1, this.width - NAMES_WIDTH)) * (drag.t1 - drag.t0);
            this.show(drag.t0 + by, drag.t1 + by);
            return;
        }
        const [top, bottom] = [Math.min(y, drag.y), Math.max(y, drag.y)];
        const items = this.visible().filter((item) => this.y_of(item) < bottom && this.y_of(item) + item.height > top);
        const a = this.t_of(Math.max(NAMES_WIDTH, Math.min(x, drag.x))), b = this.t_of(Math.max(NAMES_WIDTH, x, drag.x));
        this.area = { t0: a, t1: b, levels: items.flatMap((item) => item.levels) };
        this.draw_soon();
    }

    /** @param {number} x @param {number} y */
    hover(x, y) {
        const hit = this.hit(x, y);
        if (!hit?.blocks || hit.at < 0) return;
        const b = hit.blocks, i = hit.at;
        if (hit.level === hit.item.instants)
            return this.report.says(b.n[i] > 1 ? word("instants", { n: grouped(b.n[i]) }) : this.names.get(b.name[i], () => {}));
        this.report.says(b.n[i] > 1 ? word("merged", { n: grouped(b.n[i]), busy: Math.round(b.busy[i] * 100) + " %" })
            : this.names.get(b.name[i], () => {}) + ", " + duration(b.dur[i]));
    }

    /** @param {number} x @param {number} y */
    click(x, y) {
        const hit = this.hit(x, y);
        if (!hit) return;
        if (x < NAMES_WIDTH || hit.item.kind === "process") return this.toggle(hit.item.key, this.folded);
        if (!hit.blocks || hit.at < 0) return this.clear();
        const b = hit.blocks, i = hit.at;
        if (b.n[i] === 1) return void this.select(b.slice[i]);
        const more = b.dur[i] * 0.05;
        this.show(b.begin[i] - more, b.begin[i] + b.dur[i] + more);
    }
}

