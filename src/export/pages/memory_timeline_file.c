/* SPDX-License-Identifier: Apache-2.0 */
#include "export/pages/memory_timeline_file.h"

#include <stdio.h>
#include <string.h>

#include "base/files/gzip.h"
#include "export/pages/memory_page.h"
#include "raw/framework_values.h"

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

static void put_changes(const struct memory_timeline *m, struct sink *s)
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
        put_changes(m, &s);
    else
        put_points(m, &s);
    return sink_close(&s, e);
}
