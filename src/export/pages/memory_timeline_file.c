/* SPDX-License-Identifier: Apache-2.0 */
#include "export/pages/export_pages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyse/memory_timeline/memory_timeline.h"
#include "base/files/gzip.h"
#include "base/files/out.h"
#include "base/text/stamp.h"
#include "raw/framework_values.h"

/* The memory timeline as a page for a browser: one file that needs no other, and no network. */

/* The text of memory_page.html, made by the build. */
extern const char memory_page_html[];
static const char mark[] = "@TIMELINE@"; /* the place in it where the data is inserted */

/* ---- changes as bytes, bytes as text ---------------------------------------------------------------------------- */

/* A million points would be 60 MB of JSON numbers. Most points change one category, so that changes are written:
 * microseconds since the last change, category, and bytes more or less. Each number is in groups of 7 bits, the lowest
 * group first; the top bit of a byte says that more follow. Bytes are zigzag-coded: their sign is the lowest bit. The
 * result is in base 64. */
struct packer {
    struct out *o;
    uint32_t bits;
    unsigned n_bits;
};

static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void pack_byte(struct packer *p, unsigned byte)
{
    p->bits = p->bits << 8 | byte;
    for (p->n_bits += 8; p->n_bits >= 6; p->n_bits -= 6)
        out_char(p->o, letter[p->bits >> (p->n_bits - 6) & 63]);
}

static void pack_end(struct packer *p)
{
    if (p->n_bits > 0)
        out_char(p->o, letter[p->bits << (6 - p->n_bits) & 63]);
    for (unsigned n = p->n_bits; n > 0 && n < 6; n += 2)
        out_char(p->o, '=');
}

static void pack_number(struct packer *p, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        pack_byte(p, (v & 127) | 128);
    pack_byte(p, (unsigned)v);
}

static void put_changes(struct out *o, const struct memory_timeline *m)
{
    struct packer pack = { .o = o };
    struct memory_point before = { 0 };
    struct memory_points p = memory_points_of(m);
    int64_t last_us = p.begin_us;
    for (; memory_points_next(&p); before = p.now)
        for (unsigned i = 0; i < MEMORY_CATEGORIES; i++) {
            const int64_t more = wrap_sub(p.now.bytes[i], before.bytes[i]);
            if (more == 0)
                continue;
            pack_number(&pack, (uint64_t)wrap_sub(p.now.time_us, last_us));
            pack_number(&pack, i);
            pack_number(&pack, (uint64_t)more << 1 ^ (uint64_t)(more >> 63));
            last_us = p.now.time_us;
        }
    pack_end(&pack);
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

/* Writes a JSON string without "<": inside of a script element, a text with "</script" would end it. */
static void memory_page_put_text(struct out *o, const char *text)
{
    struct out plain;
    struct error unused = { 0 };
    if (!out_open_memory(&plain, &unused)) {
        o->failed_errno = ENOMEM;
        return;
    }
    out_json(&plain, text, strlen(text));
    for (size_t i = 0; i < plain.n; i++)
        if (plain.buf[i] == '<')
            out_lit(o, "\\u003c");
        else
            out_char(o, plain.buf[i]);
    out_discard(&plain);
}

static int64_t end_us(const struct memory_timeline *m)
{
    struct memory_points p = memory_points_of(m);
    p.at = m->n > 0 ? m->n - 1 : 0;
    return memory_points_next(&p) ? p.now.time_us : p.begin_us;
}

static bool memory_page_write(const struct memory_timeline *m, const char *of, const char *path, struct error *e)
{
    struct out o;
    if (!out_open_named(&o, path, e))
        return false;
    const char *at = strstr(memory_page_html, mark);
    char device[MEMORY_DEVICE_TEXT];
    out_bytes(&o, memory_page_html, (size_t)(at - memory_page_html));
    out_lit(&o, "{\"of\": ");
    memory_page_put_text(&o, of);
    out_lit(&o, ", \"device\": ");
    memory_page_put_text(&o, memory_device_text(m->device, device));
    if (m->is_simulated)
        out_lit(&o, ", \"isSimulated\": true");
    out_lit(&o, ", \"beginUs\": ");
    out_i64(&o, memory_points_of(m).begin_us);
    out_lit(&o, ", \"endUs\": ");
    out_i64(&o, end_us(m));
    out_lit(&o, ", \"mostAllocated\": ");
    out_i64(&o, m->peaks.allocated.bytes);
    out_lit(&o, ", \"mostReserved\": ");
    out_i64(&o, m->peaks.reserved.bytes);
    out_lit(&o, ", \"before\": ");
    out_u64(&o, m->before_bytes);
    if (m->peaks.is_partial)
        out_lit(&o, ", \"isPartial\": true");
    out_lit(&o, ",\n\"changes\": \"");
    put_changes(&o, m);
    out_lit(&o, "\"}");
    out_bytes(&o, at + sizeof mark - 1, strlen(at + sizeof mark - 1));
    return out_close(&o, e);
}

/* ---- devices -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int32_t type;
} numbered[] = { { "npu", MEMORY_ON_NPU }, { "cuda", MEMORY_ON_CUDA } };

bool memory_device_read(const char *text, struct memory_device *out)
{
    *out = (struct memory_device){ MEMORY_ON_CPU, -1 };
    if (strcmp(text, "cpu") == 0)
        return true;
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        const size_t n = strlen(numbered[i].word);
        const char *const digits = text + n + 1;
        unsigned number;
        char more;
        if (strncmp(text, numbered[i].word, n) != 0 || text[n] != ':' ||
            strspn(digits, "0123456789") != strlen(digits) || sscanf(digits, "%3u%c", &number, &more) != 1)
            continue;
        *out = (struct memory_device){ numbered[i].type, (int32_t)number };
        return true;
    }
    return false;
}

const char *memory_device_text(struct memory_device d, char out[MEMORY_DEVICE_TEXT])
{
    if (d.type == MEMORY_ON_CPU)
        snprintf(out, MEMORY_DEVICE_TEXT, "cpu");
    else
        snprintf(out, MEMORY_DEVICE_TEXT, "type %d:%d", d.type, d.number);
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
        if (numbered[i].type == d.type)
            snprintf(out, MEMORY_DEVICE_TEXT, "%s:%d", numbered[i].word, d.number);
    return out;
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

/* The output file, compressed or not. */
struct sink {
    struct out plain;
    struct gzip gzip;
    bool is_gzip;
};

static bool sink_open(struct sink *s, const char *path, bool is_gzip, struct error *e)
{
    s->is_gzip = is_gzip;
    return is_gzip ? gzip_open(&s->gzip, path, e) : out_open_named(&s->plain, path, e);
}

/* The buffer for the next piece of text. */
static struct out *sink_text(struct sink *s)
{
    if (s->is_gzip)
        gzip_pass(&s->gzip);
    return s->is_gzip ? &s->gzip.text : &s->plain;
}

static bool sink_close(struct sink *s, struct error *e)
{
    return s->is_gzip ? gzip_close(&s->gzip, e) : out_close(&s->plain, e);
}

static void put_points(const struct memory_timeline *m, struct sink *s)
{
    out_lit(sink_text(s), "[[");
    bool is_first = true;
    for (struct memory_points p = memory_points_of(m); memory_points_next(&p); is_first = false) {
        struct out *o = sink_text(s);
        if (!is_first)
            out_lit(o, ", ");
        out_i64(o, p.now.time_us);
    }
    out_lit(sink_text(s), "], [");
    is_first = true;
    for (struct memory_points p = memory_points_of(m); memory_points_next(&p); is_first = false) {
        struct out *o = sink_text(s);
        if (!is_first)
            out_lit(o, ", ");
        out_lit(o, "[0"); /* as in PyTorch's file: the lower edge of the lowest area */
        for (size_t i = 0; i < MEMORY_CATEGORIES; i++) {
            out_lit(o, ", ");
            out_i64(o, p.now.bytes[i]);
        }
        out_char(o, ']');
    }
    out_lit(sink_text(s), "]]");
}

static void put_change(struct sink *s, bool is_first, const struct memory_timeline *m, size_t i, bool is_less)
{
    struct out *o = sink_text(s);
    if (!is_first)
        out_lit(o, ", ");
    out_char(o, '[');
    out_i64(o, m->time_ns[i]);
    out_lit(o, ", ");
    out_u64(o, m->action[i]);
    out_lit(o, ", ");
    out_i64(o, is_less ? -(int64_t)m->bytes[i] : (int64_t)m->bytes[i]);
    out_lit(o, ", ");
    out_u64(o, is_less ? m->from[i] : m->to[i]);
    out_char(o, ']');
}

static void put_change_lines(const struct memory_timeline *m, struct sink *s)
{
    out_char(sink_text(s), '[');
    for (size_t i = 0; i < m->n; i++) {
        const bool is_less = m->action[i] == MEMORY_CHANGED || m->action[i] == MEMORY_FREED;
        if (is_less)
            put_change(s, i == 0, m, i, true);
        if (m->action[i] != MEMORY_FREED)
            put_change(s, i == 0 && !is_less, m, i, false);
    }
    out_char(sink_text(s), ']');
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

static bool memory_timeline_file_ends_with(const char *text, const char *ending)
{
    const size_t len = strlen(text), of_ending = strlen(ending);
    return len >= of_ending && strcmp(text + len - of_ending, ending) == 0;
}

bool memory_timeline_write(const struct memory_timeline *m, const char *of, const char *path, struct error *e)
{
    if (memory_timeline_file_ends_with(path, ".html"))
        return memory_page_write(m, of, path, e);
    struct sink s;
    if (!sink_open(&s, path, memory_timeline_file_ends_with(path, ".gz"), e))
        return false;
    if (memory_timeline_file_ends_with(path, "raw.json") || memory_timeline_file_ends_with(path, "raw.json.gz"))
        put_change_lines(m, &s);
    else
        put_points(m, &s);
    return sink_close(&s, e);
}
