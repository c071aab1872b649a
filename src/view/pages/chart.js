// SPDX-License-Identifier: Apache-2.0
// The scales around a drawing of bytes over time.
// @ts-check
import { element } from "./elements.js";
import { bytes, duration } from "./text.js";

/** @param {SVGElement} svg @param {number} t0 @param {number} t1 @param {number} most bytes at its top */
export function framed(svg, t0, t1, most) {
    const frame = element("div", "", "chart"), amounts = element("div", "", "amounts"), moments = element("div", "", "moments");
    amounts.append(...[most, most / 2, 0].map((v) => element("span", bytes(Math.round(v)))));
    moments.append(...[0, 0.25, 0.5, 0.75, 1].map((share) => element("span", duration(t0 + (t1 - t0) * share))));
    frame.append(amounts, svg, moments);
    return frame;
}
