# SPDX-License-Identifier: Apache-2.0
"""Process groups of torch.distributed: their names in results, and their members."""
import sys
from typing import Any, Dict

DEFAULT = "default_group"

_ended: Dict[str, Any] = {}  # groups destroyed during this recording, in the format of info()


def _in_use():
    """The module that holds the groups; None if torch.distributed is not initialised."""
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return sys.modules["torch.distributed.distributed_c10d"]
    return None


def _table(c10d, name):
    """PyTorch 2 has the tables in one object, older versions as separate variables."""
    world = getattr(c10d, "_world", None)
    return getattr(world, name) if world else getattr(c10d, "_" + name)


def name_of(group=None):
    """The name of a group in marks, communication.json and parallel_group_info. The same in all of its ranks."""
    c10d = _in_use()
    if not c10d or group is None or group is c10d._get_default_group():
        return DEFAULT
    return "group_name_%s" % _table(c10d, "pg_names").get(group, "")


def _label_of(group):
    """The user's description of a group, in versions of PyTorch that have it."""
    text = getattr(group, "group_desc", "")
    return text if text and text != "undefined" and name_of(group) != DEFAULT else name_of(group)


def place_in(group=None):
    """The rank of this process in a group, and the ranks of its members by their global rank."""
    c10d = _in_use()
    ranks = _table(c10d, "pg_group_ranks")[c10d._get_default_group() if group is None else group]
    return ranks[c10d.get_rank()], ranks


def place():
    """The rank of this process and the number of ranks; (0, 1) without torch.distributed."""
    c10d = _in_use()
    return (c10d.get_rank(), c10d.get_world_size()) if c10d else (0, 1)


def rank():
    """The global rank of this process, also after its groups were destroyed; None: torch.distributed was not initialised."""
    c10d = _in_use()
    return c10d.get_rank() if c10d else _ended.get(DEFAULT, {}).get("group_rank")


def begin():
    """Called when a recording begins: forgets the groups of the last one."""
    _ended.clear()


def end():
    """Called before groups are destroyed: keeps them for info()."""
    _ended.update(info())


def info():
    """For profiler_metadata.json: every group of this rank, including those that ended during the recording."""
    found, c10d = dict(_ended), _in_use()
    for group, ranks in _table(c10d, "pg_group_ranks").items() if c10d else ():
        rank = ranks.get(c10d.get_rank())
        if rank is None:
            continue
        found[name_of(group)] = {"group_name": _label_of(group), "group_rank": rank,
                                 "global_ranks": sorted(ranks, key=ranks.get)}
    return found
