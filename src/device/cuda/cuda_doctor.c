/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cuda.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/process/limited_call.h"
#include "device/cuda/cupti_library.h"

enum { CUDA_NVML = CUDA_LIBRARIES, LOOKED_FOR };

struct machine {
    struct cuda_found found[LOOKED_FOR];
    bool is_whole, has_nvml, with_nvml, has_failed;
    uint32_t version, n_nvml;
    int32_t n;
    char in[40]; /* the call that the child is in; "": it is done */
};

static void cuda_doctor_look(void *shared)
{
    struct machine *const m = shared;
    struct cupti_calls calls;
    m->n = 0;
    snprintf(m->in, sizeof m->in, "dlopen");
    m->is_whole = cupti_load(&calls, m->found);
    snprintf(m->in, sizeof m->in, "cuptiGetVersion");
    if (calls.version && calls.version(&m->version) != 0)
        m->version = 0;
    snprintf(m->in, sizeof m->in, "cuDeviceGetCount");
    m->n = cuda_count(&calls);
    snprintf(m->in, sizeof m->in, "%s", m->with_nvml ? "NVML" : "");
    if (!m->with_nvml)
        return;
    m->has_nvml = nvml_look(&m->found[CUDA_NVML], &m->n_nvml);
    m->in[0] = '\0';
}

static void library_report(const struct machine *m, unsigned i, finding_report *report, void *to)
{
    static const struct {
        const char *name, *effect, *missing, *advice;
    } of[] = {
        [CUDA_CUPTI] = { "libcupti.so", "kernels, copies and their calls are recorded", "only the host is recorded",
                         "install CUDA's CUPTI, or set CUDA_HOME" },
        [CUDA_DRIVER] = { "libcuda.so.1", "GPUs are found", "only the host is recorded", "install the driver" },
        [CUDA_NVML] = { "libnvidia-ml.so.1", "clocks, power, temperature, memory and links of GPUs are sampled",
                        "counters of GPUs are not recorded", "install the driver's libnvidia-ml" },
    };
    const struct cuda_found *const f = &m->found[i];
    const bool is_good = f->is_found && !*f->missing && (i != CUDA_NVML || m->has_nvml);
    struct machine_finding out = { .state = is_good    ? FINDING_OK
                                            : m->n > 0 ? FINDING_MISSING
                                                       : FINDING_NOT_APPLICABLE };
    snprintf(out.name, sizeof out.name, "%s", of[i].name);
    if (i == CUDA_NVML)
        snprintf(out.place, sizeof out.place, "the loader's search path");
    else
        cuda_places((enum cuda_library)i, out.place, sizeof out.place);
    if (!f->is_found)
        snprintf(out.fact, sizeof out.fact, "%s", i != CUDA_NVML && *f->reason ? f->reason : "not found");
    else if (*f->missing)
        snprintf(out.fact, sizeof out.fact, "%.200s has no %s", f->path, f->missing);
    else if (!is_good)
        snprintf(out.fact, sizeof out.fact, "%.200s: %.100s", f->path, *f->reason ? f->reason : "it does not answer");
    else if (i == CUDA_CUPTI)
        snprintf(out.fact, sizeof out.fact, "%.250s, version %u", f->path, m->version);
    else if (i == CUDA_NVML)
        snprintf(out.fact, sizeof out.fact, "%.250s, GPUs: %u", f->path, m->n_nvml);
    else
        snprintf(out.fact, sizeof out.fact, "%.300s", f->path);
    if (out.state == FINDING_OK)
        snprintf(out.effect, sizeof out.effect, "%s", of[i].effect);
    if (out.state == FINDING_MISSING) {
        snprintf(out.effect, sizeof out.effect, "%s", of[i].missing);
        snprintf(out.advice, sizeof out.advice, "%s", of[i].advice);
    }
    report(to, &out);
}

/* What is wrong; "": nothing is. */
static void trouble_of(const struct machine *m, enum child_end how, int signal_is, char text[200])
{
    *text = '\0';
    if (how == CHILD_NONE)
        snprintf(text, 200, "no process could be created for the probe");
    else if (how == CHILD_CRASHED)
        snprintf(text, 200, "%s crashed (%s) during the probe", m->in, strsignal(signal_is));
    else if (*m->in)
        snprintf(text, 200, "%s %s", m->in,
                 how == CHILD_HUNG ? "did not return during the probe" : "ended the probing process");
    else if (m->n <= 0 && !m->found[CUDA_DRIVER].is_found)
        cuda_absence(&m->found[CUDA_DRIVER], "libcuda.so.1", text, 200);
    else if (m->n <= 0)
        snprintf(text, 200, "the driver has no device");
    else if (!m->found[CUDA_CUPTI].is_found)
        cuda_absence(&m->found[CUDA_CUPTI], "libcupti.so", text, 200);
    else if (!m->is_whole)
        snprintf(text, 200, "libcupti.so lacks functions");
    else if (m->version < CUPTI_LEAST_VERSION)
        snprintf(text, 200, "version %u of CUPTI is too old; CUDA 10.2 or newer is needed", m->version);
}

/* What the child found, and what is wrong with it. The caller unmaps the result; NULL: no memory. */
static struct machine *look_in_child(bool with_nvml, char trouble[200])
{
    enum { PROBE_LIMIT_S = 10 };
    const uint32_t asked_s = cuda_limit_s();
    struct machine *const m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int signal_is = 0;
    snprintf(trouble, 200, "looking for it: %s", no_memory_text());
    if (m == MAP_FAILED)
        return NULL;
    m->with_nvml = with_nvml;
    const enum child_end how =
        limited_child(cuda_doctor_look, m, asked_s < PROBE_LIMIT_S ? asked_s : PROBE_LIMIT_S, &signal_is);
    m->has_failed = how == CHILD_CRASHED || how == CHILD_HUNG;
    trouble_of(m, how, signal_is, trouble);
    return m;
}

bool cuda_can_load(struct error *e)
{
    static char trouble[200];
    static bool has_looked;
    struct machine *const m = has_looked ? NULL : look_in_child(false, trouble);
    has_looked = true;
    if (m)
        munmap(m, sizeof *m);
    return !*trouble || error_set(e, FAULT_ASKED, "%s", trouble);
}

void cuda_examine(finding_report *report, void *to)
{
    char trouble[200];
    struct machine_finding out = { .name = "NVIDIA GPUs" };
    struct machine *const m = look_in_child(true, trouble);
    for (unsigned i = 0; m && i < LOOKED_FOR; i++)
        library_report(m, i, report, to);
    snprintf(out.place, sizeof out.place, "/dev/nvidia*, the driver");
    out.state = !*trouble ? FINDING_OK : m && (m->n > 0 || m->has_failed) ? FINDING_MISSING : FINDING_NOT_APPLICABLE;
    if (*trouble)
        snprintf(out.fact, sizeof out.fact, "%s", trouble);
    else
        snprintf(out.fact, sizeof out.fact, "%d", m->n);
    snprintf(out.effect, sizeof out.effect,
             *trouble ? "only the host is recorded"
                      : "recorded in programs that use CUDA (device=auto), or with device=cuda");
    report(to, &out);
    if (m)
        munmap(m, sizeof *m);
}
