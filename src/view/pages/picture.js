// SPDX-License-Identifier: Apache-2.0
// Pictures of the timeline: PNG from the canvas, SVG by drawing the same into a list of elements.
// @ts-check

const ESCAPES = /** @type {Record<string, string>} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" });

/** A text in XML; characters that it cannot have become U+FFFD. @param {string} text */
function escaped(text) {
    return text.replace(/[&<>"]/g, (c) => ESCAPES[c]).replace(/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}

/** @param {number} v */
const short = (v) => String(Math.round(v * 100) / 100);

/** The part of a canvas context that the timeline uses; it produces elements of SVG. */
export class SvgContext {
    constructor() {
        this.fillStyle = this.strokeStyle = "#000000";
        this.lineWidth = this.globalAlpha = 1;
        this.font = "11px sans-serif";
        this.textBaseline = "middle";
        this.path = "";
        /** @type {string[]} */
        this.parts = [];
        this.n_clips = 0;
        /** @type {number[]} how many groups each save() has to close */
        this.saved = [];
    }

    setTransform() {}
    beginPath() {
        this.path = "";
    }
    /** @param {number} x @param {number} y */
    moveTo(x, y) {
        this.path += `M${short(x)} ${short(y)}`;
    }
    /** @param {number} x @param {number} y */
    lineTo(x, y) {
        this.path += `L${short(x)} ${short(y)}`;
    }
    /** @param {number[]} p */
    bezierCurveTo(...p) {
        this.path += "C" + p.map(short).join(" ");
    }
    /** @param {number} x @param {number} y @param {number} w @param {number} h */
    rect(x, y, w, h) {
        this.path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}Z`;
    }
    clip() {
        const id = "c" + this.n_clips++;
        this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
        if (this.saved.length) this.saved[this.saved.length - 1]++;
    }
    save() {
        this.saved.push(0);
    }
    restore() {
        this.parts.push("</g>".repeat(this.saved.pop() ?? 0));
    }
    alpha() {
        return this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : "";
    }
    /** @param {number} x @param {number} y @param {number} w @param {number} h */
    fillRect(x, y, w, h) {
        this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="${escaped(this.fillStyle)}"${this.alpha()}/>`);
    }
    /** @param {number} x @param {number} y @param {number} w @param {number} h */
    strokeRect(x, y, w, h) {
        this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${this.lineWidth}"/>`);
    }
    fill() {
        this.parts.push(`<path d="${this.path}Z" fill="${escaped(this.fillStyle)}"${this.alpha()}/>`);
    }
    stroke() {
        this.parts.push(`<path d="${this.path}" fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${this.lineWidth}"/>`);
    }
    /** @param {string} text @param {number} x @param {number} y */
    fillText(text, x, y) {
        this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${parseInt(this.font, 10)}" fill="${escaped(this.fillStyle)}">${escaped(text.slice(0, 300))}</text>`);
    }

    /** @param {number} width @param {number} height */
    text(width, height) {
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
            `font-family="system-ui, sans-serif" dominant-baseline="central">\n${this.parts.join("\n")}\n</svg>\n`;
    }
}

/** @param {Blob|null} blob @param {string} name */
function download(blob, name) {
    if (!blob) return;
    const link = document.createElement("a"), url = URL.createObjectURL(blob);
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** What a timeline shows now, as a file. @param {import("./timeline.js").Timeline} timeline @param {"png"|"svg"} kind */
export function save_picture(timeline, kind) {
    if (kind === "png") return timeline.canvas.toBlob((blob) => download(blob, "timeline.png"), "image/png");
    const svg = new SvgContext(), canvas = timeline.context;
    timeline.context = /** @type {any} */ (svg);
    try {
        timeline.draw();
    } finally {
        timeline.context = canvas;
    }
    download(new Blob([svg.text(timeline.width, timeline.view_height)], { type: "image/svg+xml" }), "timeline.svg");
}
