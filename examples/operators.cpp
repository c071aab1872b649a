/* SPDX-License-Identifier: Apache-2.0 */
// operators.cpp - libascope in C++: ranges that end with their block, texts that nobody builds while nobody records.
//
//     operators [DIR]
#include <ascope/ascope.hpp>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// An operator with the shapes of its tensors.
class Operator
{
  public:
    Operator(const char *name, const std::vector<std::vector<int>> &sizes) : op(name)
    {
        if (!op)
            return; // not recorded: the text would cost more than the operator
        std::ostringstream text;
        for (std::size_t i = 0; i < sizes.size(); i++) {
            text << (i ? ";" : "");
            types += i ? ";float" : "float";
            for (std::size_t d = 0; d < sizes[i].size(); d++)
                text << (d ? "," : "") << sizes[i][d];
        }
        shapes = text.str();
        op->shapes = ascope_text_of(shapes.c_str());
        op->types = ascope_text_of(types.c_str());
    }

  private:
    std::string shapes, types; // before the operator: it reads them when it ends
    ascope::op op;
};

static double convolve(int size)
{
    Operator op("aten::convolution", { { 1, 3, size, size }, { 64, 3, 7, 7 } });
    double sum = 0;
    for (int i = 0; i < size * size; i++) {
        if (i % 4096 == 0)
            ascope::op inner("aten::empty");
        sum += 1.0 / (1 + i);
    }
    return sum;
}

int main(int n, char **arg)
{
    ascope::options o;
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "none"; // the host alone
    o.record_shapes = o.mstx = true;

    const auto ready = [](const char *path, void *) { std::cout << path << std::endl; };
    ascope::profiler profiler(o, nullptr, ready); // no schedule: every step
    double sum = 0;
    for (int step = 0; step < 4; step++) {
        ascope::range range("images", ascope::domain("loader"));
        for (int size : { 32, 64, 128 })
            sum += convolve(size);
        profiler.step();
    }
    return sum > 0 ? 0 : 1;
}
