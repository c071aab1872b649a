/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/devices.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "ascope/mark.h"
#include "collect/session/message.h"

/* A list of the kinds of devices that were tried, each with the reason why it is not used. */
struct devices_looked {
    char text[512];
    size_t used;
};

static void looked_add(struct devices_looked *l, const struct device_kind *kind, const struct error *why)
{
    if (l->used < sizeof l->text)
        l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s (%s)", l->used > 0 ? ", " : "",
                                    kind->name, *why->text ? why->text : "not found");
}

/* The first kind of real device that the program uses (of_program), or that this machine has. */
static const struct device_kind *first_real(bool of_program, struct devices_looked *l)
{
    for (size_t i = 0; device_kinds[i]; i++) {
        const struct device_kind *const kind = device_kinds[i];
        struct error why = { 0 };
        if (!kind->is_real)
            continue;
        if ((!of_program || !kind->is_used || kind->is_used(&why)) && kind->probe(&why) > 0)
            return kind;
        looked_add(l, kind, &why);
    }
    return NULL;
}

const struct device_kind *device_choose(const char *name, struct error *e)
{
    struct devices_looked looked = { 0 };
    char known[160] = "auto, none";
    size_t used = strlen(known);
    if (strcmp(name, "none") == 0)
        return NULL;
    if (strcmp(name, "auto") == 0) {
        const struct device_kind *const kind = first_real(true, &looked);
        if (!kind) /* no device was found: only the host is recorded */
            message(ASCOPE_INFO, "no device; looked for %s; recording the host only", looked.text);
        return kind;
    }
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
    const struct device_kind *const kind = first_real(false, &(struct devices_looked){ 0 });
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

bool device_watch_graphs(bool is_on)
{
    static atomic_bool was_reported;
    for (size_t i = 0; device_kinds[i]; i++) {
        const struct device_kind *const kind = device_kinds[i];
        struct error why = { 0 };
        if (!kind->watch_graphs || (kind->is_used && !kind->is_used(&why)))
            continue;
        if (kind->watch_graphs(is_on, &why))
            return true;
        if (!atomic_exchange(&was_reported, true))
            message(ASCOPE_WARNING, "captured graphs: %s; kernels of their replays have no operator", why.text);
        return false;
    }
    return false;
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
