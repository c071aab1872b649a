/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/report_heat.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/ascending.h"
#include "base/text/html.h"

enum { WIDTH = 1600, LABEL = 76, HEAD = 18, LEAST = 4, MOST = 18, WIDEST = 64, GAP = 4, CHARACTER = 6 };
enum { COLUMN_LABEL = 34, ROW_LABEL = 12, LEGEND = 40 }; /* room that a label needs; colours of the legend */

static void put_colour(struct out *o, double share)
{
    enum { STOPS = 5 };
    static const double stop[STOPS][3] = {
        { 0, 32, 76 }, { 64, 77, 107 }, { 124, 123, 120 }, { 187, 173, 108 }, { 255, 233, 69 }
    };
    const double at = fmin(1, fmax(0, share)) * (STOPS - 1);
    const size_t low = at < STOPS - 2 ? (size_t)at : STOPS - 2;
    long rgb[3];
    for (size_t i = 0; i < 3; i++)
        rgb[i] = lround(stop[low][i] + (stop[low + 1][i] - stop[low][i]) * (at - (double)low));
    html_put(o, "fill=\"#%02lx%02lx%02lx\"", (unsigned long)rgb[0], (unsigned long)rgb[1], (unsigned long)rgb[2]);
}

/* The scale reaches at least from 0.8 to 1.2 medians, so that small differences have similar colours. */
static bool find_scale(const struct heat *h, struct arena *mem, double *low, double *high)
{
    const size_t n = h->cells.n;
    double *value = arena_take(mem, n + 1, sizeof *value);
    if (!value)
        return false;
    for (size_t i = 0; i < n; i++)
        value[i] = h->cells.at[i].value;
    qsort(value, n, sizeof *value, compare_doubles);
    const double middle = value[n / 2];
    *low = fmin(value[0], middle * 0.8);
    *high = fmax(value[n > 0 ? n - 1 : 0], middle * 1.2);
    arena_drop(mem, value);
    return true;
}

static void put_legend(struct out *o, const struct heat *h, double low, double high)
{
    out_lit(o, "<p class=\"dim\">");
    h->shown(o, low);
    html_put(o, " <svg class=\"scale\" viewBox=\"0 0 %d 1\" width=\"160\" height=\"10\" preserveAspectRatio=\"none\">",
             LEGEND);
    for (int i = 0; i < LEGEND; i++) {
        html_put(o, "<rect x=\"%d\" width=\"1.1\" height=\"1\" ", i);
        put_colour(o, i / (double)(LEGEND - 1));
        out_lit(o, "/>");
    }
    out_lit(o, "</svg> ");
    h->shown(o, high);
    out_lit(o, "</p>\n");
}

static void put_label(struct out *o, double x, double y, const char *name, size_t width)
{
    html_put(o, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    html_fitting(o, name, strlen(name), width / CHARACTER);
    out_lit(o, "</text>\n");
}

static void put_names(struct out *o, const struct heat *h, size_t width, size_t height, const double *top)
{
    const size_t every = (COLUMN_LABEL + width - 1) / width, every_row = (ROW_LABEL + height - 1) / height;
    for (size_t i = 0; i < h->n_columns; i += every)
        put_label(o, LABEL + (double)(i * width), HEAD / 2.0, h->column[i], every * width);
    for (size_t r = 0; r < h->n_rows; r++) {
        if (r % every_row == 0)
            put_label(o, 0, top[r] + (double)height / 2, h->row[r], LABEL);
        html_put(o, "<rect class=\"panel\" x=\"%d\" y=\"%.0f\" width=\"%zu\" height=\"%zu\"/>\n", LABEL, top[r],
                 h->n_columns * width, height);
    }
}

bool report_heat(struct out *o, const struct heat *h, struct arena *mem)
{
    const size_t room = (WIDTH - LABEL - 4) / (h->n_columns ? h->n_columns : 1);
    const size_t tall = 720 / (h->n_rows ? h->n_rows : 1);
    const size_t width = room < LEAST ? LEAST : room > WIDEST ? WIDEST : room;
    const size_t height = tall < LEAST ? LEAST : tall > MOST ? MOST : tall;
    double low = 0, high = 0, *top = arena_take(mem, h->n_rows + 1, sizeof *top), y = HEAD;
    if (!top || !find_scale(h, mem, &low, &high))
        return false;
    for (size_t r = 0; r < h->n_rows; r++) {
        top[r] = y += h->has_gap && h->has_gap[r] ? GAP : 0;
        y += (double)height;
    }
    const size_t w = LABEL + width * h->n_columns + 2;
    html_put(
        o,
        "<div class=\"wide\"><svg class=\"heat\" viewBox=\"0 0 %zu %.0f\" width=\"%zu\" height=\"%.0f\" role=\"img\">\n",
        w, y + 2, w, y + 2);
    put_names(o, h, width, height, top);
    for (size_t i = 0; i < h->cells.n; i++) {
        const struct heat_cell *c = &h->cells.at[i];
        html_put(o, "<rect x=\"%zu\" y=\"%.0f\" width=\"%zu\" height=\"%zu\" ", LABEL + c->column * width, top[c->row],
                 width - (width > 6), height - (height > 6));
        put_colour(o, high > low ? (c->value - low) / (high - low) : 0.5);
        out_lit(o, "><title>");
        h->hint(o, h, c);
        out_lit(o, "</title></rect>\n");
    }
    out_lit(o, "</svg></div>\n");
    if (h->cells.n > 0)
        put_legend(o, h, low, high);
    return true;
}
