/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/devices.h"

#include <stdio.h>
#include <string.h>

#include "ascope/mark.h"

static const struct device_kind *first_real(struct error *e)
{
    for (size_t i = 0; device_kinds[i]; i++)
        if (device_kinds[i]->is_real && device_kinds[i]->probe(e) > 0)
            return device_kinds[i];
    return NULL;
}

const struct device_kind *device_choose(const char *name, struct error *e)
{
    struct error ignored = { 0 }; /* "auto" without a device is host only, whatever the reason */
    char known[160] = "auto, none";
    size_t used = strlen(known);
    if (strcmp(name, "none") == 0)
        return NULL;
    if (strcmp(name, "auto") == 0)
        return first_real(&ignored);
    for (size_t i = 0; device_kinds[i]; i++) {
        if (strcmp(name, device_kinds[i]->name) == 0)
            return device_kinds[i];
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, ", %s", device_kinds[i]->name);
    }
    error_set(e, FAULT_ASKED, "device %s: unknown; accepted are %s", name, known);
    return NULL;
}

void devices_online(struct devices_online *out)
{
    struct error ignored = { 0 };
    const struct device_kind *const kind = first_real(&ignored);
    const unsigned n = kind ? kind->probe(&ignored) : 0;
    *out = (struct devices_online){ .chip = -1 };
    for (unsigned i = 0; i < n && out->n < ONLINE_MOST; i++) {
        struct device_description d = { 0 };
        if (!kind->describe(i, &d, &ignored))
            continue;
        if (out->n == 0 && d.npu)
            out->chip = d.npu->platform;
        out->id[out->n++] = (unsigned)d.id;
    }
}

void *ascope_current_stream(void)
{
    void *stream = NULL;
    for (size_t i = 0; device_kinds[i] && !stream; i++)
        if (device_kinds[i]->stream)
            stream = device_kinds[i]->stream();
    return stream;
}

void device_mark(void *stream, uint64_t id)
{
    for (size_t i = 0; device_kinds[i]; i++)
        if (device_kinds[i]->mark)
            device_kinds[i]->mark(stream, id);
}
