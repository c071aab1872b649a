/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline in Perfetto's format: what it is converted into is read without damage. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "load/trace/trace_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pftrace_text text;
    struct error e = { 0 };
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || (size > 0 && write(fd, data, size) != (ssize_t)size))
        abort();
    if (pftrace_read(&text, fd, "fuzz.pftrace", UINT64_MAX, &e)) {
        struct chrome_trace t = { 0 };
        struct mapped map = { 0 };
        if (!chrome_parse_unnamed(&t, &map, text.fd, "fuzz.pftrace", &e) || t.lost.by[LOSS_BAD_TEXT].n > 0 ||
            t.lost.by[LOSS_CUT_SHORT].n > 0)
            abort();
        chrome_trace_free(&t);
        memory_unmap(&map);
        close(text.fd);
    } else if (e.fault != FAULT_FORMAT) {
        abort();
    }
    close(fd);
    return 0;
}
