/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/describe/recording_files.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Numbers as /proc/cpuinfo has them. */
static const struct {
    const char *implementer, *name;
} maker[] = {
    { "0x41", "ARM" },       { "0x42", "Broadcom" }, { "0x43", "Cavium" },    { "0x44", "DigitalEquipment" },
    { "0x48", "HiSilicon" }, { "0x49", "Infineon" }, { "0x4d", "Freescale" }, { "0x4e", "NVIDIA" },
    { "0x50", "APM" },       { "0x51", "Qualcomm" }, { "0x56", "Marvell" },   { "0x69", "Intel" },
};
static const struct {
    const char *implementer, *part, *name;
} type[] = {
    { "0x41", "0xd03", "ARMv8_Cortex_A53" }, { "0x41", "0xd05", "ARMv8_Cortex_A55" },
    { "0x41", "0xd07", "ARMv8_Cortex_A57" }, { "0x41", "0xd08", "ARMv8_Cortex_A72" },
    { "0x41", "0xd09", "ARMv8_Cortex_A73" }, { "0x48", "0xd01", "TaishanV110" },
};

void proc_field(const char *path, const char *name, char *value, size_t size)
{
    FILE *f = fopen(path, "re");
    char line[512];
    *value = '\0';
    while (f && !*value && fgets(line, sizeof line, f)) {
        const size_t n = strlen(name);
        if (strncmp(line, name, n) != 0 || !strchr(" \t:", line[n]))
            continue;
        const char *at = line + n + strspn(line + n, " \t:");
        snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
    }
    if (f)
        fclose(f);
}

struct cpu_names cpu_names(const char *cpuinfo)
{
    struct cpu_names cpu;
    char implementer[32], part[32];
    proc_field(cpuinfo, "vendor_id", cpu.maker, sizeof cpu.maker);
    proc_field(cpuinfo, "model name", cpu.type, sizeof cpu.type);
    proc_field(cpuinfo, "CPU implementer", implementer, sizeof implementer);
    proc_field(cpuinfo, "CPU part", part, sizeof part);
    for (size_t i = 0; i < sizeof maker / sizeof *maker && !*cpu.maker; i++)
        if (strcasecmp(maker[i].implementer, implementer) == 0)
            snprintf(cpu.maker, sizeof cpu.maker, "%s", maker[i].name);
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) /* better than what the kernel calls it */
        if (strcasecmp(type[i].implementer, implementer) == 0 && strcasecmp(type[i].part, part) == 0)
            snprintf(cpu.type, sizeof cpu.type, "%s", type[i].name);
    return cpu;
}
