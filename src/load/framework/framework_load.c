/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/framework_load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/holes.h"
#include "base/process/pool.h"
#include "base/process/progress.h"
#include "base/text/stamp.h"

/* The last digit is that of the reference: PyTorch's multiplies in a double and drops the fraction, MindSpore's rounds
 * the exact number, a half to the even one. */
int64_t framework_ns(const struct framework_clock *c, uint64_t stamp)
{
    if (c->exact.num > 0) {
        const __int128 scaled = (__int128)(int64_t)(stamp - (uint64_t)c->count) * (__int128)c->exact.num,
                       den = (__int128)c->exact.den;
        __int128 ns = scaled / den - (scaled % den < 0);
        const __int128 twice = 2 * (scaled - ns * den);
        ns += twice > den || (twice == den && ns % 2 != 0);
        return stamp_held(ns + c->mono_ns + c->wall_offset_ns);
    }
    if (!c->is_counter)
        return stamp_add((int64_t)stamp, c->wall_offset_ns);
    const double most = 0x1p62, ns = (double)(int64_t)(stamp - (uint64_t)c->count) * c->ns_per_count;
    const double held = ns > most ? most : ns < -most ? -most : ns; /* a damaged stamp gives any distance */
    return stamp_held((__int128)(int64_t)held + c->mono_ns + c->wall_offset_ns);
}

struct tlv framework_tlv(struct framework_file *f)
{
    return (struct tlv){ { f->data, f->size, 0 }, f->name, &f->lost };
}

bool framework_ids(struct framework_file *f, uint64_t at, uint64_t process, uint64_t thread)
{
    if (process <= UINT32_MAX && thread <= UINT32_MAX)
        return true;
    losses_add(&f->lost, LOSS_BAD_VALUE, 1, f->name, at);
    return false;
}

static void load_one(void *context, size_t i)
{
    struct framework_loading *l = context;
    struct framework_file *file = &l->f->file[i];
    if (file->mem && l->r->format->load[i])
        l->r->format->load[i](l, file);
    progress_work(file->size);
    if (!file->mem || arena_failed(file->mem))
        error_no_memory(&l->error[i], l->f->path);
}

/* If the file cannot be mapped (by its file system, or because of the limit of mappings), it is copied. */
static bool take_bytes(struct framework_file *file, int fd, size_t size)
{
    int why;
    if (memory_map(&file->map, fd, size)) {
        file->data = file->map.at;
        file->size = size;
        return true;
    }
    uint8_t *copy = arena_take(file->mem, size, 1);
    if (!copy || !file_read(fd, copy, size, &file->size, &why)) {
        file->size = 0;
        return false;
    }
    file->data = copy;
    losses_add(&file->lost, LOSS_CUT_SHORT, file->size < size, file->name, file->size);
    return true;
}

/* What is behind a hole is not read: where its first record begins is unknown. */
static uint64_t bytes_before_hole(struct framework_file *file, int fd, const struct stat *st)
{
    struct file_part part = { 0 };
    const uint64_t bytes = (uint64_t)st->st_size;
    if (!file_has_holes(st) || (file_part_next(fd, 0, bytes, &part) && part.begin == 0 && part.end == bytes))
        return bytes;
    const uint64_t first = part.begin == 0 ? part.end : 0;
    losses_add(&file->lost, LOSS_HOLE, 1,
               arena_printf(file->mem, "%s: bytes %" PRIu64 " to %" PRIu64, file->name, first, bytes), first);
    return first;
}

static void open_file(struct framework *f, struct framework_file *file)
{
    struct stat st;
    int why = 0;
    const char *path = arena_printf(file->mem, "%s/%s", f->path, strchr(file->name, '/') + 1);
    const int fd = path ? file_open(AT_FDCWD, path, &st, &why) : -1;
    file->is_there = fd >= 0;
    if (fd < 0) {
        if (path && why != ENOENT)
            losses_add(&file->lost, LOSS_UNREADABLE, 1, file->name, 0);
        return;
    }
    const uint64_t bytes = bytes_before_hole(file, fd, &st);
    if (bytes > 0 && !take_bytes(file, fd, (size_t)bytes))
        losses_add(&file->lost, LOSS_UNREADABLE, 1, file->name, 0);
    close(fd);
}

bool framework_load(struct framework *f, const char *path, const struct framework_request *r, struct error *e)
{
    *f = (struct framework){ .path = path };
    struct framework_loading l = { .f = f, .r = r };
    for (size_t i = 0; i < FRAMEWORK_FILES; i++) {
        f->file[i] = (struct framework_file){ .name = r->format->name[i], .mem = arena_new() };
        if (f->file[i].mem && f->file[i].name && (r->only == 0 || r->only & FRAMEWORK_FILE(i)))
            open_file(f, &f->file[i]);
    }
    pool_run(FRAMEWORK_FILES, r->n_threads, load_one, &l);
    for (size_t i = 0; i < FRAMEWORK_FILES; i++)
        if (l.error[i].fault != FAULT_NONE)
            return error_set(e, l.error[i].fault, "%s", l.error[i].text);
    return true;
}

void framework_free(struct framework *f)
{
    for (size_t i = 0; i < FRAMEWORK_FILES; i++) {
        memory_unmap(&f->file[i].map);
        arena_free(f->file[i].mem);
    }
    *f = (struct framework){ 0 };
}
