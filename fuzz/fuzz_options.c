/* SPDX-License-Identifier: Apache-2.0 */
/* profiling_options and acl.json. The first byte chooses the front end, the second the chip. */
#include <stdbool.h>

#include "fuzz.h"

#include "collect/options/option_rows.h"
#include "collect/options/options.h"

static void listen(void *to, const struct options_remark *r)
{
    struct remark_line line;
    options_remark_line(&line, "options", r);
    if (strchr(line.text, '\n') || !*r->text)
        abort(); /* one line, and it says something */
    *(unsigned *)to += r->severity == ASCOPE_ERROR;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t front_end[] = { 0, ASCOPE_FRONT_END_TENSORFLOW, ASCOPE_FRONT_END_ACL_JSON };
    if (size < 2)
        return 0;
    unsigned n_errors = 0;
    const struct options_request r = { .front_end = front_end[data[0] % 3],
                                       .chip = data[1] % 20 - 1,
                                       .program_dir = "/",
                                       .say = listen,
                                       .to = &n_errors };
    struct options_json j;
    const bool is_good = options_json_read(&j, (const char *)data + 2, size - 2, &r);
    if (is_good != (n_errors == 0) || (j.is_on && !is_good))
        abort(); /* a refusal gives its reason */
    if (is_good && j.is_on) {
        struct ascope_options o;
        struct error e = { 0 };
        if (!options_take(&o, &j.o, &e))
            abort();
        options_check(&o);
        if (options_data_mask(&o) == 0 && options_json_mask(&j) != 0)
            abort();
        options_fini(&o);
    }
    options_json_fini(&j);
    return 0;
}
