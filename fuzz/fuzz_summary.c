/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the payload of a summary, with the header and the checksum that it would have; and as the file itself. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cluster/rank/summary_file.h"
#include "fuzz.h"

static void read_it(const uint8_t *data, size_t n)
{
    struct rank_summary s;
    struct error e = { 0 };
    struct names *names = names_new();
    struct arena *mem = arena_new();
    if (names && mem)
        summary_read(data, n, "fuzz", names, mem, &s, &e);
    arena_free(mem);
    names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { AT_VERSION = 8, AT_CRC = 12, AT_BYTES = 16, AT_RAW = 24 };
    uLongf packed = compressBound(size);
    uint8_t *file = calloc(1, SUMMARY_HEADER + packed);
    read_it(data, size);
    if (file && compress2(file + SUMMARY_HEADER, &packed, data, size, 1) == Z_OK) {
        const uint32_t version = SUMMARY_VERSION;
        const uint64_t bytes = SUMMARY_HEADER + packed, raw = size;
        memcpy(file, "ascope\x1AS", 8);
        memcpy(file + AT_VERSION, &version, sizeof version);
        memcpy(file + AT_BYTES, &bytes, sizeof bytes);
        memcpy(file + AT_RAW, &raw, sizeof raw);
        const uint32_t crc = (uint32_t)crc32_z(0, file + AT_BYTES, bytes - AT_BYTES);
        memcpy(file + AT_CRC, &crc, sizeof crc);
        read_it(file, bytes);
    }
    free(file);
    return 0;
}
