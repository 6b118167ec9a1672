# SPDX-License-Identifier: Apache-2.0
"""One whole environment: Slurm, and a control plane beside it, in namespaces of its own.

Everything it writes lies below the cache folder, in instances/NAME. Any number can run at once.
"""
import json
import re
import shutil
import signal
from pathlib import Path

import yaml

from . import cache, defaults, slurm_root
from .control_plane import ControlPlane
from .prerequisites import prerequisites
from .processes import Processes, Program, wait_for
from .real_nodes import MOST, RealNodes
from .slurm import Slurm, install
from .space import Space
from .wrappers import write_wrappers

SIDECAR = Program("sidecar", ("/opt/slurm-k8s/bin/slurm-k8s-sidecar", "--config", "/etc/slurm-k8s/sidecar.yaml"),
                  ("sh", "-c", "curl -fsS http://127.0.0.1:8090/healthz || curl -fsSk https://127.0.0.1:8090/healthz"),
                  user="slurm-k8s")


def directory(name: str) -> Path:
    """The folder of that instance."""
    return cache.directory() / "instances" / name


class Instance:
    """Starts, stops and looks into one environment.

    codename: which Slurm (slurm_root.SLURM_OF). nodes: slurmds worker0, ... of 8 CPUs and 32000 MiB, each
    also a Kubernetes node that kwok drives. real_nodes: real0, real1 of 1 CPU and 2000 MiB with a kubelet
    and containerd beside the slurmd (26.05). external_nodes: the same without slurmd, ext0, ... (26.05 only).
    accounted: with slurmdbd and MariaDB, and jobs need an association.
    """

    def __init__(self, name, codename="forky", nodes=4, external_nodes=0, real_nodes=0, control_plane=True,
                 accounted=False):
        if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?", name):
            raise cache.EnvironmentError_(f"instance name {name!r}: use small letters, digits and '-'")
        if codename not in slurm_root.SLURM_OF:
            raise cache.EnvironmentError_(f"no Slurm {codename!r}: use {', '.join(slurm_root.SLURM_OF)}")
        if external_nodes and codename != "forky":
            raise cache.EnvironmentError_(f"Slurm {slurm_root.SLURM_OF[codename]} has no external nodes")
        if real_nodes and (codename != "forky" or not control_plane or real_nodes > MOST):
            raise cache.EnvironmentError_(f"real nodes: at most {MOST}, with a control plane and Slurm 26.05")
        self.name, self.directory = name, directory(name)
        self.options = {"codename": codename, "nodes": nodes, "external_nodes": external_nodes,
                        "real_nodes": real_nodes, "control_plane": control_plane, "accounted": accounted}
        self.space = Space(self.directory / "machine", "controller")
        self.processes = Processes(self.space, self.directory)
        self.slurm = Slurm(self.space, name, slurm_root.SLURM_OF[codename], nodes, external_nodes, real_nodes,
                           accounted)
        self.control_plane = ControlPlane(self.space, self.directory, nodes, external_nodes) if control_plane else None
        self.real_nodes = RealNodes(self.space, name, real_nodes)
        self.wait_for = wait_for

    @classmethod
    def load(cls, name: str) -> "Instance":
        """An instance as it was started. Raises EnvironmentError_ if there is none of that name."""
        try:
            return cls(name, **json.loads((directory(name) / "options.json").read_text()))
        except FileNotFoundError:
            raise cache.EnvironmentError_(f"there is no instance {name!r}") from None

    # --- whole life ------------------------------------------------------------------------------

    def start(self) -> "Instance":
        """Start whatever does not run yet; the first time makes everything, later times take seconds."""
        prerequisites()
        root = slurm_root.ensure(self.options["codename"])
        if self.control_plane:
            self.control_plane.ensure_binaries(["kubelet"] if self.real_nodes.names else [])
        with cache.lock(self.directory):
            self._remember_options()
            self.space.create(root, self.control_plane.binds() if self.control_plane else [])
            self._write_files()
            if self.control_plane:
                self._start_all([self.control_plane.etcd()])
                self.processes.start(self.control_plane.api_server())
            self.slurm.start(self._start_all)
            if self.control_plane:
                self._start_control_plane()
        return self

    def stop(self) -> None:
        """End every process; the state stays for the next start."""
        with cache.lock(self.directory):
            programs = self.programs()
            self.real_nodes.end(self.processes)
            self.processes.end([p for p in programs if p.name != "etcd"])
            self.processes.end(programs)
            self.space.end_all()
            self.real_nodes.remove_cgroups()
            if not self.space.in_memory():
                self.space.remove()

    def destroy(self) -> None:
        """End every process and delete the state."""
        with cache.lock(self.directory):
            self.real_nodes.end(self.processes)
            self.space.end_all(grace=0)
            self.real_nodes.remove_cgroups()
            self.space.remove()
            shutil.rmtree(self.directory, ignore_errors=True)
            Path(f"{self.directory}.lock").unlink()

    def status(self) -> dict:
        """Name of each program -> its process id, or None if it does not run."""
        return {program.name: self.processes.pid(program) for program in self.programs()}

    def programs(self):
        """All daemons, in the order of their start."""
        programs = self.slurm.programs()
        if self.control_plane:
            programs += [self.control_plane.etcd(), self.control_plane.api_server(),
                         *self.control_plane.controllers(), *self.real_nodes.containerds(), *self.real_nodes.kubelets(),
                         SIDECAR]
        return programs

    def program(self, name: str) -> Program:
        """The daemon of that name; KeyError lists the names there are."""
        for program in self.programs():
            if program.name == name:
                return program
        raise KeyError(f"no program {name!r}: {', '.join(p.name for p in self.programs())}")

    def kill(self, name: str, number=signal.SIGKILL) -> None:
        """Send a signal to that daemon; when it is one that ends it, wait until it has ended."""
        self.processes.kill(self.program(name), number)

    def restart(self, name: str, timeout: float = 60) -> None:
        """End that daemon if it runs, start it and wait until it answers; for slurmctld, until the nodes do."""
        program = self.program(name)
        self.processes.end([program])
        self.processes.start(program)
        self.processes.wait_ready(program, timeout)
        if name == "slurmctld":
            self._wait_nodes()

    # --- looking around --------------------------------------------------------------------------

    def run(self, *command, user=None, check=True, timeout=60, input=None, env=None):
        """Run a command inside, as root or as USER (alice, bob, slurm-k8s); the CompletedProcess, as text."""
        return self.space.run(*command, user=user, check=check, timeout=timeout, input=input, env=env)

    def spawn(self, *command, user=None, env=None, log="spawned") -> int:
        """Run a command inside in the background; its process id. Output goes to log(LOG)."""
        (self.directory / "log").mkdir(parents=True, exist_ok=True)
        return self.space.spawn(command, self.log(log), user=user, env=env)

    def log(self, name: str) -> Path:
        """The file with that daemon's output; Slurm's own logs are in machine/root/var/log/slurm."""
        return self.processes.log(name)

    def path(self, inside: str) -> Path:
        """Where a file of the instance is seen from outside."""
        return self.space.root / inside.lstrip("/")

    def kubectl(self, *arguments, **keywords) -> str:
        """Run kubectl as cluster administrator; what it printed. Keywords: input, check, timeout."""
        if not self.control_plane.binaries:
            self.control_plane.ensure_binaries()
        return self.control_plane.kubectl(*arguments, **keywords)

    def kube_json(self, *arguments):
        """kubectl ... -o json, parsed."""
        return json.loads(self.kubectl(*arguments, "-o", "json"))

    def apply(self, manifest) -> str:
        """kubectl apply of a Path, or of text."""
        if isinstance(manifest, Path):
            return self.kubectl("apply", "-f", manifest)
        return self.kubectl("apply", "-f", "-", input=manifest)

    def squeue(self):
        """All jobs of squeue, as dictionaries: id, state, user, partition, nodes, reason, name."""
        names = ("id", "state", "user", "partition", "nodes", "reason", "name")
        text = self.run("squeue", "-h", "-a", "-o", "%i|%T|%u|%P|%N|%r|%j").stdout
        return [dict(zip(names, line.split("|", len(names) - 1))) for line in text.splitlines()]

    def job(self, job_id) -> dict:
        """The fields of `scontrol show job`; {} for an unknown job."""
        return self.slurm.job(job_id)

    # --- our own parts ---------------------------------------------------------------------------

    def install_plugins(self, build_dir) -> bool:
        """Put the plugins of a build in; Slurm's daemons that run are restarted if any is new."""
        changed = self.slurm.install_plugins(Path(build_dir))
        if self.slurm.configure() or changed:
            for program in self.slurm.loading_plugins():
                if self.processes.pid(program):
                    self.restart(program.name)
        return changed

    def write_slurm_conf(self, extra: str) -> None:
        """Lines of slurm.conf that win over the default ones; in force after reconfigure() or a restart."""
        self.slurm.extra = extra
        (self.directory / "slurm.conf.extra").write_text(extra)
        self.slurm.configure()

    def write_k8s_conf(self, text=None) -> None:
        """The plugins' policy; the default one without TEXT. Replaced at once, never half written."""
        defaults.write(self.space, "etc/slurm/k8s.conf", text or defaults.K8S_CONF.format(cluster=self.name))

    def reconfigure(self) -> None:
        """`scontrol reconfigure`, and wait until slurmctld and the nodes answer again."""
        self.slurm.reconfigure()
        # A slurmctld that reconfigures goes on in a new process, which writes its id after it first answers.
        wait_for(lambda: self.status()["slurmctld"], 30, "the id of slurmctld")
        self._wait_nodes()

    def install_sidecar(self, build_dir) -> None:
        """Put the sidecar of a build in; a running one stays the old one until it is restarted."""
        install(Path(build_dir) / "sidecar/slurm-k8s-sidecar", self.path(SIDECAR.command[0]))

    def write_sidecar_yaml(self, content=None) -> None:
        """The sidecar's configuration, from a dictionary or text; the default one without CONTENT."""
        content = content or defaults.sidecar(self.name)
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        defaults.write(self.space, "etc/slurm-k8s/sidecar.yaml", text)

    def start_sidecar(self, timeout: float = 30) -> None:
        """Start it and wait until it answers. Raises EnvironmentError_ with the end of its log."""
        self.processes.start(SIDECAR)
        self.processes.wait_ready(SIDECAR, timeout)

    def stop_sidecar(self) -> None:
        """SIGTERM, and SIGKILL after 10 s."""
        self.processes.end([SIDECAR])

    # --- parts of start() ------------------------------------------------------------------------

    def _remember_options(self) -> None:
        path = self.directory / "options.json"
        self.directory.mkdir(parents=True, exist_ok=True)
        if path.is_file() and json.loads(path.read_text()) != self.options:
            if any(self.status().values()):
                raise cache.EnvironmentError_(f"instance {self.name!r} runs with other options: stop it first")
            if json.loads(path.read_text())["codename"] != self.options["codename"]:
                raise cache.EnvironmentError_(f"instance {self.name!r} is of another Slurm: destroy it first")
        path.write_text(json.dumps(self.options))

    def _write_files(self) -> None:
        extra = self.directory / "slurm.conf.extra"
        self.slurm.extra = extra.read_text() if extra.is_file() else ""
        self.slurm.configure()
        defaults.write_tokens(self.space)
        if not self.path("etc/slurm/k8s.conf").exists():
            self.write_k8s_conf()
        if self.control_plane:
            self.control_plane.configure()
            self.real_nodes.configure()
            defaults.write(self.space, "etc/slurm-k8s/kubeconfig",
                           self.path("etc/kubernetes/sidecar.conf").read_text(), "slurm-k8s", 0o600)
            if not self.path("etc/slurm-k8s/sidecar.yaml").exists():
                self.write_sidecar_yaml()
        write_wrappers(self)

    def _start_control_plane(self) -> None:
        self._start_all([self.control_plane.api_server()])
        self.control_plane.apply_objects()
        self._start_all(self.control_plane.controllers())
        if self.real_nodes.names:
            self.real_nodes.start(self.processes)
            for name in self.real_nodes.names:
                wait_for(lambda node=name: self.control_plane.is_ready(node), 60, f"node {name} is ready")
        self.control_plane.wait_admission()

    def _wait_nodes(self) -> None:
        """Wait until slurmctld has heard of every slurmd that runs: it takes 1-3 s after its start."""
        for program in self.slurm.programs():
            if program.name.startswith("slurmd-") and self.processes.pid(program):
                self.processes.wait_ready(program)

    def _start_all(self, programs) -> None:
        for program in programs:
            self.processes.start(program)
        for program in programs:
            self.processes.wait_ready(program)
