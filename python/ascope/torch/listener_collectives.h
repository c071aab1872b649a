/* SPDX-License-Identifier: Apache-2.0 */
/* listener_collectives.h - what PyTorch's NCCL backend says of a collective before it launches it: the operator
 * record_param_comms, with its parameters beside it (torch::ParamCommsDebugInfo). Versions that do not say the group
 * have nothing here.
 */
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>
#if __has_include(<torch/csrc/distributed/c10d/ParamCommsUtils.hpp>)
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#define HAS_PARAM_COMMS 1
#else
#define HAS_PARAM_COMMS 0
#endif

#include <algorithm>
#include <cstring>
#include <string>

#include "ascope/mark.h"

namespace
{

#if HAS_PARAM_COMMS
template <typename INFO>
auto collective_pass(const INFO *info, int) -> decltype(info->getProcessGroupName(), info->getInMessageNelems(), void())
{
    const std::string name = info->getCollectiveName(), group = info->getProcessGroupName();
    const bool is_default = info->getProcessGroupDesc() == "default_pg";
    const std::string shown = is_default ? "default_group" : "group_name_" + group; /* as _groups.py has them */
    ascope_collective c = {};
    c.size = sizeof c;
    c.name = name.c_str();
    c.group = shown.c_str();
    c.data_type = nullptr;
    switch (info->getDType()) {
    case c10::ScalarType::Char: c.data_type = "int8"; break;
    case c10::ScalarType::Byte:
    case c10::ScalarType::Bool: c.data_type = "uint8"; break;
    case c10::ScalarType::Int: c.data_type = "int32"; break;
    case c10::ScalarType::Long: c.data_type = "int64"; break;
    case c10::ScalarType::Half: c.data_type = "fp16"; break;
    case c10::ScalarType::BFloat16: c.data_type = "bf16"; break;
    case c10::ScalarType::Float: c.data_type = "fp32"; break;
    case c10::ScalarType::Double: c.data_type = "fp64"; break;
    default: break;
    }
    const int64_t count = std::max<int64_t>(info->getInMessageNelems(), info->getOutMessageNelems());
    c.count = count > 0 ? static_cast<uint64_t>(count) : 0;
    c.source_rank = c.destination_rank = -1;
    ascope_collective_launch(&c);
}

template <typename INFO> void collective_pass(const INFO *, long) {}
#endif

/* It has something to say each time. */
inline bool collective_is(const char *name)
{
    return HAS_PARAM_COMMS && strcmp(name, "record_param_comms") == 0;
}

/* In front of the launch. */
inline void collective_note(const char *name)
{
#if HAS_PARAM_COMMS
    if (!collective_is(name))
        return;
    const auto *const info = c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PARAM_COMMS_INFO);
    if (info)
        collective_pass(static_cast<const torch::ParamCommsDebugInfo *>(info), 0);
#else
    (void)name;
#endif
}

} // namespace
