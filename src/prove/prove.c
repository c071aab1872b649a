/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/prove.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/files/file.h"
#include "base/process/limited_call.h"
#include "base/text/json_memory.h"
#include "device/device.h"
#include "prove/prove_checks.h"
#include "prove/prove_programs.h"
#include "raw/cuda_records.h"
#include "raw/device_records.h"
#include "raw/host_records.h"
#include "raw/layout.h"

static const struct {
    const char *device;
    prove_program *program;
} rows[] = {
    { "host", prove_host },
    { "sim", prove_sim },
    { "cuda", prove_cuda },
    { "ascend", prove_ascend },
};

/* ---- damage, for tests of these checks ---- */

/* Streams whose records are damaged on request, with the fields that have their times. */
static const struct {
    const char *stream;
    const struct layout *is;
    unsigned begin, end;
} damaged_streams[] = {
    { "aging.additional.msproftx.", &mark_layout, MARK_BEGIN, MARK_END },
    { "ascope_cuda.data.", &cuda_task_layout, CUDA_BEGIN, CUDA_END },
    { "stars_soc.data.", &stars_layout, STARS_TICK, STARS_TICK },
};
enum { SHIFT_TICKS = 200000000 };

static void file_damage(const char *path, size_t k, const char *how)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    const size_t n = fstat(fileno(f), &st) == 0 ? (size_t)st.st_size : 0, bytes = damaged_streams[k].is->size;
    uint8_t *const data = calloc(1, n + bytes);
    const size_t got = data ? fread(data, 1, n, f) : 0, at = n / bytes / 2 * bytes;
    fclose(f);
    size_t left = n;
    if (got == n && n >= 2 * bytes) {
        if (strcmp(how, "drop") == 0) {
            memmove(data + at, data + at + bytes, n - at - bytes);
            left = n - bytes;
        } else if (strcmp(how, "double") == 0) {
            memcpy(data + n, data + at, bytes);
            left = n + bytes;
        } else {
            const struct layout *const l = damaged_streams[k].is;
            const uint64_t begin = layout_get(l, damaged_streams[k].begin, data + at),
                           end = layout_get(l, damaged_streams[k].end, data + at);
            layout_put(l, damaged_streams[k].begin, data + at, begin + SHIFT_TICKS);
            layout_put(l, damaged_streams[k].end, data + at, end + SHIFT_TICKS);
        }
        f = fopen(path, "wb");
        if (f) {
            fwrite(data, 1, left, f);
            fclose(f);
        }
    }
    free(data);
}

/* A record in the middle of each of these streams is dropped, written twice, or moved in time. */
static void collection_damage(const char *prof, const char *how)
{
    static const char *const folders[] = { "host/data", "device_0/data" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char folder[PATH_MAX], path[PATH_MAX];
        int why;
        if (snprintf(folder, sizeof folder, "%s/%s", prof, folders[i]) >= (int)sizeof folder)
            continue;
        DIR *const dir = opendir(folder);
        for (const char *name; dir && (name = dir_next(dir, &why));)
            for (size_t k = 0; k < sizeof damaged_streams / sizeof *damaged_streams; k++)
                if (strncmp(name, damaged_streams[k].stream, strlen(damaged_streams[k].stream)) == 0 &&
                    !strstr(name, ".done") && snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path)
                    file_damage(path, k, how);
        if (dir)
            closedir(dir);
    }
}

/* ---- runs ---- */

static void trouble(struct prove_run *run, const char *text)
{
    snprintf(run->trouble, sizeof run->trouble, "%s", text);
}

static void exported_check(struct prove_run *run, const struct prove_facts *f)
{
    const struct output_options options = { .want = WANT_ALL, .n_threads = 1 };
    struct result r = { 0 };
    struct error e = { 0 };
    if (prof_export(f->path, &options, NULL, &r, &e)) {
        const struct collector *const c = &r.profile.collector;
        run->is_simulated = c->is_simulated;
        if (r.profile.n_devices > 0)
            snprintf(run->product, sizeof run->product, "%s", source_product(&r.profile.device[0].source));
        if (c->n_devices > 0 && c->devices[0].start_uncertainty_ns != NOT_KNOWN)
            run->clock_error_ns = (double)c->devices[0].start_uncertainty_ns;
        prove_check_all(run, f, &r);
    } else {
        trouble(run, "its collection cannot be exported"); /* the reason has paths */
    }
    result_free(&r);
}

static void program_run(struct prove_run *run, prove_program *program, const char *dir)
{
    enum { LIMIT_PROGRAM_S = 120 };
    const char *const damage = secure_getenv("ASCOPE_PROVE_DAMAGE");
    int by = 0;
    void *const shared =
        mmap(NULL, sizeof(struct prove_facts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        trouble(run, no_memory_text());
        return;
    }
    struct prove_facts *const f = shared;
    snprintf(f->parent, sizeof f->parent, "%s/%s", dir, run->device);
    switch (limited_child(program, f, LIMIT_PROGRAM_S, &by)) {
    case CHILD_DONE: trouble(run, f->trouble); break;
    case CHILD_CRASHED: snprintf(run->trouble, sizeof run->trouble, "the program crashed: %s", strsignal(by)); break;
    case CHILD_HUNG: trouble(run, "the program did not end"); break;
    case CHILD_NONE: trouble(run, "there can be no child process"); break;
    }
    if (*f->path && !*run->trouble) {
        if (damage)
            collection_damage(f->path, damage);
        exported_check(run, f);
    }
    munmap(shared, sizeof *f);
}

/* A kind of real device is there. */
static bool device_is_there(const char *name)
{
    struct error none = { 0 };
    for (size_t i = 0; device_kinds[i]; i++)
        if (strcmp(device_kinds[i]->name, name) == 0)
            return !device_kinds[i]->is_real || device_kinds[i]->probe(&none) > 0;
    return strcmp(name, "host") == 0;
}

struct prove_there {
    bool is[PROVE_RUNS];
};

static void look(void *shared)
{
    struct prove_there *const there = shared;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        there->is[i] = device_is_there(rows[i].device);
}

/* ---- the report ---- */

static json_t *check_json(const struct prove_check *c)
{
    static const char *const word[] = { "ok", "failed", "not run" };
    return json_pack("{s:s, s:s, s:o, s:o}", "name", c->name, "state", word[c->state], "wanted", text_json(c->wanted),
                     "found", text_json(c->found));
}

static json_t *run_json(const struct prove_run *r)
{
    json_t *const checks = json_array();
    for (size_t i = 0; i < r->n; i++)
        json_array_append_new(checks, check_json(&r->check[i]));
    json_t *const out = json_pack("{s:s, s:b, s:o, s:o, s:o}", "device", r->device, "simulated", r->is_simulated,
                                  "product", text_json(r->product), "trouble", text_json(r->trouble), "checks", checks);
    json_object_set_new(out, "clock_error_ns", r->clock_error_ns < 0 ? json_null() : json_real(r->clock_error_ns));
    return out;
}

json_t *prove_json(const struct prove_report *r)
{
    struct utsname os;
    json_t *const list = json_array();
    for (size_t i = 0; i < r->n; i++)
        json_array_append_new(list, run_json(&r->run[i]));
    uname(&os); /* its node name is left out */
    return json_pack("{s:s, s:s, s:s, s:i, s:o}", "system", os.sysname, "kernel", os.release, "machine", os.machine,
                     "failed", (int)r->n_failed, "runs", list);
}

static bool report_write(const struct prove_report *r, const char *dir, struct error *e)
{
    char path[PATH_MAX];
    json_t *const all = prove_json(r);
    json_object_set_new(all, "ascope", json_string(ASCOPE_VERSION));
    const bool done = all && snprintf(path, sizeof path, "%s/ascope-prove.json", dir) < (int)sizeof path &&
                      json_dump_file(all, path, JSON_INDENT(1)) == 0;
    json_decref(all);
    return done || error_set(e, FAULT_IO, "%s/ascope-prove.json: cannot be written", dir);
}

bool prove_machine(const char *dir, struct prove_report *out, struct error *e)
{
    int by = 0;
    enum { LOOK_S = 60 };
    memset(out, 0, sizeof *out);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return error_set(e, FAULT_IO, "%s: %s", dir, strerror(errno));
    struct prove_there *const there =
        mmap(NULL, sizeof *there, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (there == MAP_FAILED)
        return error_no_memory(e, dir);
    limited_child(look, there, LOOK_S, &by); /* libraries of devices are not loaded into this process */
    there->is[0] = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!there->is[i])
            continue;
        struct prove_run *const run = &out->run[out->n++];
        *run = (struct prove_run){ .device = rows[i].device, .clock_error_ns = -1 };
        program_run(run, rows[i].program, dir);
        out->n_failed += *run->trouble != '\0';
        for (size_t k = 0; k < run->n; k++)
            out->n_failed += run->check[k].state == PROVE_FAILED;
    }
    munmap(there, sizeof *there);
    return report_write(out, dir, e);
}
