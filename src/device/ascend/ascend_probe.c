/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ascend/ascend_library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/process/limited_call.h"
#include "raw/chip.h"

enum { PROBE_LIMIT_S = 10 };
static const char not_installed[] = "no library, no /dev/davinci*";
/* Modules and kinds of information of halGetDeviceInfo(). */
enum { OF_SYSTEM = 0, OF_AI_CPU = 1, OF_CUBE = 4, OF_VECTOR = 7 };
enum { INFO_VERSION = 1, INFO_CORES = 3, INFO_MHZ = 4, INFO_HOST_KHZ = 24, INFO_DEVICE_KHZ = 25 };

uint32_t ascend_limit_s(void)
{
    return limit_seconds("ASCOPE_ASCEND_LIMIT_S");
}

/* ---- what is asked ---- */

static void in_call(struct ascend_machine *m, const char *name)
{
    snprintf(m->calls, sizeof m->calls, "%s", name);
}

static int64_t info(const struct ascend_calls *c, uint32_t device, int32_t module, int32_t what, int64_t otherwise)
{
    int64_t value = 0;
    return c->drv_info && c->drv_info(device, module, what, &value) == 0 && value >= 0 ? value : otherwise;
}

/* The usual MHz of the counter in device records, for drivers that do not report it. */
static double usual_mhz(int32_t platform)
{
    static const struct {
        int32_t platform;
        double mhz;
    } known[] = { { 0, 19.2 }, { 1, 100 }, { 2, 38.4 },  { 4, 38.4 },  { 5, 50 },   { 7, 48 },
                  { 8, 48 },   { 11, 48 }, { 12, 38.4 }, { 15, 1000 }, { 16, 1000 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].platform == platform)
            return known[i].mhz;
    return 50;
}

static void device_ask(const struct ascend_machine *m, const struct ascend_calls *c, struct ascend_device *d)
{
    enum { CHIP_SHIFT = 8, CHIP_MASK = 0xff, KHZ = 1000 };
    const int64_t version = info(c, d->id, OF_SYSTEM, INFO_VERSION, -1);
    d->platform = version < 0 ? -1 : (int32_t)(version >> CHIP_SHIFT & CHIP_MASK);
    const struct chip *const chip = chip_of(d->platform);
    d->n_cube = (uint32_t)info(c, d->id, OF_CUBE, INFO_CORES, chip->n_cube);
    d->n_vector = (uint32_t)info(c, d->id, OF_VECTOR, INFO_CORES, chip->n_vector);
    d->n_ai_cpu = (uint32_t)info(c, d->id, OF_AI_CPU, INFO_CORES, 0);
    d->core_mhz = (uint32_t)info(c, d->id, OF_CUBE, INFO_MHZ, chip->core_mhz);
    d->vector_mhz = (uint32_t)info(c, d->id, OF_VECTOR, INFO_MHZ, d->core_mhz);
    const bool knows = m->driver_version >= ASCEND_COUNTERS_VERSION;
    const int64_t khz = knows ? info(c, d->id, OF_SYSTEM, INFO_DEVICE_KHZ, 0) : 0;
    d->counter_mhz = khz > 0 ? (double)khz / KHZ : usual_mhz(d->platform);
}

static void devices_ask(struct ascend_machine *m, const struct ascend_calls *c)
{
    uint32_t n = 0, ids[ASCEND_DEVICES];
    in_call(m, "halGetAPIVersion");
    if (!c->drv_version || c->drv_version(&m->driver_version) != 0)
        m->driver_version = 0;
    in_call(m, "drvGetDevNum");
    m->count_error = c->drv_count ? c->drv_count(&n) : 0;
    if (m->count_error != 0)
        n = 0;
    if (n > ASCEND_DEVICES)
        n = ASCEND_DEVICES;
    for (uint32_t i = 0; i < n; i++)
        ids[i] = i;
    in_call(m, "drvGetDevIDs");
    if (n > 0 && c->drv_ids && c->drv_ids(ids, n) != 0)
        for (uint32_t i = 0; i < n; i++)
            ids[i] = i;
    in_call(m, "halGetDeviceInfo");
    m->counts_ns = n > 0 && info(c, 0, OF_SYSTEM, INFO_HOST_KHZ, 0) <= 0;
    for (uint32_t i = 0; i < n; i++) {
        m->device[i] = (struct ascend_device){ .id = ids[i] };
        device_ask(m, c, &m->device[i]);
    }
    m->n = n;
    in_call(m, "");
}

static void machine_ask(struct ascend_machine *m, bool everything)
{
    struct ascend_calls c;
    in_call(m, "dlopen");
    m->has_needed = ascend_load(&c, m->library, everything);
    in_call(m, "aclrtGetVersion");
    if (c.rt_version && c.rt_version(&m->acl_version[0], &m->acl_version[1], &m->acl_version[2]) != 0)
        memset(m->acl_version, 0, sizeof m->acl_version);
    devices_ask(m, &c);
}

static void probe_in_child(void *shared)
{
    machine_ask(shared, false);
}

static void examine_in_child(void *shared)
{
    machine_ask(shared, true);
}

/* ---- what that means ---- */

/* Runs `ask` in a child process and copies its result. limited_child() returns after the child has ended or was killed,
 * so that nobody writes to the shared memory during the copy. */
static enum child_end ask_in_child(struct ascend_machine *to, void (*ask)(void *), int *signal_is)
{
    struct ascend_machine *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return CHILD_NONE;
    const uint32_t asked_s = ascend_limit_s(), limit_s = asked_s < PROBE_LIMIT_S ? asked_s : PROBE_LIMIT_S;
    const enum child_end how = limited_child(ask, shared, limit_s, signal_is);
    *to = *shared;
    munmap(shared, sizeof *shared);
    return how;
}

/* What is wrong; "": nothing is. */
static void trouble_of(const struct ascend_machine *m, enum child_end how, int signal_is, char text[200])
{
    const char *const in = *m->calls ? m->calls : "a library";
    *text = '\0';
    if (how == CHILD_CRASHED)
        snprintf(text, 200, "%s crashed (%s) during the probe", in, strsignal(signal_is));
    else if (how == CHILD_HUNG)
        snprintf(text, 200, "%s did not return during the probe", in);
    else if (how == CHILD_NONE)
        snprintf(text, 200, "no process could be created for the probe");
    else if (*m->calls)
        snprintf(text, 200, "%s ended the probing process", in);
    else if (!m->library[ASCEND_DRIVER].found)
        snprintf(text, 200, "%s not found", ascend_libraries[ASCEND_DRIVER].name);
    else if (!m->library[ASCEND_MSPROFILER].found)
        snprintf(text, 200, "%s not found", ascend_libraries[ASCEND_MSPROFILER].name);
    else if (!m->has_needed)
        snprintf(text, 200, "the installed libraries do not have %.150s",
                 *m->library[ASCEND_MSPROFILER].missing ? m->library[ASCEND_MSPROFILER].missing
                                                        : m->library[ASCEND_DRIVER].missing);
    else if (m->count_error != 0)
        snprintf(text, 200, "drvGetDevNum: error %d", m->count_error);
    else if (m->n == 0)
        snprintf(text, 200, "the driver has no device");
}

static void ask_again(void *at)
{
    struct ascend_machine *m = at;
    machine_ask(m, false);
}

/* Asks the driver in this process: it may refuse a child of the process that has opened it. */
static void machine_ask_here(struct ascend_machine *m)
{
    struct ascend_machine *own = calloc(1, sizeof *own);
    if (own && limited_call(ask_again, own, PROBE_LIMIT_S)) {
        *m = *own;
        free(own);
    } /* else a call has not returned and still uses `own` */
}

static struct {
    struct ascend_machine machine;
    char trouble[200];
} probed;

static void probe_once(void)
{
    int signal_is = 0;
    if (!ascend_is_installed()) {
        snprintf(probed.trouble, sizeof probed.trouble, "%s", not_installed);
        return;
    }
    const enum child_end how = ask_in_child(&probed.machine, probe_in_child, &signal_is);
    if (how == CHILD_DONE && probed.machine.n == 0 && ascend_is_loaded(ASCEND_DRIVER))
        machine_ask_here(&probed.machine);
    trouble_of(&probed.machine, how, signal_is, probed.trouble);
    if (*probed.trouble)
        probed.machine.n = 0;
}

const struct ascend_machine *ascend_probe(struct error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, probe_once);
    if (*probed.trouble)
        error_set(e, FAULT_ASKED, "%s", probed.trouble);
    return &probed.machine;
}

/* ---- for ascope doctor ---- */

static void found_report(const struct ascend_machine *m, int i, struct machine_finding *f)
{
    const struct ascend_loaded *const l = &m->library[i];
    const int used = snprintf(f->fact, sizeof f->fact, "%s", l->path);
    if (i == ASCEND_ACL && m->acl_version[0] > 0)
        snprintf(f->fact + used, sizeof f->fact - (size_t)used, ", version %d.%d.%d", m->acl_version[0],
                 m->acl_version[1], m->acl_version[2]);
    if (i == ASCEND_DRIVER && m->driver_version > 0)
        snprintf(f->fact + used, sizeof f->fact - (size_t)used, ", version 0x%x", (unsigned)m->driver_version);
    snprintf(f->effect, sizeof f->effect, "%s", ascend_libraries[i].what);
    if (!*l->missing)
        return;
    f->state = FINDING_LIMITED;
    snprintf(f->effect, sizeof f->effect, "%s; without %.150s", ascend_libraries[i].what, l->missing);
    snprintf(f->advice, sizeof f->advice, "a newer release has these functions");
}

static void library_report(const struct ascend_machine *m, int i, bool is_installed, finding_report *report, void *to)
{
    const struct ascend_loaded *const l = &m->library[i];
    struct machine_finding f = { .state = l->found       ? FINDING_OK
                                          : is_installed ? FINDING_MISSING
                                                         : FINDING_NOT_APPLICABLE };
    snprintf(f.name, sizeof f.name, "%s", ascend_libraries[i].name);
    ascend_places((enum ascend_library_id)i, f.place, sizeof f.place);
    if (l->found) {
        found_report(m, i, &f);
    } else {
        const bool is_file = *l->reason && !strstr(l->reason, "No such file"); /* one that cannot be loaded */
        snprintf(f.fact, sizeof f.fact, "%s", is_file ? l->reason : "not found");
    }
    if (!l->found && is_installed) {
        snprintf(f.effect, sizeof f.effect, "not available: %s", ascend_libraries[i].what);
        snprintf(f.advice, sizeof f.advice, "install %s, or source its set_env.sh",
                 ascend_libraries[i].is_of_driver ? "the driver" : "the CANN toolkit");
    }
    report(to, &f);
}

static void devices_report(const struct ascend_machine *m, bool is_installed, const char *trouble,
                           finding_report *report, void *to)
{
    struct machine_finding f = { .state = !is_installed ? FINDING_NOT_APPLICABLE
                                          : *trouble    ? FINDING_MISSING
                                                        : FINDING_OK,
                                 .name = "Ascend NPUs" };
    snprintf(f.place, sizeof f.place, "/dev/davinci*, the driver");
    snprintf(f.fact, sizeof f.fact, "%s", trouble);
    snprintf(f.effect, sizeof f.effect,
             *trouble ? "only the host is recorded"
                      : "recorded in programs that use ACL (device=auto), or with device=ascend");
    for (uint32_t i = 0; !*trouble && i < m->n; i++) {
        const struct ascend_device *d = &m->device[i];
        const size_t n = strlen(f.fact);
        snprintf(f.fact + n, sizeof f.fact - n, "%sdevice %u: %s, %u AI cores, %u vector cores, %u MHz",
                 n > 0 ? "; " : "", d->id, chip_of(d->platform)->product, d->n_cube, d->n_vector, d->core_mhz);
    }
    if (*trouble && is_installed)
        snprintf(f.advice, sizeof f.advice, "npu-smi info shows what the driver sees");
    report(to, &f);
}

void ascend_examine(finding_report *report, void *to)
{
    struct ascend_machine *m = calloc(1, sizeof *m);
    char trouble[200];
    int signal_is = 0;
    if (!m)
        return;
    const bool is_installed = ascend_is_installed();
    snprintf(trouble, sizeof trouble, "%s", not_installed);
    if (is_installed)
        trouble_of(m, ask_in_child(m, examine_in_child, &signal_is), signal_is, trouble);
    for (int i = 0; i < ASCEND_LIBRARIES; i++)
        library_report(m, i, is_installed, report, to);
    devices_report(m, is_installed, trouble, report, to);
    free(m);
}
