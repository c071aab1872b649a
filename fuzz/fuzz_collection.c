/* A whole collection, loaded, analysed and exported. The first byte says what is asked for. */
#include "folder.h"

#include "export/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    folder_build(data + 1, size - 1);
    char path[128], out[128];
    snprintf(path, sizeof path, "%s/PROF_1", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    const struct request request = {
        .want = WANT_ALL,
        .format = data[0] & 1 ? FORMAT_JSON : FORMAT_CSV,
        .dialect = data[0] & 2 ? DIALECT_CURRENT : DIALECT_SEED,
        .from_start = data[0] & 4,
        .has_iteration = data[0] & 8,
        .model = data[0] & 16 ? 1 : UINT32_MAX,
        .iteration = 1 + (data[0] >> 5 & 1),
        .iteration_count = 1 + (data[0] >> 6),
        .n_threads = 1,
        .out_dir = out,
        .stamp = "20240601080000",
    };
    struct result r = { 0 };
    struct error e = { 0 };
    if (!collection_export(path, &request, &r, &e) && e.fault == FAULT_NONE)
        abort(); /* a refusal gives its reason */
    result_free(&r);
    folder_remove();
    return 0;
}
