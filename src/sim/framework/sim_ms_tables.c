/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_ms.h"

#include <stdio.h>

/* clang-format off */
const struct ms_cell ms_cells[] = {
    { "dense-Dense", "MatMul" },
    { "mlp-Dense", "MatMulExt" },
    { "attention-SelfAttention", "BatchMatMul" },
    { "conv-Conv2d", "Conv2D" },
    { "residual-Residual", "Add" },
    { "mlp-Gate", "Mul" },
    { "cast-Cast", "Cast" },
    { "attention-SelfAttention", "Transpose" },
    { "norm-RMSNorm", "RmsNorm" },
    { "attention-SelfAttention", "Softmax" },
    { "mlp-SwiGLU", "Swiglu" },
    { "rope-RotaryEmbedding", "RotaryPositionEmbedding" },
    { "mask-Mask", "ZerosLike" },
    { "fa-FlashAttention", "FlashAttentionScore" },
    { "fa-FlashAttention", "FlashAttentionScoreGrad" },
    { "moe-MoE", "GroupedMatmul" },
    { "moe-MoE", "MoeInitRouting" },
    { "dropout-Dropout", "DropoutGenMask" },
    { "scatter-Scatter", "IndexPut" },
};

const char *const ms_collective_names[] = {
    "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Send", "AlltoAll", "Receive", "Reduce", "CollectiveScatter",
};

const struct ms_node ms_nodes_sink[MS_NODES] = {
    { "DataQueue", 1, 0, { 1, -1 } },
    { "EpochCtrl", 1, 0, { 2, -1 } },
    { "Batch", 4, 16, { 3, -1 } },
    { "Map", 8, 64, { 4, -1 } },
    { "Shuffle", 1, 80, { 5, -1 } },
    { "TFReader", 4, 96, { -1, -1 } },
};

const struct ms_node ms_nodes_iterator[MS_NODES] = {
    { "EpochCtrl", 1, 0, { 1, -1 } },
    { "Batch", 2, 16, { 2, -1 } },
    { "Map", 8, 64, { 3, -1 } },
    { "Zip", 1, 0, { 4, 5 } },
    { "MindRecord", 4, 96, { -1, -1 } },
    { "Generator", 1, 32, { -1, -1 } },
};
/* clang-format on */

void ms_graph_name(size_t which, char *out, size_t size)
{
    snprintf(out, size, "Default/network-TrainOneStepCell/network-WithLossCell/_backbone-Net/%s/%s-op%zu",
             ms_cells[which].path, ms_cells[which].name, which);
}
