/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "ascope/load.h"
#include "collect/options/option_rows.h"
#include "collect/options/sized.h"
#include "collect/session/devices.h"
#include "collect/session/message.h"

struct listening {
    const char *source;
    struct error e; /* the first one */
};

static void remark_pass(void *to, const struct options_remark *r)
{
    struct listening *const l = to;
    struct remark_line line;
    const char *const text = options_remark_line(&line, l->source, r);
    if (r->severity == ASCOPE_ERROR)
        error_set(&l->e, FAULT_ASKED, "%s", text);
    else
        message(r->severity, "%s", text);
}

/* The platform number of the first NPU; -1 (as 910B): the device is simulated or unknown. */
static int chip_here(const struct ascope_options *o)
{
    struct devices_online devices = { .chip = -1 };
    const bool is_real = !o->device || strcmp(o->device, "auto") == 0 || strcmp(o->device, "ascend") == 0;
    if (is_real)
        devices_online(&devices);
    return devices.chip;
}

static bool option_load_load(struct ascope_options *o, const char *source, const char *text, size_t bytes,
                             uint32_t front_end, bool *is_on, struct error *e)
{
    const uint32_t known = ASCOPE_FRONT_END_TENSORFLOW | ASCOPE_FRONT_END_ACL_JSON;
    struct listening l = { .source = source };
    struct options_json j;
    if (!sized_is_set(o))
        return error_set(e, FAULT_ASKED, "options of %u bytes: ascope_options_init() was not called", o->size);
    if ((front_end & ~known) != 0 || front_end == known)
        return error_set(e, FAULT_ASKED, "front end %u: has no such text; expected TensorFlow or acl.json", front_end);
    if (!text)
        return error_set(e, FAULT_ASKED, "%s: no text", source);
    const struct options_request request = {
        .front_end = front_end, .chip = chip_here(o), .before = o, .say = remark_pass, .to = &l
    };
    const bool is_good = options_json_read(&j, text, bytes, &request);
    if (is_good) {
        ascope_options_check(&j.o); /* from here on its texts have the lifetime of the process */
        const uint32_t size = o->size;
        j.o.size = size;
        memcpy(o, &j.o, size < sizeof j.o ? size : sizeof j.o);
        if (is_on)
            *is_on = j.is_on;
    } else {
        *e = l.e;
    }
    options_json_fini(&j);
    return is_good;
}

bool ascope_options_load_text(struct ascope_options *o, const char *text, size_t bytes, uint32_t front_end, bool *is_on,
                              struct ascope_error *e)
{
    struct error inner = { 0 };
    const bool is_good = option_load_load(o, front_end == ASCOPE_FRONT_END_ACL_JSON ? "acl.json" : "profiling_options",
                                          text, bytes, front_end, is_on, &inner);
    error_pass(&inner, e);
    return is_good;
}

bool ascope_options_load(struct ascope_options *o, const char *file, uint32_t front_end, bool *is_on,
                         struct ascope_error *e)
{
    struct error inner = { 0 };
    size_t n = 0;
    char *const text = options_file_read(file, &n, &inner);
    const bool is_good = text && option_load_load(o, file, text, n, front_end, is_on, &inner);
    free(text);
    error_pass(&inner, e);
    return is_good;
}
