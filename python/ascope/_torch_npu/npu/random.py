# SPDX-License-Identifier: Apache-2.0
"""Random numbers of the device are those of the CPU: one generator for all devices."""
import torch


def manual_seed(seed):
    torch.default_generator.manual_seed(int(seed))


def seed():
    torch.default_generator.seed()


manual_seed_all, seed_all = manual_seed, seed


def initial_seed():
    return torch.initial_seed()


def get_rng_state(device="npu"):
    return torch.get_rng_state()


def set_rng_state(new_state, device="npu"):
    torch.set_rng_state(new_state)


def get_rng_state_all():
    return [torch.get_rng_state()]


def set_rng_state_all(new_states):
    for state in new_states:
        torch.set_rng_state(state)


def __getattr__(name):
    raise AttributeError("torch.npu.random.%s: not available without an NPU" % name)
