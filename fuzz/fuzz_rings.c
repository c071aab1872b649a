/* ascope.rings that a killed program might have left, in a collection whose files are as long as it says, shorter or gone. The
 * first byte says which. */
#include "folder.h"

#include "collect/recover.h"
#include "rings.h"

enum { HAS_FRAMEWORK = 1, HAS_PROF = 2, HAS_FILES = 4, IS_CUT = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const uint8_t ask = data[0];
    struct rings_part part[RINGS_PARTS];
    char path[256];
    rings_parts(part);
    folder_build(NULL, 0, (ask & HAS_FRAMEWORK ? FOLDER_FRAMEWORK : 0) | (ask & HAS_PROF ? FOLDER_COLLECTION : 0));
    mkdir(folder, 0700);
    if (ask & HAS_FILES) {
        folder_put("FRAMEWORK/torch.op_range", path, 200);
        folder_put("host/data/aging.compact.task_track.slice_0", path, 128);
        folder_put("host/data/aging.compact.task_track.slice_0.done", path, 20);
        folder_put("host/data/aging.compact.task_track.slice_1", path, 64);
    }
    snprintf(path, sizeof path, "%s/" RINGS_NAME, folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const uint64_t whole = part[RINGS_PARTS - 1].at + 2 * FUZZ_RING_BYTES;
    if (fd < 0 || ftruncate(fd, (off_t)(ask & IS_CUT ? whole * data[1] / 256 : whole)) != 0)
        abort();
    struct piece piece;
    const uint8_t *at = data + 2;
    size_t left = size - 2;
    for (size_t i = 0; i < RINGS_PARTS && piece_next(&at, &left, &piece); i++)
        if (pwrite(fd, piece.data, piece.size < part[i].bytes ? piece.size : part[i].bytes, (off_t)part[i].at) < 0)
            abort();
    close(fd);
    struct recovered r;
    struct error e = { 0 };
    const enum recovery how = collection_recover(folder, &r, &e);
    if (how == RECOVERY_FAILED ? e.fault == FAULT_NONE : how != RECOVERY_DONE || access(path, F_OK) == 0)
        abort(); /* a refusal gives its reason; what is done is done */
    folder_remove();
    return 0;
}
