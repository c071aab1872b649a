/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

#include "base/files/bytes.h"
#include "base/files/file.h"
#include "base/memory/large_memory.h"
#include "base/process/progress.h"

enum { BLOCK = 1 << 18, WITH_GZIP_HEADER = 15 + 16 };
static const uint64_t space_kept = 256 << 20, space_step = 64 << 20;

bool gunzip_is(int fd)
{
    unsigned char magic[2] = { 0 };
    return pread(fd, magic, sizeof magic, 0) == sizeof magic && magic[0] == 0x1F && magic[1] == 0x8B;
}

struct decoding {
    z_stream z;
    unsigned char in[BLOCK], out[BLOCK];
};

static bool has_space(int fd)
{
    struct statvfs disk;
    return fstatvfs(fd, &disk) != 0 || (uint64_t)disk.f_bavail * disk.f_frsize >= space_kept;
}

static bool gunzip_write_all(int fd, const unsigned char *from, size_t n)
{
    while (n > 0) {
        const ssize_t put = TEMP_FAILURE_RETRY(write(fd, from, n));
        if (put < 0)
            return false;
        from += put;
        n -= (size_t)put;
    }
    return true;
}

/* Decodes the input of z and writes the result. False: *why is the errno value. */
static bool decode_block(struct decoding *d, struct gunzipped *out, int *end, int *why)
{
    do {
        d->z.next_out = d->out;
        d->z.avail_out = BLOCK;
        if (*end == Z_STREAM_END) /* another member follows: gzip files can be concatenated */
            inflateReset(&d->z);
        *end = inflate(&d->z, Z_NO_FLUSH);
        if (*end == Z_MEM_ERROR) {
            *why = ENOMEM;
            return false;
        }
        const size_t n = BLOCK - d->z.avail_out;
        if (out->bytes / space_step != (out->bytes + n) / space_step && !has_space(out->fd)) {
            *why = ENOSPC;
            return false;
        }
        out->bytes += n;
        progress_work(n);
        if (!gunzip_write_all(out->fd, d->out, n)) {
            *why = errno;
            return false;
        }
    } while ((*end == Z_OK && (d->z.avail_in > 0 || d->z.avail_out == 0)) ||
             (*end == Z_STREAM_END && d->z.avail_in > 0));
    return true;
}

static bool decode(int fd, struct decoding *d, uint64_t most_bytes, struct gunzipped *out, int *why)
{
    uint64_t at = 0;
    int end = Z_OK;
    while (out->bytes < most_bytes) {
        size_t got = 0;
        if (!file_read(fd, d->in, BLOCK, &got, why))
            return false;
        if (got == 0)
            break;
        d->z.next_in = d->in;
        d->z.avail_in = (uInt)got;
        if (!decode_block(d, out, &end, why))
            return false;
        if (end != Z_OK && end != Z_STREAM_END && end != Z_BUF_ERROR) {
            out->is_damaged = true;
            out->damaged_at = at + got - d->z.avail_in;
            return true;
        }
        at += got;
    }
    out->is_damaged = end != Z_STREAM_END && out->bytes < most_bytes;
    out->damaged_at = at;
    return true;
}

uint64_t gunzip_size(int fd, uint64_t file_bytes)
{
    enum { USUAL = 12 }; /* how many times larger JSON traces usually are than their compressed form */
    unsigned char size[4];
    uint32_t bytes = 0;
    if (file_bytes > sizeof size && pread(fd, size, sizeof size, (off_t)(file_bytes - sizeof size)) == sizeof size)
        bytes = le32(size); /* of the last member, modulo 2^32 */
    return bytes > file_bytes ? bytes : file_bytes * USUAL;
}

bool gunzip(int fd, const char *name, uint64_t most_bytes, struct gunzipped *out, struct error *e)
{
    struct decoding *d = calloc(1, sizeof *d);
    *out = (struct gunzipped){ .fd = -1 };
    if (!d || inflateInit2(&d->z, WITH_GZIP_HEADER) != Z_OK) {
        free(d);
        return error_no_memory(e, name);
    }
    int why = 0;
    const char *dir = memory_dir();
    out->fd = memory_file(dir);
    if (out->fd < 0)
        why = errno;
    const bool done = out->fd >= 0 && decode(fd, d, most_bytes, out, &why);
    inflateEnd(&d->z);
    free(d);
    if (done)
        return true;
    if (out->fd >= 0)
        close(out->fd);
    if (why == ENOMEM)
        return error_no_memory(e, name);
    return error_set(e, FAULT_IO, "%s: cannot be decompressed into %s: %s; set TMPDIR to a directory with more space",
                     name, dir, strerror(why));
}
