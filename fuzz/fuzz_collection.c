/* SPDX-License-Identifier: Apache-2.0 */
/* A whole collection, loaded, analysed and exported. The first byte says what is asked for. */
#include "folder.h"

#include "analyse/profile_analyse.h"
#include "pipeline/analyze.h"
#include "export/msprof/query.h"
#include "pipeline/prof_write.h"
#include "load/prof/prof.h"

enum { ASK_JSON = 1, ASK_CURRENT = 2, ASK_FROM_START = 4, ASK_PART = 8, ASK_GRAPH = 16, ASK_SECOND = 32, ASK_TWO = 64 };
enum { ASK_QUESTIONS = 128 }; /* query and analyze instead of export */

static bool export(const char *path, const char *out, uint8_t ask, struct error *e)
{
    const struct output_options options = {
        .want = WANT_ALL,
        .format = ask & ASK_JSON ? FORMAT_JSON : FORMAT_CSV,
        .dialect = ask & ASK_CURRENT ? DIALECT_CURRENT : DIALECT_DOCUMENTED,
        .time_base = ask & ASK_FROM_START ? TIME_BASE_START : TIME_BASE_EPOCH,
        .has_iteration = ask & ASK_PART,
        .model = ask & ASK_GRAPH ? 1 : UINT32_MAX,
        .iteration = ask & ASK_SECOND ? 2 : 1,
        .iteration_count = ask & ASK_TWO ? 2 : 1,
        .n_threads = 1,
        .out_dir = out,
        .stamp = "20240601080000",
    };
    struct result r = { 0 };
    const bool done = prof_export(path, &options, NULL, &r, e);
    result_free(&r);
    return done;
}

static bool answer(const char *path, const char *out, struct error *e)
{
    struct profile p;
    struct out text;
    struct analyze_result found;
    const struct analyze_request request = { .rules = RULE_ALL, .out_dir = out };
    struct query *q = query_new();
    bool done = profile_load(&p, path, 1, e) && profile_analyse(&p, 1, e) && query_add(q, &p, e) &&
                analyze_write(&p, &request, p.mem, &found, e);
    if (done && out_open_memory(&text, e)) {
        done = query_text(q, &text, e);
        out_discard(&text);
    }
    query_free(q);
    profile_free(&p);
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    folder_build(data + 1, size - 1, FOLDER_COLLECTION);
    char path[128], out[128];
    snprintf(path, sizeof path, "%s/" FOLDER_PROF, folder);
    snprintf(out, sizeof out, "%s/out", folder);
    struct error e = { 0 };
    const bool done = data[0] & ASK_QUESTIONS ? answer(path, out, &e) : export(path, out, data[0], &e);
    if (!done && e.fault == FAULT_NONE)
        abort(); /* a refusal gives its reason */
    folder_remove();
    return 0;
}
