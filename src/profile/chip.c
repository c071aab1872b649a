#include "profile/chip.h"

#include <stddef.h>

const char *chip_name(int platform)
{
    static const struct {
        int platform;
        const char *name;
    } chip[] = {
        {0,   "Ascend310" },
        { 1,  "Ascend910A"},
        { 4,  "Ascend310P"},
        { 5,  "Ascend910B"},
        { 7,  "Ascend310B"},
        { 15, "Ascend950" },
    };
    for (size_t i = 0; i < sizeof chip / sizeof *chip; i++)
        if (chip[i].platform == platform)
            return chip[i].name;
    return "UNKNOWN";
}
