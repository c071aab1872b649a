/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a list of ranks, as they are, and as its entry behind a whole header, both with right checksums: no path
 * leaves /data. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "cluster/job/manifest.h"
#include "fuzz.h"

static void read_it(const uint8_t *data, size_t n)
{
    static const char *const root[] = { "/data" };
    const struct manifest_of of = { root, 1, NULL };
    char path[64];
    struct job j;
    struct error e = { 0 };
    size_t n_all;
    const int fd = memfd_create("manifest", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && write(fd, data, n) == (ssize_t)n && job_init(&j, &e)) {
        if (manifest_read(&j, &of, path, 0, 1, &n_all, &e))
            for (size_t i = 0; i < j.ranks.n; i++)
                if (strncmp(j.ranks.at[i].path, root[0], 5) != 0 || strstr(j.ranks.at[i].path, "/../"))
                    abort();
        job_fini(&j);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 40, TEXTS = 13, AT_CRC = 12, AT_RANKS = 16, AT_BYTES = 24, AT_ROOTS = 32, AT_END = 16 };
    const uint32_t version = 1, no_text = UINT32_MAX, root_len = 5;
    const uint64_t one = 1, bytes = HEAD + TEXTS, number = 0, place[2] = { bytes + 16, bytes + 16 + size };
    read_it(data, size);
    uint8_t *file = calloc(1, bytes + sizeof place + size);
    if (!file || size < 4)
        goto done;
    memcpy(file, "ascope\x1AM", 8);
    memcpy(file + 8, &version, sizeof version);
    memcpy(file + AT_RANKS, &one, sizeof one);
    memcpy(file + AT_BYTES, &bytes, sizeof bytes);
    memcpy(file + AT_ROOTS, &one, sizeof one);
    memcpy(file + HEAD, &no_text, sizeof no_text);
    memcpy(file + HEAD + 4, &root_len, sizeof root_len);
    memcpy(file + HEAD + 8, "/data", root_len);
    memcpy(file + bytes, place, sizeof place);
    uint8_t *entry = file + bytes + sizeof place;
    memcpy(entry, data, size);
    uint32_t crc = (uint32_t)crc32_z(crc32_z(0, (const uint8_t *)&number, sizeof number), entry + 4, size - 4);
    memcpy(entry, &crc, sizeof crc);
    crc = (uint32_t)crc32_z(0, file + AT_END, bytes - AT_END);
    memcpy(file + AT_CRC, &crc, sizeof crc);
    read_it(file, bytes + sizeof place + size);
done:
    free(file);
    return 0;
}
