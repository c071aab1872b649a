/* SPDX-License-Identifier: Apache-2.0 */
#include "export/pages/export_pages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "base/text/html.h"

extern const char flame_graph_js[]; /* of flame_graph.js */

enum { ROW = 18, TOP = 82, BOTTOM = 30, SHADES = 5 };
static const double NARROWEST = 1.0 / 5000; /* share of the whole: a fifth of a pixel is too small to see or to click */

static const char style[] =
    ":root{--paper:#fff;--ink:#1f2430;--dim:#69707d;--line:#d9dde3;--text:#1b1d22;color-scheme:light "
    "dark;background:var(--paper)}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#16181d;--ink:#e6e8ec;--dim:#9aa1ad;--line:#343945}}\n"
    "svg{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}\n"
    "#paper{fill:var(--paper)}text{fill:var(--ink)}.dim,#status,#found{fill:var(--dim)}\n"
    "#title{font:600 17px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    ".words text,#status{font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "#graph>svg{cursor:pointer}#graph text{fill:var(--text);pointer-events:none}\n"
    "#graph rect{stroke:var(--paper);stroke-width:.6}#graph>svg:hover>rect{stroke:var(--ink);stroke-width:1.4}\n"
    "#graph .around{opacity:.45}#graph.searched>svg:not(.hit){opacity:.35}\n"
    ".hit>rect{fill:#c026d3}#graph .hit>text{fill:#fff}\n"
    "#word{box-sizing:border-box;width:100%;padding:4px 8px;font:12px system-ui,sans-serif;color:var(--ink);"
    "background:var(--paper);border:1px solid var(--line);border-radius:6px;outline-color:#3b82f6}\n"
    "#back{cursor:pointer}#back rect{fill:#3b82f6}#back text{fill:#fff}"
    ".tool{display:none}.alive .tool{display:inline}\n";

/* The colour of each kind of frame. Its shade depends on the name, so that the same frame looks the same everywhere. */
static const struct {
    const char *about; /* text of the legend; NULL: it is not there */
    int hue, saturation, lightness;
} frame_colours[] = {
    [FRAME_ROOT] = { NULL, 220, 9, 80 },
    [FRAME_PYTHON] = { "your code", 34, 95, 64 },
    [FRAME_LIBRARY] = { "libraries", 48, 45, 77 },
    [FRAME_OPERATOR] = { "operators", 168, 52, 62 },
    [FRAME_NO_STACK] = { "without a stack", 220, 9, 80 },
};
enum { KINDS = sizeof frame_colours / sizeof *frame_colours };

/* For numbers and short texts without user data: nothing is escaped. */
__attribute__((format(printf, 2, 3))) static void put_numbers(struct out *o, const char *fmt, ...)
{
    char text[256];
    va_list numbers;
    va_start(numbers, fmt);
    vsnprintf(text, sizeof text, fmt, numbers);
    va_end(numbers);
    html_raw(o, text);
}

static void put_time(struct out *o, double us)
{
    const bool is_us = us < 1e3, is_ms = us < 1e6;
    put_numbers(o, "%.2f %s", is_us ? us : is_ms ? us / 1e3 : us / 1e6, is_us ? "us" : is_ms ? "ms" : "s");
}

/* 12,345,678 */
static void put_count(struct out *o, unsigned n)
{
    char digits[16];
    const int len = snprintf(digits, sizeof digits, "%u", n);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out_char(o, ',');
        out_char(o, digits[i]);
    }
}

struct flame_graph_drawing {
    const struct frames *f;
    const struct names *names;
    struct out *o;
    double *x; /* of each frame: its left edge, as a share of the whole */
    unsigned deepest, n_hidden;
};

static bool is_drawn(const struct flame_graph_drawing *d, uint32_t frame)
{
    return d->f->at.at[frame].total_us >= NARROWEST * d->f->at.at[0].total_us && d->f->at.at[frame].total_us > 0;
}

/* Writes "main  train.py:133" for "/opt/train/train.py(133): main", so that the part that differs between frames comes
 * first. */
static void put_label(const struct flame_graph_drawing *d, const struct frame *f)
{
    const char *text = names_text(d->names, f->name), *end = text + names_len(d->names, f->name);
    const char *colon = f->kind == FRAME_OPERATOR ? NULL : strstr(text, "): "), *paren = colon;
    while (paren && paren > text && *paren != '(')
        paren--;
    if (!paren || *paren != '(') {
        html_bytes(d->o, text, (size_t)(end - text));
        return;
    }
    const char *file = paren;
    while (file > text && file[-1] != '/' && file[-1] != '\\')
        file--;
    html_bytes(d->o, colon + 3, (size_t)(end - colon - 3));
    out_lit(d->o, "  ");
    html_bytes(d->o, file, (size_t)(paren - file));
    out_lit(d->o, ":");
    html_bytes(d->o, paren + 1, (size_t)(colon - paren - 1));
}

static unsigned shade_of(const char *text, size_t len)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return (h >> 7) % SHADES;
}

static void put_frame(const struct flame_graph_drawing *d, uint32_t i)
{
    const struct frame *f = &d->f->at.at[i];
    const double share = f->total_us / d->f->at.at[0].total_us * 100;
    const char *name = i == 0 ? "all" : names_text(d->names, f->name);
    const size_t len = i == 0 ? 3 : names_len(d->names, f->name);
    put_numbers(d->o, "<svg x=\"%.6f%%\" y=\"%u\" width=\"%.6f%%\" height=\"17\"><title>", d->x[i] * 100,
                TOP + (d->deepest - f->depth) * ROW, share);
    html_bytes(d->o, name, len);
    out_lit(d->o, "\n");
    put_time(d->o, f->total_us);
    put_numbers(d->o, ", %.2f %%", share);
    if (f->self_us > 0 && f->self_us < f->total_us) {
        html_raw(d->o, ", by itself ");
        put_time(d->o, f->self_us);
    }
    html_raw(d->o, "\n");
    put_count(d->o, f->n_operators);
    html_raw(d->o, " operators");
    html_raw(d->o, "</title><rect width=\"100%\" height=\"17\" rx=\"2\" class=\"");
    put_numbers(d->o, "k%us%u", f->kind, shade_of(name, len));
    html_raw(d->o, "\"/><text x=\"4\" y=\"12.5\">");
    if (i == 0)
        html_text(d->o, "all");
    else
        put_label(d, f);
    html_raw(d->o, "</text></svg>\n");
}

/* Parents come before their children, and the root is first: the script relies on that. */
static void put_frames(struct flame_graph_drawing *d)
{
    for (uint32_t i = 0; i < d->f->at.n; i++) {
        double x = d->x[i];
        for (uint32_t c = d->f->first_child[i]; c < d->f->first_child[i + 1]; c++) {
            d->x[d->f->child[c]] = x;
            x += d->f->at.at[d->f->child[c]].total_us / d->f->at.at[0].total_us;
        }
        if (is_drawn(d, i))
            put_frame(d, i);
    }
}

static void measure(struct flame_graph_drawing *d)
{
    for (uint32_t i = 0; i < d->f->at.n; i++) {
        const bool drawn = is_drawn(d, i);
        if (drawn && d->f->at.at[i].depth > d->deepest)
            d->deepest = d->f->at.at[i].depth;
        d->n_hidden += !drawn && d->f->at.at[i].total_us > 0;
    }
}

static void put_style(struct out *o)
{
    out_lit(o, "<style>\n");
    html_raw(o, style);
    for (int kind = 0; kind < KINDS; kind++)
        for (int shade = 0; shade < SHADES; shade++) {
            put_numbers(o, ".k%ds%d{fill:hsl(%d %d%% %d%%)}\n", kind, shade, frame_colours[kind].hue + 3 * (shade - 2),
                        frame_colours[kind].saturation, frame_colours[kind].lightness + 2 * (shade - 2));
        }
    html_raw(o, "</style>\n");
}

static void put_legend(struct out *o)
{
    double x = 14;
    html_raw(o, "<g class=\"words\">\n");
    for (int kind = 0; kind < KINDS; kind++) {
        if (!frame_colours[kind].about)
            continue;
        put_numbers(o, "<rect x=\"%.0f\" y=\"58\" width=\"12\" height=\"12\" rx=\"3\" class=\"k%ds2\"/>", x, kind);
        put_numbers(o, "<text class=\"dim\" x=\"%.0f\" y=\"68\">", x + 17);
        html_text(o, frame_colours[kind].about);
        out_lit(o, "</text>\n");
        x += 36 + 6.6 * (double)strlen(frame_colours[kind].about);
    }
    out_lit(o, "</g>\n");
}

static void put_head(const struct flame_graph_drawing *d, const struct collection *s, enum time_metric metric,
                     unsigned height)
{
    static const char *const what[] = {
        [TIME_OF_HOST] = "Time of operators on the host", [TIME_OF_DEVICE] = "Time of operators on the device"
    };
    struct out *o = d->o;
    html_raw(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    put_numbers(o, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\">\n", height);
    put_style(o);
    out_lit(o, "<title>");
    html_text(o, what[metric]);
    html_raw(o, "</title>\n<rect id=\"paper\" width=\"100%\" height=\"100%\"/>\n<text id=\"title\" x=\"14\" y=\"27\">");
    html_text(o, what[metric]);
    html_raw(o, "</text>\n<g class=\"words\"><text class=\"dim\" x=\"14\" y=\"46\">");
    html_text(o, s->name);
    out_lit(o, ": ");
    put_time(o, d->f->at.at[0].total_us);
    html_raw(o, " in ");
    put_count(o, d->f->at.at[0].n_operators);
    html_raw(o, " operators, by the code that called them");
    if (collection_is_simulated(s))
        html_raw(o, "; the device is simulated");
    if (d->n_hidden > 0) {
        html_raw(o, "; ");
        put_count(o, d->n_hidden);
        html_raw(o, " frames below 0.02 % are not drawn");
    }
    html_raw(o, "</text></g>\n");
    put_legend(o);
    /* These are placed relative to the right edge of the window. */
    html_raw(o, "<svg x=\"100%\" overflow=\"visible\" class=\"words tool\">");
    html_raw(o, "<foreignObject x=\"-264\" y=\"10\" width=\"250\" height=\"30\">");
    html_raw(o, "<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"word\" type=\"search\" ");
    html_raw(o, "placeholder=\"search frames ( / )\"/></foreignObject>");
    html_raw(o, "<text id=\"found\" x=\"-14\" y=\"56\" text-anchor=\"end\"/>");
    html_raw(o, "<g id=\"back\" style=\"display:none\" transform=\"translate(-352 13)\">");
    html_raw(o, "<rect width=\"78\" height=\"22\" rx=\"6\"/>");
    html_raw(o, "<text x=\"39\" y=\"15\" text-anchor=\"middle\">zoom out</text></g></svg>\n");
}

static void put_svg(struct flame_graph_drawing *d, const struct collection *s, enum time_metric metric)
{
    const unsigned height = TOP + (d->deepest + 1) * ROW + BOTTOM;
    put_head(d, s, metric, height);
    html_raw(d->o, "<g id=\"graph\">\n");
    put_frames(d);
    put_numbers(d->o, "</g>\n<text id=\"status\" x=\"14\" y=\"%u\">", height - 10);
    html_text(d->o, "Click a frame to zoom in, Escape to go back; hover for its time.");
    html_raw(d->o, "</text>\n<script><![CDATA[\n");
    html_raw(d->o, flame_graph_js);
    html_raw(d->o, "]]></script>\n</svg>\n");
}

bool flame_graph_write(const struct collection *s, enum time_metric metric, const char *path, struct error *e)
{
    struct arena *mem = arena_new();
    struct frames f;
    struct out o;
    struct flame_graph_drawing d = { .f = &f, .names = s->profile.names, .o = &o };
    bool ok = mem && frames_build(&f, s, metric, mem);
    d.x = ok ? arena_take(mem, f.at.n, sizeof *d.x) : NULL;
    ok = (d.x && !names_failed(s->profile.names)) || error_no_memory(e, path);
    if (ok && (ok = out_open_named(&o, path, e))) {
        measure(&d);
        put_svg(&d, s, metric);
        ok = out_close(&o, e);
    }
    arena_free(mem);
    return ok;
}
