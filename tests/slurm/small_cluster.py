# SPDX-License-Identifier: Apache-2.0
"""A Slurm of this machine alone: munged, slurmctld and some slurmd from Debian's packages, with all files in one folder.

Nothing outside the folder is touched, and no port is fixed: several can run at the same time, and beside a real one.
"""
import getpass
import os
import pathlib
import signal
import socket
import subprocess
import time

CONF = """ClusterName=small
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={top}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool.%n
SlurmctldPidFile={top}/slurmctld.pid
SlurmdPidFile={top}/slurmd.%n.pid
SlurmctldLogFile={top}/slurmctld.log
SlurmdLogFile={top}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SlurmdTimeout=10
KillWait=1
ReturnToService=2
MinJobAge=600
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
"""


def ports(n):
    """n free ports in a row."""
    for first in range(20000 + os.getpid() % 10000, 60000, n):
        taken = []
        try:
            for port in range(first, first + n):
                one = socket.socket()
                taken.append(one)
                one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in taken:
                one.close()
    raise OSError("no free ports")


class SmallCluster:
    def __init__(self, top, nodes=3):
        self.top, self.nodes, self.running = pathlib.Path(top), nodes, {}
        self.top.mkdir(mode=0o755)
        for name in ["state"] + [f"spool.n{i + 1}" for i in range(nodes)]:
            (self.top / name).mkdir()
        first = ports(nodes + 1)
        conf = CONF.format(host=socket.gethostname().split(".")[0], port=first, first=first + 1, last=first + nodes, nodes=nodes, top=self.top,
                           user=getpass.getuser())
        (self.top / "slurm.conf").write_text(conf)
        key = self.top / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.environment = {**os.environ, "SLURM_CONF": str(self.top / "slurm.conf")}

    def start(self, name, *command):
        with open(self.top / f"{name}.out", "ab") as out:
            self.running[name] = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                  start_new_session=True)

    def start_node(self, name):
        self.start(name, "/usr/sbin/slurmd", "-D", "-N", name)

    def __enter__(self):
        top = self.top
        try:
            self.start("munged", "/usr/sbin/munged", "--foreground", "--force", f"--socket={top}/munge.socket", f"--key-file={top}/munge.key",
                       f"--pid-file={top}/munged.pid", f"--seed-file={top}/munge.seed", f"--log-file={top}/munged.log")
            self.wait(lambda: (top / "munge.socket").exists(), "munged")
            self.start("slurmctld", "/usr/sbin/slurmctld", "-D")
            for i in range(self.nodes):
                self.start_node(f"n{i + 1}")
            self.wait(lambda: self.states().count("idle") == self.nodes, "all nodes are idle")
        except BaseException:
            self.__exit__()
            raise
        return self

    def tool(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True)

    def states(self):
        return self.tool("sinfo", "--noheader", "--Node", "--format=%T").stdout.split()

    def node_of(self, job):
        return self.tool("squeue", "--noheader", "--states=running", f"--jobs={job}", "--format=%N").stdout.strip()

    def lose_node(self, name):
        """The machine is gone: its slurmd, and all that runs on it. Those that would report the end of others come first."""
        daemon = self.running.pop(name)
        jobs, steps = set(), set()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
                parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
                if str(self.top).encode() in environment and f"SLURMD_NODENAME={name}".encode() in environment.split(b"\0"):
                    jobs.add(int(folder.name))
                    if "slurmstepd" in pathlib.Path(f"/proc/{parent}/comm").read_text():
                        steps.add(int(parent))
            except (OSError, IndexError):
                continue
        for pid in [daemon.pid, *steps, *jobs]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        daemon.wait()

    def wait(self, condition, what, seconds=60):
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError(f"{what}; see {self.top}/*.log, *.out:\n" + self.logs())
            time.sleep(0.1)

    def logs(self):
        return "\n".join(f"{file.name}: {line}" for file in sorted(self.top.glob("*.out")) + sorted(self.top.glob("*.log"))
                         for line in file.read_text(errors="replace").splitlines()[-5:])

    def __exit__(self, *_):
        for name in sorted(self.running, reverse=True):
            daemon = self.running[name]
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
