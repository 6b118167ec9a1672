# SPDX-License-Identifier: Apache-2.0
"""Slurm in one instance: its files, its daemons, the plugins."""
import filecmp
import os
import platform
import re
import secrets
import shutil
from pathlib import Path

from . import accounting, defaults, slurm_conf
from .processes import Program, wait_for

LIBRARIES = f"usr/lib/{platform.machine()}-linux-gnu"
PLUGIN_DIR = f"{LIBRARIES}/slurm-wlm"

_DIRECTORIES = """set -e
install -d -o munge -g munge -m 755 /run/munge
install -d -o slurm -g slurm -m 755 /run/slurm /var/lib/slurm /var/lib/slurm/slurmctld /var/log/slurm
"""


class Slurm:
    """Writes the configuration into the space and knows the programs."""

    def __init__(self, space, cluster: str, release: str, nodes: int, external_nodes: int, real_nodes: int,
                 accounted: bool):
        self.space, self.cluster, self.release = space, cluster, release
        self.nodes, self.external_nodes, self.real_nodes = nodes, external_nodes, real_nodes
        self.accounted = accounted
        self.extra = ""  # lines of slurm.conf that win over the default ones

    def node_names(self):
        """Names of the nodes that have a slurmd."""
        return [f"worker{i}" for i in range(self.nodes)] + [f"real{i}" for i in range(self.real_nodes)]

    def configure(self) -> bool:
        """Write all files; whether slurm.conf changed."""
        self.space.run("sh", "-c", _DIRECTORIES)
        etc = self.space.root / "etc"
        hosts = " ".join(["controller", *self.node_names()])
        (etc / "hosts").write_text(f"127.0.0.1 localhost\n127.0.0.1 {hosts}\n")
        (etc / "slurm/cgroup.conf").write_text(slurm_conf.CGROUP_CONF.get(self.release, slurm_conf.CGROUP_CONF[""]))
        if not (etc / "slurm/jwt_hs256.key").exists():
            defaults.write(self.space, "etc/slurm/jwt_hs256.key", secrets.token_hex(32), "slurm", 0o600)
        lines = slurm_conf.node_lines(self.nodes, self.real_nodes, self.external_nodes)
        if self.accounted:
            accounting.configure(self.space)
            lines = accounting.SLURM_CONF + lines
        plugins = self.space.root / PLUGIN_DIR
        text = slurm_conf.slurm_conf(self.cluster, lines, (plugins / "job_submit_k8s.so").exists(),
                                     (plugins / "prep_k8s.so").exists(), self.extra)
        path = etc / "slurm/slurm.conf"
        changed = not path.is_file() or path.read_text() != text
        if changed:
            path.write_text(text)
        return changed

    def programs(self):
        """munged, slurmctld and the slurmds, in the order of their start; with accounting, its daemons second."""
        munged = Program("munged", ("munged", "--pid-file=/run/munge/munged.pid"), ("munge", "-n", "-o", "/dev/null"),
                         user="munge", pid_file="/run/munge/munged.pid")
        controller = Program("slurmctld", ("slurmctld",), ("scontrol", "ping"),
                             user="slurm", pid_file="/run/slurm/slurmctld.pid")
        accounts = [accounting.database(), accounting.slurmdbd()] if self.accounted else []
        return [munged, *accounts, controller] + [
            Program(f"slurmd-{name}", ("slurmd", "-N", name), ("sh", "-c", f"sinfo -h -n {name} -o %T | "
                    "grep -qE '^(idle|mixed|allocated|completing|drained|draining)$'"),
                    pid_file=f"/run/slurm/slurmd-{name}.pid", host_name=name) for name in self.node_names()]

    def loading_plugins(self):
        """The programs that load our plugins, or read slurm.conf only when they start."""
        return [p for p in self.programs() if p.name == "slurmctld" or p.name.startswith("slurmd-")]

    def start(self, start_all) -> None:
        """Start all of them in order; START_ALL starts a list of programs and waits until they are ready."""
        munged, *accounts, controller = (p for p in self.programs() if not p.name.startswith("slurmd-"))
        start_all([munged])
        if accounts:
            start_all(accounts[:1])
            accounting.make_database(self.space)
            start_all(accounts[1:])
            accounting.make_cluster(self.space, self.cluster)
        start_all([controller])
        start_all([p for p in self.programs() if p.name.startswith("slurmd-")])
        self._create_external_nodes()

    def _create_external_nodes(self) -> None:
        """The nodes without slurmd (26.05), unless slurmctld remembers them."""
        if self.external_nodes and self.space.run("scontrol", "show", "node", "ext0", check=False).returncode != 0:
            self.space.run("scontrol", "create", f"NodeName=ext[0-{self.external_nodes - 1}]", "NodeAddr=127.0.0.1",
                           "State=EXTERNAL", f"CPUs={slurm_conf.CPUS}", f"RealMemory={slurm_conf.MEMORY_MIB}",
                           "Feature=external")

    def install_plugins(self, build: Path) -> bool:
        """Copy BUILD/plugins/*.so; whether any is new. A loaded file is never overwritten, only replaced."""
        changed = False
        for source in sorted(Path(build).glob("plugins/*.so")):
            target = self.space.root / PLUGIN_DIR / source.name
            if target.is_file() and filecmp.cmp(source, target, shallow=False):
                continue
            install(source, target)
            changed = True
        return changed

    def reconfigure(self) -> None:
        """`scontrol reconfigure`, and wait until slurmctld answers again."""
        self.space.run("scontrol", "reconfigure")
        wait_for(lambda: self.space.run("scontrol", "ping", check=False).returncode == 0, 30, "slurmctld answers")

    def job(self, job_id) -> dict:
        """The fields of `scontrol show job`; {} for an unknown job."""
        done = self.space.run("scontrol", "show", "job", str(job_id), check=False)
        return parse_job(done.stdout) if done.returncode == 0 else {}


_WHOLE_LINE = ("AdminComment", "Comment", "SystemComment", "Extra", "Command", "WorkDir", "StdErr", "StdIn", "StdOut")


def parse_job(text: str) -> dict:
    """scontrol's description of one job as a dictionary; free text may hold spaces and "="."""
    fields = {}
    for line in text.splitlines():
        key, _, value = line.strip().partition("=")
        if key in _WHOLE_LINE:
            fields[key] = value
            continue
        for found in re.finditer(r"([A-Z][\w/:]*)=(.*?)(?=\s+[A-Z][\w/:]*=|$)", line.strip()):
            fields.setdefault(found[1], found[2])
    return fields


def install(source: Path, target: Path) -> None:
    """Copy beside and rename: a file in use keeps its contents."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.new")
    shutil.copyfile(source, beside)
    beside.chmod(0o755)
    os.rename(beside, target)
