/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include <stddef.h>

#include "device/ascend/ascend.h"
#include "device/ascend/mspti.h"
#include "device/cuda/cuda.h"
#include "device/sim_npu/sim_npu.h"

const struct device_kind *const device_kinds[] = { &ascend_kind, &cuda_kind, &mspti_kind, &sim_npu_kind, NULL };
