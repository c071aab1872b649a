/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - registry: GPUs of NVIDIA: device work from CUPTI's activity API, the calls that launched it from its callback API.
 *
 * CUPTI has one user in a process: if there is another one (torch.profiler, nsys), only the host is recorded, with a
 * warning. No context is created and the driver is not initialised here: the GPUs that the program uses are recorded.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_H
#define ASCOPE_DEVICE_CUDA_CUDA_H

#include "base/text/error.h"
#include "base/text/finding.h"
#include "device/cuda/cupti_library.h"
#include "device/device.h"

extern const struct device_kind cuda_kind;

/* Sets whether the program is inside cuInit() on this thread, which has called us (cuda_injection.c). Meanwhile nothing
 * asks the driver, and nothing waits for another thread: both would deadlock. */
void cuda_in_init(bool is_in_init);

/* cuda_doctor.c: looks for the vendor's libraries and the GPUs of this machine in a child process, where a library
 * that crashes or hangs does no harm. */

/* Whether a process that has not loaded CUDA can do so. False: e has the reason. The child process runs only once. */
bool cuda_can_load(struct error *e);

/* For `ascope doctor`. */
void cuda_examine(finding_report *report, void *to);

/* cuda_launches.c: records the program's calls into CUDA that matter: launches, copies, sets, allocations, waits.
 *
 * CUPTI's callback API reports only these functions: a program makes about ten calls for each kernel, most of them
 * queries, and recording all of them would cost more than the kernels. CUPTI is asked for the name of each callback
 * id, so that no ids of a certain version are needed. A call is recorded on its thread, with times of the recorder's
 * clock and CUPTI's correlation id. */

/* Subscribes to CUPTI. Returns CUPTI's error code; 0: success. */
int32_t launches_start(const struct cupti_calls *c);
void launches_stop(const struct cupti_calls *c); /* unsubscribes; CUPTI stays attached to the process */
/* The same, and detaches CUPTI by cuptiFinalize(): while it is attached, the program's calls are slower. The vendor
 * requires that to be called at the exit of a CUDA call: `call` makes one on this thread, of a function that is
 * recorded. */
void launches_end(const struct cupti_calls *c, void (*call)(void));
void launches_name(void); /* records the names of the functions, at the start of a session */

bool launches_are_recorded(void); /* between start and stop; any thread */

/* Reports nodes of captured graphs to graph_nodes.h, on the threads that capture them. Shares the subscription; the last
 * user ends it, so that nothing costs anything afterwards. Not at the same time as the functions above. Returns CUPTI's
 * error code. */
int32_t nodes_start(const struct cupti_calls *c);
void nodes_end(const struct cupti_calls *c);
bool nodes_are_watched(void);

/* nvml_sampler.c: samples counters of GPUs ten times a second: clocks, power, temperature, memory, load, PCIe and
 * NVLink.
 *
 * They come from the vendor's library NVML, which is loaded at run time. A thread of its own calls it; only the end of
 * the recording waits for that thread, with a limit. Without the library there are no such counters, and a GPU has
 * those that it reports. */

/* Samples the devices of a bit mask, and those that have records later. False: it does not run, and there is nothing to
 * stop. */
bool nvml_start(const struct cupti_calls *c, uint64_t devices);
void nvml_ask_stop(void); /* asks the thread to end, without waiting */
/* Waits until the thread has ended. If it does not within the limit, that is reported, and NVML is not used again in
 * this process. */
void nvml_stop(uint32_t limit_s);

/* For `ascope doctor`: whether the library is there and answers. *n: the number of GPUs. */
bool nvml_look(struct cuda_found *found, uint32_t *n);

/* cuda_buffers.c: the memory that CUPTI fills with records, and the thread that takes them out of it.
 *
 * The number of buffers is fixed. CUPTI takes an empty one on a thread of the program (one atomic instruction) and
 * returns it full on a thread of its own; the recorder's thread converts its records and puts them into its ring.
 * Without an empty buffer CUPTI drops records and counts them. Every 20 ms the thread asks CUPTI for complete records,
 * so that a killed program loses no more than that. */

bool buffers_start(const struct cupti_calls *c, uint32_t version); /* false: no memory, or no thread */
cupti_buffer_wanted buffers_wanted;                                /* for cuptiActivityRegisterCallbacks() */
cupti_buffer_done buffers_done;
/* Calls a function once, when CUPTI asks for the next buffer: that is when the program begins to use its GPU. */
void buffers_at_first(void (*call)(void));
/* Drops records that began before this time of CUPTI's clock, as those of a warm-up. Until the first call all are
 * dropped. */
void buffers_keep_from(uint64_t ns);

struct buffer_losses {
    uint64_t n_dropped;  /* by CUPTI, which had no empty buffer */
    uint64_t n_unusable; /* without times, incomplete, or of a device above 63 */
};
struct buffer_losses buffers_stop(void); /* after cuptiActivityFlushAll(1): all other records are in the ring */

uint64_t buffers_devices(void); /* a bit for each device that had records since the process began */

#endif
