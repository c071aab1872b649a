#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table of the database, every table file and every process of the timeline that the reference can write (the
tables of its newest published source) is written from some collection, or named here with the reason.

usage: test_reference_outputs.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ASCOPE = ROOT = None
DB_TABLES = """
    ACC_PMU AICORE_FREQ CANN_API CCU COMMUNICATION_OP COMMUNICATION_SCHEDULE_TASK_INFO COMMUNICATION_TASK_INFO
    COMPUTE_TASK_INFO CPU_USAGE DDR DPU_TASK ENUM_API_TYPE ENUM_HCCL_DATA_TYPE ENUM_HCCL_LINK_TYPE
    ENUM_HCCL_RDMA_TYPE ENUM_HCCL_TRANSPORT_TYPE ENUM_MEMCPY_OPERATION ENUM_MODULE ENUM_MSTX_EVENT_TYPE
    ENUM_OVERLAP_ANALYSIS_TYPE HBM HCCS HOST_DISK_USAGE HOST_INFO HOST_MEM_USAGE HOST_NETWORK_USAGE LLC MEMCPY_INFO
    META_DATA MSTX_EVENTS NETDEV_STATS NIC NPU_INFO NPU_MEM NPU_MODULE_MEM NPU_OP_MEM OSRT_API OVERLAP_ANALYSIS PCIE
    QOS RANK_DEVICE_MAP ROCE SAMPLE_PMU_SUMMARY SAMPLE_PMU_TIMELINE SESSION_TIME_INFO SIO SOC_BANDWIDTH_LEVEL
    STRING_IDS TASK TASK_PMU_INFO UB""".split()
TABLE_FILES = """
    ai_core_utilization ai_cpu_pmu_events ai_cpu_top_function ai_vector_core_utilization aicpu aicpu_mi api_statistic
    ccu_channel ccu_mission communication_statistic cpu_usage ctrl_cpu_pmu_events ctrl_cpu_top_function ddr dp dvpp
    fusion_op hbm hccs host_cpu_usage host_disk_usage host_mem_usage host_network_usage l2_cache llc_aicpu
    llc_bandwidth llc_ctrlcpu llc_read_write memory_record msprof_tx nic npu_mem npu_module_mem op_statistic
    op_summary operator_memory os_runtime_statistic page_fault pcie process_cpu_usage process_mem roce soc_pmu
    static_op_mem step_trace sys_mem task_time ts_cpu_pmu_events ts_cpu_top_function ub""".split()
PROCESSES = """
    AI Core Freq;AI Core Utilization;Acc PMU;Ascend Hardware;Biu Perf;Block Detail;Voltage Info;CANN;CCU;CPU Usage;
    Communication;DDR;DPU;Disk Usage;Fusion Task;HBM;HCCS;LLC;Memory Usage;NIC;NPU MEM;
    Network Usage;OS Runtime API;Overlap Analysis;PCIe;QoS;RoCE;SIO;Stars Chip Trans;Stars Soc Info;UB
    """.replace("\n", "").split(";")
# What no collection gives, and why.
UNREAD = {
    "llc_aicpu": "counters of the 310, whose form is not known", "llc_bandwidth": "the same", "llc_ctrlcpu": "the same",
}
JOBS = [[], ["--sample-based"]] + [["--chip", c] for c in ("A3", "910", "310", "310P", "310B", "950")]


def written():
    """-> tables, table files, processes of all JOBS and of the collections in tests/data"""
    tables, files, processes = set(), set(), set()
    data = os.path.join(ROOT, "tests/data")
    with tempfile.TemporaryDirectory() as scratch:
        profs = glob.glob(data + "/prof-a/PROF_*") + glob.glob(data + "/collector-a/*/PROF_*")
        for i, job in enumerate(JOBS):
            done = subprocess.run([ASCOPE, "sim", "--kernels", "40", "--out", "%s/%d" % (scratch, i)] + job,
                                  capture_output=True, text=True, check=True)
            profs.append(done.stdout.strip())
        for name in "950-a", "950-c":
            subprocess.run(["tar", "-C", scratch, "-xf", "%s/%s.tar.xz" % (data, name)], check=True)
            profs += glob.glob("%s/%s/PROF_*" % (scratch, name))
        for i, prof in enumerate(profs):
            out = "%s/out%d" % (scratch, i)
            for what in "all", "db":
                subprocess.run([ASCOPE, "export", what, "-dir", prof, "--out", out, "--dialect", "current", "--quiet"],
                               capture_output=True, check=False)
            for path in glob.glob(out + "/*/msprof_*.db"):
                with sqlite3.connect(path) as db:
                    tables |= {t for t, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            files |= {re.sub(r"_\d{14}.*", "", os.path.basename(f)) for f in glob.glob(out + "/*/*/*.csv")}
            for path in glob.glob(out + "/*/*/msprof_[0-9]*.json"):
                with open(path, encoding="utf-8") as f:
                    processes |= {e["args"]["name"] for e in json.load(f) if e["name"] == "process_name"}
    return tables, files, processes


class ReferenceOutputs(unittest.TestCase):
    def test_all_of_them_are_written_or_named(self):
        tables, files, processes = written()
        for what, wanted, found in (("table", DB_TABLES, tables), ("table file", TABLE_FILES, files),
                                    ("process", PROCESSES, processes)):
            missing = {w.strip() for w in wanted} - found
            self.assertEqual(missing, missing & UNREAD.keys(), "a %s that nothing wrote" % what)
            self.assertEqual(found & UNREAD.keys(), set(), "a %s that is written and called unread" % what)


if __name__ == "__main__":
    ASCOPE, ROOT = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1)
    unittest.main()
