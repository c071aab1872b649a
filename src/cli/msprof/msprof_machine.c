/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/msprof/msprof_line.h"

#include <glob.h>
#include <unistd.h>

/* Device nodes of vNPUs, parts of a device, have numbers from 100. */
static bool has_part_of_device(void)
{
    glob_t found;
    const bool is_there = glob("/dev/davinci[1-9][0-9][0-9]", GLOB_NOSORT, NULL, &found) == 0;
    if (is_there)
        globfree(&found);
    return is_there;
}

static bool is_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

struct msprof_machine machine_here(struct devices_online *devices)
{
    devices_online(devices);
    return (struct msprof_machine){ .chip = devices->chip,
                                    .device = devices->id,
                                    .n_devices = devices->n,
                                    .is_virtual_device = is_container() && has_part_of_device() };
}
