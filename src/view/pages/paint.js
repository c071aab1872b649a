// SPDX-License-Identifier: Apache-2.0
// Paints the blocks of a timeline on its canvas. Few blocks are painted as rectangles. Many are painted into a pixel buffer, which is
// several times as fast without a GPU. The buffer and the columns of blocks are reused, so that a frame allocates nothing.
// @ts-check
import { bits_of, colour, colours_bits, ink } from "./colours.js";
import { fitting } from "./fit.js";
import { LEVEL_HEIGHT } from "./layout.js";

const PIXELS_FROM = 3000; // so many rectangles are painted faster as pixels
const LABEL_LEAST = 24, ROW = LEVEL_HEIGHT - 2;

/** Where blocks are painted, in CSS pixels; a pixel of the screen is 1/ratio. @typedef {{left: number, top: number, width: number, height: number, ratio: number}} Area */

export class Painter {
    constructor() {
        this.n = 0;
        /** @type {number[]} */
        this.x = [];
        /** @type {number[]} */
        this.y = [];
        /** @type {number[]} */
        this.w = [];
        /** @type {number[]} of colours */
        this.index = [];
        /** @type {number[]} of the height */
        this.share = [];
        /** @type {number[]} nothing of it is drawn above */
        this.top = [];
        /** @type {string[]} */
        this.label = [];
        /** @type {ImageData|null} */
        this.image = null;
        this.pixel = new Uint32Array(0);
    }

    /** @param {number} x @param {number} y @param {number} w @param {number} index @param {number} share @param {string} label @param {number} top */
    put(x, y, w, index, share, label, top) {
        const n = this.n++;
        this.x[n] = x;
        this.y[n] = y;
        this.w[n] = w;
        this.index[n] = index;
        this.share[n] = share;
        this.label[n] = label;
        this.top[n] = top;
    }

    /** The background, and all blocks on it. @param {CanvasRenderingContext2D} c @param {Area} area @param {string} back */
    fill(c, area, back) {
        c.fillStyle = back;
        if (this.n >= PIXELS_FROM && c instanceof CanvasRenderingContext2D && /^#\w{6}$/.test(back)) {
            c.fillRect(0, 0, area.left, area.top + area.height);
            this.fill_pixels(c, area, bits_of(back));
        } else {
            c.fillRect(0, 0, area.left + area.width, area.top + area.height);
            this.fill_rects(c);
        }
    }

    /** Colour by colour: to change it costs more than a rectangle. @param {CanvasRenderingContext2D} c */
    fill_rects(c) {
        const seen = new Set(this.index.slice(0, this.n));
        for (const index of seen) {
            c.fillStyle = colour(index);
            for (let i = 0; i < this.n; i++) {
                if (this.index[i] !== index) continue;
                const bottom = this.y[i] + ROW, y = Math.max(bottom - Math.max(2, Math.round(ROW * this.share[i])), this.top[i]);
                if (bottom > y) c.fillRect(this.x[i], y, this.w[i], bottom - y);
            }
        }
    }

    /** @param {CanvasRenderingContext2D} c @param {Area} area @param {number} back */
    fill_pixels(c, area, back) {
        const { ratio } = area, left = Math.round(area.left * ratio), above = Math.round(area.top * ratio);
        const width = Math.round((area.left + area.width) * ratio) - left, height = Math.round((area.top + area.height) * ratio) - above;
        if (width <= 0 || height <= 0) return;
        if (!this.image || this.image.width !== width || this.image.height !== height) {
            this.image = c.createImageData(width, height);
            this.pixel = new Uint32Array(this.image.data.buffer);
        }
        const pixel = this.pixel, row = Math.round(ROW * ratio), bits = colours_bits();
        pixel.fill(back);
        for (let i = 0; i < this.n; i++) {
            const of = bits[this.index[i]], bottom = Math.round(this.y[i] * ratio) - above + row;
            const x0 = Math.max(0, Math.round(this.x[i] * ratio) - left), x1 = Math.min(width, x0 + Math.max(1, Math.round(this.w[i] * ratio)));
            const y0 = Math.max(0, bottom - Math.max(2, Math.round(row * this.share[i])), Math.round(this.top[i] * ratio) - above), y1 = Math.min(height, bottom);
            for (let y = y0; y < y1; y++) {
                const at = y * width;
                if (x1 - x0 > 16) pixel.fill(of, at + x0, at + x1);
                else for (let x = x0; x < x1; x++) pixel[at + x] = of;
            }
        }
        c.putImageData(/** @type {ImageData} */ (this.image), left, above);
    }

    /** Names on those that are wide enough, of the blocks that may not be drawn above `top`. @param {CanvasRenderingContext2D} c @param {number} top */
    write(c, top) {
        c.font = "11px system-ui, sans-serif";
        let last = "";
        for (let i = 0; i < this.n; i++) {
            if (this.w[i] < LABEL_LEAST || !this.label[i] || this.top[i] !== top) continue;
            const wanted = ink(this.index[i]);
            if (wanted !== last) c.fillStyle = last = wanted;
            c.fillText(fitting(this.label[i], this.w[i] - 6), this.x[i] + 3, this.y[i] + ROW / 2, this.w[i] - 4);
        }
    }
}
