/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a memory snapshot. What is accepted is judged, each device of it. */
#include "answers/memory/memory_judge.h"
#include "fuzz.h"
#include "load/plain/snapshot_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_snapshot s;
    struct memory_judged j;
    struct error e = { 0 };
    struct arena *mem = arena_new();
    if (mem && snapshot_load(&s, data, size, "fuzz", mem, &e)) {
        for (uint32_t device = 0; device < memory_judge_devices(&s); device++)
            if (memory_judge_has(&s, device))
                memory_judge(&j, &s, device, mem);
    } else if (mem && e.fault == FAULT_NONE) {
        abort();
    }
    arena_free(mem);
    return 0;
}
