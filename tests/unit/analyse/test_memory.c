/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/host/host_analysis.h"

enum { MOST = 32, TEXT_MOST = 512 };

/* "a1+64 a1-64": operator a takes 64 bytes at address 1 and gives them back. A '#' and a digit name the device. */
static void load(struct op_memory *m, struct arena *mem, const char *records)
{
    *m = (struct op_memory){ .device = arena_take(mem, MOST, sizeof *m->device),
                             .addr = arena_take(mem, MOST, sizeof *m->addr),
                             .name = arena_take(mem, MOST, sizeof *m->name),
                             .size = arena_take(mem, MOST, sizeof *m->size) };
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", records);
    for (char *token; (token = strsep(&rest, " "));) {
        char name;
        unsigned addr;
        int size;
        if (sscanf(token, "%c%u%d", &name, &addr, &size) != 3)
            continue;
        const char *device = strchr(token, '#');
        m->name[m->n] = (uint64_t)name;
        m->addr[m->n] = addr;
        m->size[m->n] = size;
        m->device[m->n++] = device ? (uint32_t)atoi(device + 1) : 0;
    }
}

static void allocations_end_with_their_release(void **state)
{
    static const struct {
        const char *what, *records, *lives; /* rows: allocation-release */
        uint64_t n_unpaired;
    } row[] = {
        { "nothing", "", "", 0 },
        { "taken and given back", "a1+64 a1-64", "0-1", 0 },
        { "in the order of the releases", "a1+1 b2+1 b2-1 a1-1", "1-2 0-3", 0 },
        { "never given back comes last", "a1+1 b2+1 b2-1", "1-2 0-", 1 },
        { "the operator belongs to the place", "a1+1 b1-1", "0-", 2 },
        { "and so does the device", "a1+1#0 a1-1#1", "0-", 2 },
        { "a release of nothing is counted", "a1-1", "", 1 },
        { "a second allocation hides the first", "a1+1 a1+2 a1-2", "1-2", 1 },
        { "and keeps its place among those that never ended", "a1+1 b1+1 a1+2", "2- 1-", 3 },
        { "the same place again, later", "a1+1 a1-1 b1+1 a1+1", "0-1 2- 3-", 2 },
        { "nothing was taken", "a1+0", "", 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct profile p = { .path = "sample" };
        p.host.source = (struct source){ .path = "sample", .mem = arena_new() };
        struct op_memory *m = &p.host.records.op_memory;
        load(m, p.host.source.mem, row[i].records);
        struct error e = { 0 };
        char text[TEXT_MOST] = "";
        assert_true(memory_analyse(&p, &e));
        for (size_t k = 0; k < m->lives.n; k++) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u-", k ? " " : "", m->lives.allocation[k]);
            if (m->lives.release[k] != NO_ROW)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%u", m->lives.release[k]);
        }
        assert_string_equal(text, row[i].lives);
        assert_int_equal(p.host.source.lost.by[LOSS_UNPAIRED].n, row[i].n_unpaired);
        arena_free(p.host.source.mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(allocations_end_with_their_release) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
