// SPDX-License-Identifier: Apache-2.0
// The timeline: one canvas for all rows. Draws blocks that the server made for this range and resolution, never all slices.
// @ts-check
import * as api from "./api.js";
import { date_of, marks_of } from "./axis.js";
import { BlockCache, block_at, first_from, least_for } from "./block_cache.js";
import { colour, colour_index } from "./colours.js";
import { show_area, show_slice } from "./details.js";
import { button, element } from "./elements.js";
import { fitting_ends, width_of } from "./fit.js";
import { handle } from "./handling.js";
import { AXIS_HEIGHT, item_at, lay_out, LEVEL_HEIGHT, NAME_PX, names_width, PROCESS_HEIGHT, rank_keys } from "./layout.js";
import { Minimap } from "./minimap.js";
import { Painter } from "./paint.js";
import { save_picture } from "./picture.js";
import { duration, grouped, word } from "./text.js";

export const INSTANT_PX = 4; // half as wide as the mark of an instant
const FOLD_PX = 40; // what is beside the name of a row
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
        /** @type {{t0: number, t1: number, keys: string[]}|null} a range of some rows */
        this.area = null;
        /** @type {{t0: number, t1: number}[]} */
        this.marks = [];
        /** @type {{slice: number, level: number, begin: number, rank?: string, is_source: boolean}[]} */
        this.flows = [];
        /** @type {Set<string>} */
        this.held = new Set();
        this.speed = 0;
        /** @type {number|null} where the mouse is, if it is here */
        this.mouse_x = null;
        this.is_absolute = false;
        this.is_due = false;
        this.frame_ms = 0;
        /** @type {import("./layout.js").Item[]} */
        this.items = [];
        this.height = this.width = this.view_height = 0;
        /** The x coordinate at which times begin, to the right of the names of rows. */
        this.left = names_width(0);
        /** Height of the rows that do not scroll: the pinned ones, if they leave room for others. */
        this.stuck = this.pinned_height = 0;
        this.ratio = 1;
        this.painter = new Painter();
        /** @type {Map<number, {track: string, process: string, rank: string}>} keys of the rows, by level */
        this.rows_of = new Map();
        const ranks = rank_keys(rows);
        for (const p of rows.processes)
            for (const t of p.tracks)
                for (const level of t.instants === null ? t.levels : [...t.levels, t.instants])
                    this.rows_of.set(level, { track: "t" + t.id, process: "p" + p.index, rank: ranks.get(p.rank) ?? "" });

        place.innerHTML = '<div class="minimap"></div><div class="timeline"><div class="pictures"></div><div class="scroll"><canvas tabindex="0" role="application"></canvas><div></div></div>' +
            '<div class="cursor" hidden></div><output class="now" hidden></output><div class="tip" hidden></div><div class="details"></div></div>';
        this.frame = /** @type {HTMLElement} */ (place.querySelector(".timeline"));
        this.scroll = /** @type {HTMLElement} */ (place.querySelector(".scroll"));
        this.canvas = /** @type {HTMLCanvasElement} */ (place.querySelector("canvas"));
        this.spacer = /** @type {HTMLElement} */ (this.scroll.lastElementChild);
        this.details = /** @type {HTMLElement} */ (place.querySelector(".details"));
        const pictures = /** @type {HTMLElement} */ (place.querySelector(".pictures"));
        pictures.append(button("PNG", () => save_picture(this, "png")), button("SVG", () => save_picture(this, "svg")), element("span"));
        this.clock = /** @type {HTMLElement} */ (pictures.lastElementChild);
        this.canvas.setAttribute("aria-label", word("timeline"));
        this.canvas.dataset.frames = "0";
        this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
        this.minimap = new Minimap(/** @type {HTMLElement} */ (place.querySelector(".minimap")), this);
        this.cache = new BlockCache(input, () => this.draw_soon(), report.failed);
        this.show_clock(false);
        this.arrange();
        handle(this);
    }

    arrange() {
        const { items, height, pinned_height } = lay_out(this.rows, this.folded, this.pinned);
        this.items = items;
        this.height = height;
        this.pinned_height = pinned_height;
        this.resize();
    }

    /** Moments of the axis: from the begin of the timeline, or of the machine's clock. @param {boolean} is_absolute */
    show_clock(is_absolute) {
        const b = button(word(is_absolute ? "clock" : "from_begin"), () => this.show_clock(!this.is_absolute));
        b.title = word("key_clock") + " (T)";
        b.setAttribute("aria-pressed", String(is_absolute));
        this.clock.replaceChildren(b);
        this.is_absolute = is_absolute;
        this.report.moved();
        this.draw_soon();
    }

    resize() {
        const ratio = window.devicePixelRatio || 1;
        this.width = this.scroll.clientWidth;
        this.left = names_width(this.width);
        this.frame.parentElement?.style.setProperty("--names", this.left + "px");
        this.view_height = this.scroll.clientHeight;
        this.canvas.width = Math.max(1, Math.round(this.width * ratio));
        this.canvas.height = Math.max(1, Math.round(this.view_height * ratio));
        this.canvas.style.width = this.width + "px";
        this.canvas.style.height = this.view_height + "px";
        this.stuck = this.pinned_height <= ((this.view_height - AXIS_HEIGHT) * 2) / 3 ? this.pinned_height : 0;
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
        return this.left + ((t - this.t0) / (this.t1 - this.t0)) * (this.width - this.left);
    }
    /** @param {number} x */
    t_of(x) {
        return this.t0 + ((x - this.left) / Math.max(1, this.width - this.left)) * (this.t1 - this.t0);
    }
    ns_per_px() {
        return (this.t1 - this.t0) / Math.max(1, this.width - this.left);
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

    /** About a place; about the selection, or the middle, where there is none. @param {number} factor @param {number|null} x */
    zoom(factor, x) {
        const middle = this.selected ? this.selected.begin + this.selected.dur / 2 : (this.t0 + this.t1) / 2;
        const t = x !== null ? this.t_of(Math.max(x, this.left)) : middle >= this.t0 && middle <= this.t1 ? middle : (this.t0 + this.t1) / 2;
        this.show(t - (t - this.t0) * factor, t + (this.t1 - t) * factor);
    }

    /** @param {number} px */
    pan(px) {
        const by = px * this.ns_per_px();
        this.show(this.t0 + by, this.t1 + by);
    }

    /** The marks of the axis. */
    marks_shown() {
        return marks_of({ t0: this.t0, t1: this.t1, px: this.width - this.left, base_ns: this.rows.base_ns, is_absolute: this.is_absolute });
    }

    // Drawing.

    /** The visible rows: the pinned ones, and others that are not covered by them. */
    visible() {
        const top = this.scroll.scrollTop, bottom = top + this.view_height - AXIS_HEIGHT, out = [];
        let i = 0;
        for (; i < this.items.length && this.items[i].y < this.stuck; i++) out.push(this.items[i]);
        for (i = Math.max(i, item_at(this.items, top + this.stuck)); i < this.items.length && this.items[i].y < bottom; i++) out.push(this.items[i]);
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
        c.textBaseline = "middle";
        this.painter.n = 0;
        for (const item of items) this.collect(item);
        this.painter.fill(c, { left: this.left, top: AXIS_HEIGHT, width: this.width - this.left, height: this.view_height - AXIS_HEIGHT, ratio: this.ratio }, shown.back);
        this.draw_group(items.filter((item) => item.y >= this.stuck), AXIS_HEIGHT + this.stuck, this.view_height, shown);
        if (this.stuck) this.draw_group(items.filter((item) => item.y < this.stuck), AXIS_HEIGHT, AXIS_HEIGHT + this.stuck, shown);
        this.draw_ranges(shown);
        this.draw_flows(shown);
        this.draw_axis(shown);
        this.minimap.draw();
        if (!this.items.length) c.fillText(word("no_slices"), this.left + 8, AXIS_HEIGHT + PROCESS_HEIGHT / 2);
    }

    /** @param {import("./layout.js").Item} item */
    y_of(item) {
        return item.y + AXIS_HEIGHT - (item.y < this.stuck ? 0 : this.scroll.scrollTop);
    }

    /** The y coordinate above which nothing of a row is drawn. @param {import("./layout.js").Item} item */
    top_of(item) {
        return AXIS_HEIGHT + (item.y < this.stuck ? 0 : this.stuck);
    }

    /** Draws some rows without their blocks, which the painter has drawn. @param {import("./layout.js").Item[]} items @param {number} top @param {number} bottom @param {Record<string, string>} shown */
    draw_group(items, top, bottom, shown) {
        const c = this.context;
        c.save();
        c.beginPath();
        c.rect(0, top, this.width, bottom - top);
        c.clip();
        this.draw_rows(items, shown);
        for (const item of items) {
            if (item.kind === "counter") this.draw_counter(item, shown);
            if (item.instants !== null) this.draw_instants(item);
        }
        this.painter.write(c, top);
        c.restore();
    }

    /** The width for the name of a row. @param {import("./layout.js").Item} item */
    room_of(item) {
        return (item.kind === "process" ? this.width : this.left) - FOLD_PX;
    }

    /** @param {import("./layout.js").Item[]} items @param {Record<string, string>} shown */
    draw_rows(items, shown) {
        const c = this.context;
        c.font = NAME_PX + "px system-ui, sans-serif";
        for (const item of items) {
            const y = this.y_of(item), is_process = item.kind === "process";
            if (is_process || item.is_pinned) {
                c.fillStyle = shown.panel;
                c.fillRect(0, y, is_process ? this.width : this.left, item.height);
            }
            c.fillStyle = shown.line;
            c.fillRect(0, y + item.height - 1, this.width, 1);
            c.fillStyle = is_process ? shown.text : shown.faint;
            const fold = is_process || item.levels.length > 1 || item.is_folded ? (item.is_folded ? "▸ " : "▾ ") : "   ";
            const from = Math.min(Math.max(y, this.top_of(item)), y + item.height - Math.min(item.height, PROCESS_HEIGHT)); // of high rows, too, in sight
            c.fillText(fold + fitting_ends(item.name, this.room_of(item), NAME_PX), is_process ? 8 : 16, from + Math.min(item.height, PROCESS_HEIGHT) / 2);
        }
    }

    /** The blocks of a row that can be seen. @param {import("./layout.js").Item} item */
    collect(item) {
        const scale = (this.width - this.left) / (this.t1 - this.t0), row = this.y_of(item), top = this.top_of(item);
        const later = () => this.draw_soon();
        item.levels.forEach((level, depth) => {
            const b = level === item.instants ? undefined : this.cache.kept.get(level)?.blocks;
            if (!b) return;
            const y = row + depth * LEVEL_HEIGHT + 2;
            for (let i = first_from(b, this.t0), drawn = -1; i < b.begin.length && b.begin[i] <= this.t1; i++) {
                const from = this.left + (b.begin[i] - this.t0) * scale, to = from + b.dur[i] * scale;
                if (to < this.left || (to - from < 1 && Math.floor(to) === drawn)) continue; // blocks of a closer view: the pixel has one
                drawn = Math.floor(to);
                const x = Math.max(from, this.left), w = Math.max(1, Math.min(to, this.width) - x), name = this.names.get(b.name[i], later);
                this.painter.put(x, y, w > 3 ? w - 0.5 : w, colour_index(name), b.n[i] > 1 ? b.busy[i] : 1, b.n[i] > 1 ? "" : name, top);
            }
        });
    }

    /** Draws instants as triangles whose tip is at their time. @param {import("./layout.js").Item} item */
    draw_instants(item) {
        const c = this.context, depth = item.levels.indexOf(item.instants ?? -1), b = depth < 0 ? undefined : this.cache.kept.get(item.levels[depth])?.blocks;
        if (!b) return;
        const y = this.y_of(item) + depth * LEVEL_HEIGHT + 2;
        c.save();
        c.beginPath();
        c.rect(this.left, y, this.width, LEVEL_HEIGHT);
        c.clip();
        for (let i = first_from(b, this.t0 - INSTANT_PX * this.ns_per_px()); i < b.begin.length; i++) {
            const x = this.x_of(b.begin[i]);
            if (x > this.width + INSTANT_PX) break;
            c.fillStyle = colour(colour_index(this.names.get(b.name[i], () => this.draw_soon())));
            c.beginPath();
            c.moveTo(x, y);
            c.lineTo(x + INSTANT_PX, y + LEVEL_HEIGHT - 4);
            c.lineTo(x - INSTANT_PX, y + LEVEL_HEIGHT - 4);
            c.fill();
        }
        c.restore();
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
            const from = Math.max(this.left, this.x_of(t[i])), to = Math.min(this.width, i + 1 < t.length ? this.x_of(t[i + 1]) : this.width);
            if (to < this.left || from > this.width || !Number.isFinite(max[i])) continue;
            const h = (height * Math.max(0, max[i])) / most, low = (height * Math.max(0, min[i])) / most;
            c.globalAlpha = 0.35;
            c.fillRect(from, y + height - h, Math.max(1, to - from), h);
            c.globalAlpha = 1;
            c.fillRect(from, y + height - h, Math.max(1, to - from), Math.max(1, h - low));
        }
        c.fillStyle = shown.faint;
        c.font = "11px system-ui, sans-serif";
        c.fillText(grouped(most), this.left + 4, y + 8);
        c.fillText("0", this.left + 4, y + height - 5);
    }

    /** @param {Record<string, string>} shown */
    draw_ranges(shown) {
        const c = this.context, keys = new Set(this.area?.keys ?? []);
        const rows = this.visible().filter((item) => keys.has(item.key)), bottom = this.view_height;
        c.font = "11px system-ui, sans-serif";
        for (const range of this.area ? [...this.marks, this.area] : this.marks) {
            const from = Math.max(this.left, this.x_of(range.t0)), to = Math.min(this.width, this.x_of(range.t1));
            if (to <= from) continue;
            c.globalAlpha = range === this.area ? 0.2 : 0.12;
            c.fillStyle = shown.accent;
            if (range !== this.area) c.fillRect(from, AXIS_HEIGHT, to - from, bottom - AXIS_HEIGHT);
            else
                for (const item of rows) {
                    const y = Math.max(this.y_of(item), this.top_of(item));
                    c.fillRect(from, y, to - from, Math.max(0, this.y_of(item) + item.height - y));
                }
            c.globalAlpha = 1;
            const text = duration(range.t1 - range.t0);
            c.fillStyle = shown.back; // slices below it have texts, too
            c.fillRect(from + 1, AXIS_HEIGHT + 1, width_of(text) + 8, 14);
            c.fillStyle = shown.text;
            c.fillText(text, from + 4, AXIS_HEIGHT + 8);
        }
        if (!this.selected) return;
        const place = this.place_of(this.selected.level);
        if (!place || place.y < this.top_of(place.item) - LEVEL_HEIGHT) return;
        const from = Math.max(this.left, this.x_of(this.selected.begin)), to = Math.min(this.width, this.x_of(this.selected.begin + this.selected.dur));
        c.strokeStyle = shown.text;
        c.lineWidth = 2;
        if (to >= this.left && from <= this.width) c.strokeRect(from, place.y, Math.max(2, to - from), LEVEL_HEIGHT - 2);
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
        c.rect(this.left, AXIS_HEIGHT, this.width, this.view_height);
        c.clip();
        for (const flow of this.flows) {
            const there = this.place_of(flow.level);
            if (!there) continue;
            const [from, to] = flow.is_source ? [flow, this.selected] : [this.selected, flow];
            const a = { x: this.x_of(from.begin), y: (flow.is_source ? there : here).y + 8 };
            // A rank that waits has begun earlier: the line ends where the other rank begins.
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
        c.fillRect(this.left - 1, 0, 1, this.view_height);
        c.font = "11px system-ui, sans-serif";
        const { marks } = this.marks_shown();
        for (const mark of marks) {
            const x = this.x_of(mark.t);
            if (x < this.left) continue;
            c.fillStyle = shown.line;
            c.fillRect(x, AXIS_HEIGHT - 7, 1, 6);
            c.fillStyle = shown.faint;
            if (x + 3 + width_of(mark.text) <= this.width) c.fillText(mark.text, x + 3, 10);
        }
        c.fillStyle = shown.text;
        c.fillText((this.is_absolute && date_of(this.rows.base_ns, this.t0)) || duration(this.t1 - this.t0), 8, AXIS_HEIGHT / 2);
    }

    // What the user does.

    /** What is at a place: a row, a level of it, a block on it. @param {number} x @param {number} y */
    hit(x, y) {
        const item = this.items[item_at(this.items, y - AXIS_HEIGHT + (y - AXIS_HEIGHT < this.stuck ? 0 : this.scroll.scrollTop))];
        if (!item || y < AXIS_HEIGHT) return null;
        const depth = Math.floor((y - this.y_of(item) - 2) / LEVEL_HEIGHT), level = item.levels[depth];
        const blocks = level === undefined ? undefined : this.cache.kept.get(level)?.blocks;
        const at = blocks && x >= this.left ? block_at(blocks, this.t_of(x), (level === item.instants ? INSTANT_PX : 3) * this.ns_per_px()) : -1;
        return { item, level, blocks, at };
    }

    /** @param {number} slice @param {boolean} [brings] into view */
    async select(slice, brings = false) {
        try {
            const s = await api.json("slice", { input: this.input, slice });
            this.selected = { slice, level: s.level, begin: s.begin, dur: s.dur, name: s.name };
            this.flows = s.flows;
            this.area = null;
            show_slice(this.details, s, this.rows.base_ns, (other) => void this.select(other, true));
            this.resize(); // the details take room from the rows, before it is looked for there
            if (brings) this.bring(s.begin, s.dur, s.level);
            this.report.says(word("selected", { name: s.name, dur: duration(s.dur) }));
            this.report.moved();
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
        const of = this.rows_of.get(level);
        if (of && [of.process, of.rank, of.track].filter((key) => this.folded.delete(key)).length) this.arrange();
        const place = this.place_of(level);
        if (place && (place.y < this.top_of(place.item) || place.y > this.view_height - LEVEL_HEIGHT))
            this.scroll.scrollTop += place.y - this.view_height / 2;
    }

    /** A range of some rows, and its statistics. @param {number} t0 @param {number} t1 @param {string[]} keys of the rows */
    async select_area(t0, t1, keys) {
        const wanted = new Set(keys), levels = this.items.filter((item) => wanted.has(item.key)).flatMap((item) => item.levels);
        this.area = { t0, t1, keys };
        this.selected = null;
        this.flows = [];
        this.report.moved();
        try {
            const found = levels.length ? await api.json("area", { input: this.input, levels: levels.join(","), t0: Math.floor(t0), t1: Math.ceil(t1) }) : { n: 0, rows: [] };
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
        this.report.moved();
        this.resize();
    }

    /** @param {string} key of a row @param {Set<string>} set */
    toggle(key, set) {
        if (!set.delete(key)) set.add(key);
        this.arrange();
        this.report.moved();
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
}
