/* SPDX-License-Identifier: Apache-2.0 */
/* Records a little, and writes what its rings then hold as an input for fuzz_rings: rings_seed FOLDER FILE. */
#include "rings.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/text/error.h"
#include "collect/ring/ring.h"
#include "collect/write/writer.h"

static void put(enum stream_id stream, size_t bytes)
{
    const struct ring_slot slot = ring_put(stream, 0, bytes);
    if (!slot.at)
        return;
    memset(slot.at, 'r', bytes);
    ring_done(slot);
}

int main(int argc, char **argv)
{
    struct error e = { 0 };
    struct writer_tally tally;
    struct rings_part part[RINGS_PARTS];
    char framework[512], prof[512], rings_path[512];
    if (argc != 3)
        return 2;
    snprintf(framework, sizeof framework, "%s/FRAMEWORK", argv[1]);
    snprintf(prof, sizeof prof, "%s/PROF_1_1_A", argv[1]);
    snprintf(rings_path, sizeof rings_path, "%s/" RINGS_NAME, argv[1]);
    mkdir(framework, 0750);
    mkdir(prof, 0750);
    const struct writer_options o = { .framework_dir = framework, .prof_dir = prof, .slice_bytes = 4096 };
    if (!rings_open(&(struct rings_options){ .path = rings_path, .id = FUZZ_SESSION, .ring_bytes = FUZZ_RING_BYTES },
                    &e) ||
        !writer_start(&o, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    static const struct {
        enum stream_id stream;
        size_t bytes;
    } row[] = {
        { STREAM_TORCH_OP, 50 },
        { STREAM_TRACK, 64 },
        { STREAM_MARK, 120 },
        { STREAM_PMU, 128 },
        { STREAM_NAMES, 9 },
        { STREAM_SYSTEM_CALL, sizeof(struct os_call) },
        { STREAM_THREAD_CALL, sizeof(struct os_call) },
    };
    for (unsigned round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof row / sizeof *row; i++)
            put(row[i].stream, row[i].bytes);
        if (round == 0)
            writer_flush(&tally, &e);
    }
    ring_range_open(1, "head", 4, "text", 4);
    FILE *in = fopen(rings_path, "rb"), *out = fopen(argv[2], "wb");
    if (!in || !out)
        return 1;
    fputs("\7\1", out);
    rings_parts(part);
    for (size_t i = 0; i < RINGS_PARTS; i++) {
        char bytes[8192];
        fseek(in, (long)part[i].at, SEEK_SET);
        const size_t n = fread(bytes, 1, part[i].bytes, in);
        if (i > 0)
            fwrite(CUT, 1, CUT_BYTES, out);
        fwrite(bytes, 1, n, out);
    }
    fclose(in);
    const bool is_written = fclose(out) == 0;
    writer_stop(&tally, &e);
    rings_close();
    return is_written ? 0 : 1;
}
