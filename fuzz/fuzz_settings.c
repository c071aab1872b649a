/* SPDX-License-Identifier: Apache-2.0 */
/* Settings and clocks of a folder, opened as the loader opens them, what the collector says of itself, and the file
 * that -reports names. */
#include "folder.h"

#include "export/msprof/prof_outputs.h"
#include "load/prof/prof.h"
#include "report/reports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "host", "device_0" };
    folder_build(data, size, FOLDER_COLLECTION);
    char path[128];
    snprintf(path, sizeof path, "%s/" FOLDER_PROF, folder);
    for (size_t i = 0; i < 2; i++) {
        struct source s;
        struct error e = { 0 };
        if (source_open(&s, path, names[i], &e)) {
            if (s.end_ns == s.begin_ns + source_host_ns(&s, UINT64_MAX) + source_sampler_ns(&s, INT64_MIN))
                (void)source_relative_us_ns(&s, INT64_MAX);
            source_close(&s);
        } else if (e.fault == FAULT_NONE) {
            abort(); /* a refusal gives its reason */
        }
    }
    struct arena *mem = arena_new();
    struct collector collector;
    struct losses lost = { 0 };
    struct processes shown;
    struct error e = { 0 };
    if (!collector_load(&collector, path, mem, &lost, &e))
        abort(); /* only without memory */
    const struct recording_facts facts = recording_facts(&collector, mem);
    for (size_t i = 0; i < facts.list.n; i++)
        if (facts.list.at[i].is_number && !isfinite(strtod(facts.list.at[i].value, NULL)))
            abort();
    snprintf(path, sizeof path, "%s/" FOLDER_PROF "/host/reports.json", folder);
    if (!reports_read(path, mem, &shown, &e) && e.fault == FAULT_NONE)
        abort();
    for (size_t i = 0; i < shown.n; i++)
        if (!shown.name[i][0])
            abort();
    arena_free(mem);
    folder_remove();
    return 0;
}
