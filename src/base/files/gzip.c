/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/gzip.h"

#include "base/process/progress.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    GATHERED = 1 << 16, /* smaller texts are collected before zlib is called */
    WITH_GZIP_HEADER = 15 + 16,
    MEMORY_LEVEL = 8,
};

static void pass(struct gzip *g, int flush)
{
    z_stream *z = g->deflate;
    g->failed |= g->text.failed_errno != 0;
    z->next_in = (Bytef *)g->text.buf;
    z->avail_in = (uInt)g->text.n;
    progress_work(g->text.n);
    for (int end = Z_OK; end == Z_OK && !g->failed;) {
        out_room(&g->to, GATHERED);
        z->next_out = (Bytef *)g->to.buf + g->to.n;
        z->avail_out = GATHERED;
        end = deflate(z, flush);
        g->to.n += GATHERED - z->avail_out;
        g->failed |= end != Z_OK && end != Z_STREAM_END && end != Z_BUF_ERROR;
        if (flush != Z_FINISH && z->avail_in == 0)
            break;
    }
    g->text.n = 0;
}

static void text_full(struct out *o)
{
    pass(o->full_context, Z_NO_FLUSH);
}

bool gzip_open(struct gzip *g, const char *path, struct error *e)
{
    *g = (struct gzip){ .deflate = calloc(1, sizeof(z_stream)) };
    z_stream *z = g->deflate;
    if (!z || deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WITH_GZIP_HEADER, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
                  Z_OK) {
        free(z);
        return error_no_memory(e, path);
    }
    const bool has_text = out_open_memory(&g->text, e);
    g->text.full = text_full;
    g->text.full_context = g;
    if (has_text && out_open_named(&g->to, path, e))
        return true;
    if (has_text)
        out_discard(&g->text);
    deflateEnd(z);
    free(z);
    return false;
}

void gzip_pass(struct gzip *g)
{
    if (g->text.n >= GATHERED)
        pass(g, Z_NO_FLUSH);
}

bool gzip_close(struct gzip *g, struct error *e)
{
    pass(g, Z_FINISH);
    deflateEnd(g->deflate);
    free(g->deflate);
    out_discard(&g->text);
    if (!g->failed)
        return out_close(&g->to, e);
    error_no_memory(e, g->to.path);
    out_discard(&g->to);
    return false;
}

void gzip_discard(struct gzip *g)
{
    deflateEnd(g->deflate);
    free(g->deflate);
    out_discard(&g->text);
    out_discard(&g->to);
}
