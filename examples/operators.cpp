// operators.cpp - libascope in C++: ranges that end with their block, texts that nobody builds while nobody records.
//
//     operators [DIR]
#include <ascope/ascope.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// An operator from its declaration to the end of the block, also when that is left by an exception.
class Operator
{
  public:
    explicit Operator(const char *name) { ascope_op_begin(&op, name); }
    Operator(const char *name, const std::vector<std::vector<int>> &shapes) : Operator(name)
    {
        if (op.begin == 0)
            return; // not recorded: the text would cost more than the operator
        std::ostringstream text;
        for (std::size_t i = 0; i < shapes.size(); i++) {
            text << (i ? ";" : "");
            types += i ? ";float" : "float";
            for (std::size_t d = 0; d < shapes[i].size(); d++)
                text << (d ? "," : "") << shapes[i][d];
        }
        this->shapes = text.str();
    }
    ~Operator()
    {
        op.shapes = ascope_text_of(shapes.c_str());
        op.types = ascope_text_of(types.c_str());
        ascope_op_end(&op);
    }
    Operator(const Operator &) = delete;
    Operator &operator=(const Operator &) = delete;

  private:
    ascope_op op;
    std::string shapes, types;
};

// A range of the user, in a domain or none.
class Range
{
  public:
    explicit Range(const char *message, ascope_domain *domain = nullptr)
        : domain(domain), id(ascope_range_begin(domain, message, nullptr))
    {
    }
    ~Range() { ascope_range_end(domain, id); }
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;

  private:
    ascope_domain *domain;
    std::uint64_t id;
};

static double convolve(int size)
{
    Operator op("aten::convolution", { { 1, 3, size, size }, { 64, 3, 7, 7 } });
    double sum = 0;
    for (int i = 0; i < size * size; i++) {
        if (i % 4096 == 0)
            Operator inner("aten::empty");
        sum += 1.0 / (1 + i);
    }
    return sum;
}

int main(int n, char **arg)
{
    ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "none"; // the host alone
    o.record_shapes = o.mstx = true;

    const auto ready = [](const char *path, void *) { std::cout << path << std::endl; };
    ascope_profiler *p = ascope_profiler_new(&o, nullptr, ready, nullptr); // no schedule: every step
    ascope_profiler_start(p);
    double sum = 0;
    for (int step = 0; step < 4; step++) {
        Range range("images", ascope_domain_get("loader"));
        for (int size : { 32, 64, 128 })
            sum += convolve(size);
        ascope_profiler_step(p);
    }
    ascope_profiler_stop(p);
    ascope_profiler_free(p);
    return sum > 0 ? 0 : 1;
}
