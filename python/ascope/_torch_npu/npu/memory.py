# SPDX-License-Identifier: Apache-2.0
"""Memory of a device without memory: nothing is allocated there. Sizes are those of the host."""
import collections
import itertools
import os

_COUNTS = {
    "": ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes", "allocation", "segment",
         "active", "inactive_split"),
    "of_all": ("oversize_allocations", "oversize_segments"),
    "alone": ("num_alloc_retries", "num_ooms", "max_split_size", "num_sync_all_streams"),
}
_POOLS, _MOMENTS = ("all", "large_pool", "small_pool"), ("current", "peak", "allocated", "freed")


def memory_stats(device=None):
    """With the names of torch_npu; all 0."""
    names = itertools.chain(
        (".".join(parts) for parts in itertools.product(_COUNTS[""], _POOLS, _MOMENTS)),
        (".".join(parts) for parts in itertools.product(_COUNTS["of_all"], _MOMENTS)), _COUNTS["alone"])
    return collections.OrderedDict.fromkeys(sorted(names), 0)


def memory_stats_as_nested_dict(device=None):
    nested = {}
    for name, value in memory_stats().items():
        *outer, last = name.split(".")
        at = nested
        for part in outer:
            at = at.setdefault(part, {})
        at[last] = value
    return nested


def memory_summary(device=None, abbreviated=False):
    return "memory of an NPU: none is here; the CPU stands in, and its memory is the process's own\n"


def memory_snapshot(mempool_id=None):
    return []


def memory_allocated(device=None):
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated
host_memory_stats, host_memory_stats_as_nested_dict = memory_stats, memory_stats_as_nested_dict


def mem_get_info(device=None):
    """(free, total) bytes of this machine."""
    page = os.sysconf("SC_PAGE_SIZE")
    return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page


def get_allocator_backend():
    return "native"


def get_per_process_memory_fraction(device=None):
    return 1.0


def _nothing(*args, **kwargs):
    pass


empty_cache = empty_virt_addr_cache = host_empty_cache = ipc_collect = set_per_process_memory_fraction = _nothing
reset_accumulated_memory_stats = reset_peak_memory_stats = reset_max_memory_allocated = reset_max_memory_cached = _nothing
reset_accumulated_host_memory_stats = reset_peak_host_memory_stats = _nothing


def __getattr__(name):
    raise AttributeError("torch.npu.memory.%s: not available without an NPU" % name)
