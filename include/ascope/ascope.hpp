/* SPDX-License-Identifier: Apache-2.0 */
// ascope.hpp - libascope in C++11: operators, ranges and profilers that end with their block, also when an exception leaves it.
//
//     ascope::options o;
//     o.device = "none";
//     ascope::schedule plan;
//     plan.warmup = 1;
//     ascope::profiler profiler(o, &plan);
//     for (...) {
//         ascope::range range("batch", ascope::domain("loader"));
//         ascope::op op("my::operator");
//         ...
//         profiler.step();
//     }
//
// A thin layer: nothing here allocates or throws, and the C functions can be used beside it. Errors and threads are those of the C
// functions. While nothing is recorded an operator or a range costs a load and a branch.
#ifndef ASCOPE_ASCOPE_HPP
#define ASCOPE_ASCOPE_HPP

#include "ascope/ascope.h"

namespace ascope
{

// The options of a session, with their defaults.
struct options : ascope_options {
    options() { ascope_options_init(this); }
};

// A schedule of the steps that are recorded; all but `active` are 0.
struct schedule : ascope_schedule {
    explicit schedule(int64_t active_steps = 1) : ascope_schedule()
    {
        size = sizeof(ascope_schedule);
        active = active_steps;
    }
};

// The same name gives the same domain. Worth keeping where marks are frequent: finding it takes a search by name.
inline ascope_domain *domain(const char *name)
{
    return ascope_domain_get(name);
}

// A point in time.
inline void mark(const char *message, ascope_domain *domain = nullptr, void *stream = nullptr)
{
    ascope_mark(domain, message, stream);
}

// A range of the user: from here to the end of the block. With a stream on the device, too.
class range
{
  public:
    explicit range(const char *message, ascope_domain *domain = nullptr, void *stream = nullptr)
        : domain_(domain), id_(ascope_range_begin(domain, message, stream))
    {
    }
    ~range() { ascope_range_end(domain_, id_); }
    range(const range &) = delete;
    range &operator=(const range &) = delete;

  private:
    ascope_domain *domain_;
    uint64_t id_;
};

// An operator: from here to the end of the block. What fills its fields asks first whether it is recorded. Texts are lent: they have
// to live as long as the operator.
class op
{
  public:
    explicit op(const char *name) { ascope_op_begin(&op_, name); }
    ~op() { ascope_op_end(&op_); }
    op(const op &) = delete;
    op &operator=(const op &) = delete;

    explicit operator bool() const { return op_.begin != 0; } // it is recorded
    ascope_op *operator->() { return &op_; }

  private:
    ascope_op op_;
};

// Records the steps that a schedule selects. Without one it records everything from here to the end of the block, and marks no
// steps. Errors are reported as messages, and the program continues without a recording. One thread at a time.
class profiler
{
  public:
    explicit profiler(const ascope_options &o, const ascope_schedule *plan = nullptr, ascope_ready_fn ready = nullptr,
                      void *user = nullptr)
        : profiler_(ascope_profiler_new(&o, plan, ready, user))
    {
        ascope_profiler_start(profiler_);
    }
    ~profiler() { ascope_profiler_free(profiler_); }
    profiler(const profiler &) = delete;
    profiler &operator=(const profiler &) = delete;

    void step() { ascope_profiler_step(profiler_); }
    ascope_profiler *get() { return profiler_; }

  private:
    ascope_profiler *profiler_;
};

} // namespace ascope

#endif
