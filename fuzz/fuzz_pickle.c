/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of plain values: a pickle or JSON. Whatever is accepted can be walked to its end. */
#include "fuzz.h"
#include "load/plain/plain_value.h"

/* Shared values are walked once: as a tree they may be larger than any memory. */
static void walk(const struct plain *p)
{
    for (plain_id v = 1; v < p->node.n; v++) {
        const struct plain_node *node = &p->node.at[v];
        if (node->height > PLAIN_DEPTH)
            abort();
        for (uint32_t i = 0; node->kind >= PLAIN_LIST && i < node->n; i++)
            if (node->item[i] == 0 || node->item[i] >= p->node.n || p->node.at[node->item[i]].height >= node->height)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plain p;
    struct error e = { 0 };
    struct arena *mem = arena_new();
    if (mem && plain_read(&p, data, size, "fuzz", mem, &e)) {
        walk(&p);
        plain_integer(&p, plain_member(&p, p.root, "version"), 0);
    } else if (mem && e.fault == FAULT_NONE) {
        abort();
    }
    arena_free(mem);
    return 0;
}
