/* SPDX-License-Identifier: Apache-2.0 */
/* A whole directory of PyTorch or MindSpore, loaded, analysed and exported. The first byte says what is asked for. */
#include "folder.h"

#include "analyse/framework/collection_analyse.h"
#include "export/pages/export_pages.h"
#include "load/framework/collection_load.h"
#include "pipeline/collection_write.h"

enum { ASK_DB = 1, ASK_CURRENT = 2, ASK_PRETTY = 4, ASK_HOST_ONLY = 8, ASK_DEVICE_ONLY = 16, ASK_SIMPLE = 32 };
enum { ASK_STACKS = 64 }; /* instead */
enum { ASK_MINDSPORE = 128 };

static const struct framework_kind *kind_of(uint8_t ask)
{
    const enum framework_id id = ask & ASK_MINDSPORE ? FRAMEWORK_MINDSPORE : FRAMEWORK_PYTORCH;
    size_t i = 0;
    while (framework_kinds[i].id != id)
        i++;
    return &framework_kinds[i];
}

static bool analyse(uint8_t ask, const char *out, struct error *e)
{
    const struct output_options options = {
        .want = ask & ASK_DB ? WANT_DB : WANT_TEXT,
        .simplifies = ask & ASK_SIMPLE ? CHOICE_ON : AS_RECORDED,
        .dialect = ask & ASK_CURRENT ? DIALECT_CURRENT : DIALECT_DOCUMENTED,
        .is_pretty = ask & ASK_PRETTY,
        .n_threads = 1,
        .out_dir = out,
    };
    struct collection_result r = { 0 };
    const bool done = collection_export(kind_of(ask), folder, &options, NULL, &r, e);
    collection_result_free(&r);
    return done;
}

static bool stacks(uint8_t ask, const char *out, struct error *e)
{
    const enum time_metric metric = ask & ASK_CURRENT ? TIME_OF_DEVICE : TIME_OF_HOST;
    struct collection s;
    uint64_t n = 0;
    const bool done = pt_load(&s, folder, &(struct collection_request){ .n_threads = 1 }, e) &&
                      collection_analyse(&s, 1, e) && stacks_write(&s, metric, out, &n, e) &&
                      (n == 0 || flame_graph_write(&s, metric, out, e));
    collection_free(&s);
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const uint8_t ask = data[0];
    folder_build(data + 1, size - 1,
                 ask & ASK_HOST_ONLY     ? FOLDER_FRAMEWORK
                 : ask & ASK_DEVICE_ONLY ? FOLDER_COLLECTION
                                         : FOLDER_FRAMEWORK | FOLDER_COLLECTION);
    char out[128];
    snprintf(out, sizeof out, "%s/out", folder);
    struct error e = { 0 };
    const bool done = (ask & ASK_STACKS ? stacks : analyse)(ask, out, &e);
    if (!done && e.fault == FAULT_NONE)
        abort(); /* a refusal gives its reason */
    folder_remove();
    return 0;
}
