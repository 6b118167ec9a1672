# SPDX-License-Identifier: Apache-2.0
"""The configuration files of an instance's Slurm."""
import re

CPUS, MEMORY_MIB = 8, 32000
FIRST_SLURMD_PORT = 6900

SLURM_CONF = """# One controller; several slurmds on this machine, each a node of its own.
ClusterName={cluster}
SlurmctldHost=controller(127.0.0.1)
SlurmUser=slurm
AuthType=auth/munge
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=/etc/slurm/jwt_hs256.key
CredType=cred/munge
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd-%n
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd-%n.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd-%n.log
SlurmctldDebug=verbose
SlurmdDebug=verbose
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,bf_continue
# No cgroups, no accounting: the nodes are this one machine.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SlurmdParameters=config_overrides
CommunicationParameters=NoCtldInAddrAny
ReturnToService=2
MinJobAge=300
KillWait=30
SlurmdTimeout=60
SlurmctldTimeout=60
MaxNodeCount=2000
TreeWidth=65533
{plugins}{nodes}"""

CGROUP_CONF = {"22.05": "CgroupAutomount=no\n", "": "CgroupPlugin=disabled\n"}


def node_lines(nodes: int, real_nodes: int, external_nodes: int) -> str:
    """NodeName and PartitionName lines; the nodes' names are worker*, real* and ext*."""
    lines, port, batch = [], FIRST_SLURMD_PORT, []
    for prefix, count, cpus, memory in (("worker", nodes, CPUS, MEMORY_MIB), ("real", real_nodes, 1, 2000)):
        if count:
            batch.append(f"{prefix}[0-{count - 1}]")
            lines.append(f"NodeName={prefix}[0-{count - 1}] NodeAddr=127.0.0.1 Port=[{port}-{port + count - 1}] "
                         f"CPUs={cpus} RealMemory={memory} State=UNKNOWN")
            port += count
    if batch:
        lines.append(f"PartitionName=batch Nodes={','.join(batch)} Default=YES MaxTime=INFINITE State=UP")
    if external_nodes:
        lines.append("NodeSet=external Feature=external")
        lines.append("PartitionName=external Nodes=external MaxTime=INFINITE State=UP"
                     + ("" if batch else " Default=YES"))
    return "\n".join(lines) + "\n"


def slurm_conf(cluster: str, nodes: str, job_submit: bool, prep: bool, extra: str = "") -> str:
    """slurm.conf; the plugins are named only when they are installed. EXTRA lines win over ours."""
    plugins = ("JobSubmitPlugins=k8s\n" if job_submit else "") + ("PrepPlugins=k8s\n" if prep else "")
    text = SLURM_CONF.format(cluster=cluster, plugins=plugins, nodes=nodes)
    for key in re.findall(r"^(\w+)=", extra, re.M):
        if key not in ("NodeName", "PartitionName", "NodeSet", "DownNodes"):
            text = re.sub(rf"^{key}=.*\n", "", text, flags=re.M)
    return text + extra
