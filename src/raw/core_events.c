/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/core_events.h"

#include <string.h>

/* clang-format off */
#define SAME(name, on, events) { name, on, name, events, name, events }
static const struct core_events groups[] = {
    /* Cube cores count the pipelines with events of their own, and sample.json gives that list a name of its own. */
    { "PipeUtilization", ON_A2, "PipeUtilizationExct", "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55",
      "PipeUtilization", "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55" },
    SAME("PipeUtilization", ON_950, "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714"),
    SAME("PipeUtilization", ON_ALL & ~(ON_A2 | ON_950), "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"),
    SAME("PipelineExecuteUtilization", ON_310B, "0x12c,0x49,0x4a,0x9,0x302,0xc,0xd,0x303"),
    SAME("ArithmeticUtilization", ON_950, "0x323,0x324"),
    SAME("ArithmeticUtilization", ON_ALL & ~ON_950, "0x49,0x4a,0x4b,0x4c,0x4d,0x4e,0x4f"),
    SAME("Memory", ON_950, "0x400,0x401,0x56f,0x571,0x570,0x572,0x707,0x709"),
    SAME("Memory", ON_ALL & ~ON_950, "0x15,0x16,0x31,0x32,0xf,0x10,0x12,0x13"),
    SAME("MemoryL0", ON_950, "0x304,0x703,0x306,0x705,0x712,0x30a,0x308"),
    SAME("MemoryL0", ON_ALL & ~ON_950, "0x1b,0x1c,0x21,0x22,0x27,0x28,0x29,0x2a"),
    SAME("MemoryUB", ON_950, "0x3,0x5,0x70c,0x206,0x204,0x571,0x572"),
    SAME("MemoryUB", ON_ALL & ~(ON_310B | ON_950), "0x10,0x13,0x37,0x38,0x3d,0x3e,0x43,0x44"),
    SAME("MemoryUB", ON_310B, "0x37,0x38,0x1a5,0x1a6,0x17f,0x180,0x191"),
    SAME("ResourceConflictRatio", ON_950, "0x540,0x556,0x502,0x528"),
    SAME("ResourceConflictRatio", ON_ALL & ~ON_950, "0x64,0x65,0x66"),
    SAME("L2Cache", ON_950, "0x424,0x425,0x426,0x42a,0x42b,0x42c"),
    SAME("L2Cache", ON_STARS, "0x500,0x502,0x504,0x506,0x508,0x50a"),
    SAME("MemoryAccess", ON_A2, "0x32,0x3d,0x3e,0x206,0x20c,0x50c,0x50d,0x50e"),
};

/* What newer collectors request of the 950; two of these events are in no metric of the reference. */
static const struct core_events asked_of_950[] = {
    SAME("Memory", ON_950, "0x422,0x423,0x56f,0x571,0x570,0x572,0x707,0x709"),
};
/* clang-format on */

const struct core_events *core_events_asked(const char *name, const struct chip *chip)
{
    for (size_t i = 0; i < sizeof asked_of_950 / sizeof *asked_of_950; i++)
        if ((asked_of_950[i].on & chip->group) && strcmp(asked_of_950[i].name, name) == 0)
            return &asked_of_950[i];
    return core_events_find(name, chip);
}

const char *core_events_name(size_t i)
{
    static const char *const names[] = { "PipeUtilization",
                                         "ArithmeticUtilization",
                                         "Memory",
                                         "MemoryL0",
                                         "MemoryUB",
                                         "ResourceConflictRatio",
                                         "L2Cache",
                                         "MemoryAccess",
                                         "PipelineExecuteUtilization" };
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const struct core_events *core_events_find(const char *name, const struct chip *chip)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (groups[i].on & chip->group && strcmp(groups[i].name, name) == 0)
            return &groups[i];
    return NULL;
}
