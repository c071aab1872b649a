/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, modules and allocators of a FRAMEWORK folder, and the memory timeline that comes of them. */
#include "folder.h"

#include "base/files/out.h"
#include "export/pages/export_pages.h"
#include "load/framework/collection_load.h"

static void check(const struct memory_timeline *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->from[i] >= MEMORY_CATEGORIES || m->to[i] >= MEMORY_CATEGORIES ||
            (i > 0 && (m->time_ns[i] < m->time_ns[i - 1])))
            abort();
    size_t n = 0;
    for (struct memory_points p = memory_points_of(m); memory_points_next(&p);)
        n++;
    if (n > m->n || (m->n > 0 && n == 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const ending[] = { "html", "json", "json.gz", "raw.json.gz" };
    if (size < 1)
        return 0;
    folder_build(data + 1, size - 1, FOLDER_FRAMEWORK);
    char out[128];
    snprintf(out, sizeof out, "%s/out.%s", folder, ending[data[0] % 4]);
    struct collection s;
    struct memory_timeline m;
    struct losses lost = { 0 };
    struct error e = { 0 };
    struct arena *mem = arena_new();
    const struct collection_request request = { .keeps_tensors = true, .n_threads = 1 };
    if (pt_load(&s, folder, &request, &e)) {
        if (!memory_timeline_find(&m, &s, memory_usual_device(&s), &lost, mem, &e) ||
            !memory_timeline_write(&m, s.name, out, &e))
            abort();
        check(&m);
    }
    collection_free(&s);
    arena_free(mem);
    folder_remove();
    return 0;
}
