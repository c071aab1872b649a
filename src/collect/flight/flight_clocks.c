/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/flight/flight_parts.h"

bool flight_clocks_read(struct flight_clocks *c, const struct ascope_session *s, struct error *e)
{
    struct flight_reading r = { .host = host_clock_read() };
    for (unsigned i = 0; i < s->n_devices && i < FLIGHT_DEVICES_MOST; i++)
        if (!s->device->read_clock(i, &r.device[i], e))
            return false;
    if (c->n == 0)
        c->first = r.host;
    c->reading[c->n++ % FLIGHT_READINGS] = r;
    return true;
}

static const struct flight_reading *last_reading(const struct flight_clocks *c)
{
    return &c->reading[(c->n - 1) % FLIGHT_READINGS];
}

/* The last reading before an instant that includes the device; if there is none, the first one that includes it. */
static const struct flight_reading *reading_before(const struct flight_clocks *c, uint64_t ns, unsigned device)
{
    const struct flight_reading *found = last_reading(c);
    for (uint64_t i = c->n; i-- > 0 && c->n - i <= FLIGHT_READINGS;) {
        const struct flight_reading *const r = &c->reading[i % FLIGHT_READINGS];
        if (device < FLIGHT_DEVICES_MOST && r->device[device].host_mono_raw_ns == 0)
            break;
        found = r;
        if (r->host.mono_raw_ns <= ns)
            break;
    }
    return found;
}

/* The count of a clock after_ns after the reading a, from its rate between the readings a and b. */
static uint64_t count_at(uint64_t a, uint64_t b, int64_t between_ns, double nominal_mhz, int64_t after_ns)
{
    const double per_ns = between_ns > 0 ? (double)(int64_t)(b - a) / (double)between_ns : nominal_mhz / 1000;
    return a + (uint64_t)(int64_t)(per_ns * (double)after_ns);
}

void flight_clocks_set(const struct flight_clocks *c, struct ascope_session *s, uint64_t begin_ns)
{
    const struct flight_reading *const last = last_reading(c);
    const struct clock_reading *const a = &reading_before(c, begin_ns, FLIGHT_DEVICES_MOST)->host, *const b =
                                                                                                       &last->host;
    const int64_t after_ns = (int64_t)(begin_ns - a->mono_raw_ns);
    s->mhz = host_clock_mhz(&c->first, b);
    s->last = *b;
    s->first = (struct clock_reading){ .count = count_at(a->count, b->count, (int64_t)(b->mono_raw_ns - a->mono_raw_ns),
                                                         s->mhz, after_ns),
                                       .mono_raw_ns = begin_ns,
                                       .wall_ns = a->wall_ns + (uint64_t)after_ns,
                                       .uncertainty_ns = a->uncertainty_ns };
    for (unsigned i = 0; i < s->n_devices && i < FLIGHT_DEVICES_MOST; i++) {
        const struct device_reading *const x = &reading_before(c, begin_ns, i)->device[i], *const y = &last->device[i];
        const int64_t device_ns = (int64_t)(begin_ns - x->host_mono_raw_ns);
        s->devices[i].last = *y;
        s->devices[i].first = (struct device_reading){
            .host_count = s->first.count,
            .host_mono_raw_ns = begin_ns,
            .device_count =
                count_at(x->device_count, y->device_count, (int64_t)(y->host_mono_raw_ns - x->host_mono_raw_ns),
                         s->devices[i].is.counter_mhz, device_ns),
            .device_mono_ns = x->device_mono_ns + (uint64_t)device_ns,
            .uncertainty_ns = x->uncertainty_ns,
        };
    }
}
