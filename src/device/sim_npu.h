/* sim_npu.h - the simulated NPU that runs in a program: the inside of ascope/sim.h, for the files sim_npu*.c.
 *
 * A process has one simulator: devices with streams, and one thread that works them off. Launching threads put tasks into
 * queues; the thread goes through what happens on each device in the order of its time, up to now. A task begins when it has
 * arrived, its stream is free, and what it waits for has happened; so when things happen does not depend on when the thread
 * gets to them, and a thread that oversleeps delays only those who wait for it.
 *
 * A device counts ticks of its own counter: another zero than the host's clocks, and a little faster or slower. One lock guards
 * everything but what is atomic; records go into rings while it is held, which never waits.
 */
#ifndef ASCOPE_DEVICE_SIM_NPU_H
#define ASCOPE_DEVICE_SIM_NPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "ascope/sim.h"
#include "device/device.h"
#include "device/sim_records.h"

extern const struct device_kind sim_npu_kind;

enum { NPU_MHZ = 50, NPU_NS_PER_TICK = 1000 / NPU_MHZ };
enum { NPU_DEVICES_MOST = 16, NPU_QUEUE_TASKS = 1024, NPU_STREAMS_MOST = 1024, NPU_PLANES = 3 };
static const uint64_t NEVER = UINT64_MAX; /* of times: not yet known */

/* ---- clock ---- */
struct npu_clock {
    uint64_t host_ns, tick, mono_ns; /* one instant: CLOCK_MONOTONIC_RAW, the counter, the device's own clock */
    uint32_t speed;                  /* counted in the time of a million ticks of an exact counter */
};
uint64_t npu_clock_tick(const struct npu_clock *c, uint64_t host_ns);
uint64_t npu_clock_ns(const struct npu_clock *c, uint64_t tick); /* of the host; not before the tick */

/* ---- what is recorded ---- */
enum npu_what {
    NPU_TASKS = 1, /* launches, task log, ACL and node calls */
    NPU_NODES = 2, /* operators: level 1 */
    NPU_TENSORS = 4,
    NPU_COMM = 8,
    NPU_CALLS = 16, /* runtime calls, copies: level 2 */
    NPU_AICPU = 32,
    NPU_COUNTERS = 64,
    NPU_L2 = 128,
    NPU_MEMORY = 256,
    NPU_MARKS = 512,
};
/* The bits, and above them the number of the session; 0: nothing is recorded. */
enum { NPU_SESSION_SHIFT = 32 };

struct npu_device {
    unsigned index; /* in this process */
    unsigned id;    /* on this machine: device_N */
    struct npu_clock clock;
};

struct npu {
    pthread_mutex_t lock;
    struct npu_device *device[NPU_DEVICES_MOST];
    unsigned n_devices;
};
extern struct npu npu;

struct npu_device *npu_device_get(unsigned index); /* makes it with the first use; NULL: more than there can be */

/* Numbers that the environment sets: ASCOPE_SIM_* and those of a job's launcher. */
long npu_setting(const char *name, long least, long most, long otherwise);

#endif
