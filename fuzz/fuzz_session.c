/* A whole *_ascend_pt directory, loaded, analysed and exported. The first byte says what is asked for. */
#include "folder.h"

#include "export/session_write.h"

enum { ASK_DB = 1, ASK_CURRENT = 2, ASK_PRETTY = 4, ASK_HOST_ONLY = 8, ASK_DEVICE_ONLY = 16, ASK_SIMPLE = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const uint8_t ask = data[0];
    const unsigned parts = ask & ASK_HOST_ONLY     ? FOLDER_FRAMEWORK
                           : ask & ASK_DEVICE_ONLY ? FOLDER_COLLECTION
                                                   : FOLDER_FRAMEWORK | FOLDER_COLLECTION;
    folder_build(data + 1, size - 1, parts);
    char out[128];
    snprintf(out, sizeof out, "%s/out", folder);
    const struct session_wishes wishes = {
        .text = !(ask & ASK_DB),
        .db = ask & ASK_DB,
        .simplifies = ask & ASK_SIMPLE ? CHOICE_ON : AS_RECORDED,
        .dialect = ask & ASK_CURRENT ? DIALECT_CURRENT : DIALECT_SEED,
        .is_pretty = ask & ASK_PRETTY,
        .n_threads = 1,
        .out_dir = out,
    };
    struct session_result r = { 0 };
    struct error e = { 0 };
    if (!session_export(folder, &wishes, &r, &e) && e.fault == FAULT_NONE)
        abort(); /* a refusal gives its reason */
    session_result_free(&r);
    folder_remove();
    return 0;
}
