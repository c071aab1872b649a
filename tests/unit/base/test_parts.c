/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <zlib.h>

#include "base/memory/parts.h"
#include "folder.h"

/* Parts of very different lengths: some are empty, some longer than what may wait in memory. */
enum { PARTS = 40 };

static size_t length_of(size_t i)
{
    return i % 7 == 3 ? 0 : i % 11 == 5 ? (size_t)5 << 20 : i * 1000 + 1;
}

static void write_part(void *context, size_t i, struct out *o)
{
    (void)context;
    for (size_t left = length_of(i), n; left > 0; left -= n) {
        static const char text[] = "abcdefghijklmnopqrstuvwxyz";
        n = left < 20 ? left : 20;
        out_bytes(o, text + i % 3, n);
    }
}

static void parts_follow_each_other_whatever_the_threads(void **state)
{
    struct error e = { 0 };
    struct out one, many;
    (void)state;
    assert_true(out_open_memory(&one, &e) && out_open_memory(&many, &e));
    for (size_t i = 0; i < PARTS; i++)
        write_part(NULL, i, &one);
    for (unsigned n_threads = 1; n_threads <= 5; n_threads += 2) {
        many.n = 0;
        parts_write(&many, &(struct parts_job){ PARTS, write_part, NULL, n_threads, false });
        assert_int_equal(many.failed_errno, 0);
        assert_int_equal(many.n, one.n);
        assert_memory_equal(many.buf, one.buf, one.n);
    }
    out_discard(&one);
    out_discard(&many);
}

static void parts_go_into_files(void **state)
{
    struct error e = { 0 };
    struct out o;
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/text", folder);
    assert_true(out_open(&o, path, &e));
    out_lit(&o, "[");
    parts_write(&o, &(struct parts_job){ PARTS, write_part, NULL, 3, false });
    out_lit(&o, "]");
    size_t n = 2;
    for (size_t i = 0; i < PARTS; i++)
        n += length_of(i);
    assert_true(out_close(&o, &e));
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fgetc(in), '[');
    assert_int_equal(fseek(in, -1, SEEK_END), 0);
    assert_int_equal(ftell(in), n - 1);
    assert_int_equal(fgetc(in), ']');
    fclose(in);
}

/* As gunzip sees it. */
static void unzipped_they_are_the_same_and_zipped_whatever_the_threads(void **state)
{
    struct error e = { 0 };
    struct out text, zipped, again;
    (void)state;
    assert_true(out_open_memory(&text, &e) && out_open_memory(&zipped, &e) && out_open_memory(&again, &e));
    parts_write(&text, &(struct parts_job){ PARTS, write_part, NULL, 1, false });
    parts_write(&zipped, &(struct parts_job){ PARTS, write_part, NULL, 1, true });
    parts_write(&again, &(struct parts_job){ PARTS, write_part, NULL, 4, true });
    assert_int_equal(zipped.n, again.n);
    assert_memory_equal(zipped.buf, again.buf, again.n);
    char *back = malloc(text.n + 1);
    z_stream z = { .next_in = (Bytef *)zipped.buf,
                   .avail_in = (uInt)zipped.n,
                   .next_out = (Bytef *)back,
                   .avail_out = (uInt)text.n + 1 };
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK); /* 16: with header, length and checksum, which it checks */
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, text.n);
    assert_int_equal(z.avail_in, 0);
    assert_memory_equal(back, text.buf, text.n);
    inflateEnd(&z);
    free(back);
    out_discard(&text);
    out_discard(&zipped);
    out_discard(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_follow_each_other_whatever_the_threads),
        cmocka_unit_test_setup_teardown(parts_go_into_files, folder_make, folder_remove),
        cmocka_unit_test(unzipped_they_are_the_same_and_zipped_whatever_the_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
