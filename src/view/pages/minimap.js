// SPDX-License-Identifier: Apache-2.0
// The whole timeline at a glance, above it: where a device works, where the host begins slices, and which part is shown. A click or a
// drag moves that part.
// @ts-check
import * as api from "./api.js";
import { element } from "./elements.js";
import { duration, word } from "./text.js";

const PARTS = 600;
const SVG = "http://www.w3.org/2000/svg";

/** Columns of a height from 0 to 1, from the bottom up. @param {number[]} heights @param {string} kind */
function area(heights, kind) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", kind);
    path.setAttribute("d", "M0 1" + heights.map((h, i) => `V${(1 - h).toFixed(3)}H${i + 1}`).join("") + "V1Z");
    return path;
}

export class Minimap {
    /** @param {HTMLElement} place @param {import("./timeline.js").Timeline} timeline */
    constructor(place, timeline) {
        this.timeline = timeline;
        this.names = element("div", "", "names");
        this.map = element("div", "", "map");
        this.view = element("div", "", "view");
        this.map.append(this.view);
        this.map.title = word("minimap");
        place.append(this.names, this.map);
        let is_held = false;
        const move = (/** @type {PointerEvent} */ e) => {
            const box = this.map.getBoundingClientRect(), { t0, t1, rows } = timeline;
            const middle = ((e.clientX - box.left) / Math.max(1, box.width)) * rows.end;
            timeline.show(middle - (t1 - t0) / 2, middle + (t1 - t0) / 2);
        };
        this.map.addEventListener("pointerdown", (e) => {
            is_held = true;
            this.map.setPointerCapture(e.pointerId);
            move(e);
        });
        this.map.addEventListener("pointermove", (e) => is_held && move(e));
        for (const end of ["pointerup", "pointercancel"]) this.map.addEventListener(end, () => (is_held = false));
        void this.fill();
    }

    async fill() {
        const { input, report, rows } = this.timeline;
        try {
            const { begun, busy } = await api.json("minimap", { input, n: PARTS }), svg = document.createElementNS(SVG, "svg");
            const most = Math.max(1, ...begun), has_device = busy.some((/** @type {number} */ b) => b > 0);
            svg.setAttribute("viewBox", `0 0 ${PARTS} 1`);
            svg.setAttribute("preserveAspectRatio", "none");
            svg.setAttribute("aria-hidden", "true");
            svg.append(area(begun.map((/** @type {number} */ n) => (n ? Math.max(0.1, Math.sqrt(n / most)) : 0)), "host"));
            if (has_device) svg.append(area(busy.map((/** @type {number} */ b) => (b ? Math.max(0.1, b / 1000) : 0)), "device"));
            this.map.prepend(svg);
            this.names.append(element("span", word("in_all", { dur: duration(rows.end) })));
            for (const kind of has_device ? ["device", "host"] : ["host"]) {
                const entry = element("span", "", "entry"), sign = element("span", "■ ", kind);
                entry.append(sign, word("minimap_" + kind));
                this.names.append(entry);
            }
        } catch (e) {
            report.failed(/** @type {Error} */ (e));
        }
    }

    /** The part that is shown. */
    draw() {
        const { t0, t1, rows } = this.timeline, all = Math.max(1, rows.end), from = Math.max(0, t0 / all), to = Math.min(1, t1 / all);
        this.view.style.left = 100 * from + "%";
        this.view.style.width = `max(3px, ${100 * Math.max(0, to - from)}%)`;
    }
}
