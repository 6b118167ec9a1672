# SPDX-License-Identifier: Apache-2.0
"""True hybrid nodes: a containerd and a kubelet beside the slurmd of real0, real1.

Each has its own address on the loopback interface, its own cgroup below /slurm-k8s-INSTANCE and its own folders.
"""
import json
import os
import signal
from pathlib import Path

from . import image, keys
from .control_plane import BIN
from .processes import Program, wait_for

MOST = 2
_CGROUPS = Path("/sys/fs/cgroup")
_ARCHIVE = "/var/lib/slurm-k8s-test/images.tar"

_CONTAINERD = """version = 3
root = "/var/lib/containerd-{name}"
state = "/run/containerd-{name}/state"
[grpc]
  address = "{socket}"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "native"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "{pause}"
[plugins."io.containerd.cri.v1.runtime"]
  disable_apparmor = true
  # Without CAP_SYS_RESOURCE (in some containers) runc cannot lower the score.
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "/etc/cni/{name}"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri"]
  stream_server_address = "127.0.0.1"
  stream_server_port = "{stream_port}"
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd-{name}/opt"
[plugins."io.containerd.nri.v1.nri"]
  disable = true
"""


class RealNodes:
    """COUNT nodes of the instance NAME in SPACE."""

    def __init__(self, space, name: str, count: int):
        self.space, self.cgroup = space, f"slurm-k8s-{name}"
        self.names = [f"real{i}" for i in range(count)]

    def configure(self) -> None:
        """Addresses, cgroups, configuration files and the image."""
        for index, name in enumerate(self.names):
            self.space.run("ip", "address", "replace", f"{keys.real_address(index)}/32", "dev", "lo")
            self._make_cgroup(name)
            etc = self.space.root / "etc"
            (etc / "containerd").mkdir(exist_ok=True)
            (etc / f"containerd/{name}.toml").write_text(_CONTAINERD.format(
                name=name, socket=_socket(name), pause=image.PAUSE, stream_port=10260 + index))
            (etc / f"cni/{name}").mkdir(parents=True, exist_ok=True)
            (etc / f"cni/{name}/10-bridge.conflist").write_text(json.dumps(_network(name, index)))
            (etc / f"kubernetes/kubelet-{name}.yaml").write_text(json.dumps(self._kubelet(name, index)))
        self._make_image()

    def containerds(self):
        """The container runtimes; images() comes before the kubelets."""
        return [Program(f"containerd-{name}", ("containerd", "--config", f"/etc/containerd/{name}.toml"),
                        ("ctr", "-a", _socket(name), "version")) for name in self.names]

    def kubelets(self):
        """The kubelets."""
        return [Program(f"kubelet-{name}", (
            f"{BIN}/kubelet", f"--config=/etc/kubernetes/kubelet-{name}.yaml",
            f"--kubeconfig=/etc/kubernetes/{name}.conf", f"--hostname-override={name}",
            f"--node-ip={keys.real_address(index)}", f"--root-dir=/var/lib/kubelet-{name}",
            f"--cert-dir=/var/lib/kubelet-{name}/pki"),
            ("curl", "-fsS", f"http://127.0.0.1:{10270 + index}/healthz")) for index, name in enumerate(self.names)]

    def start(self, processes) -> None:
        """Start what does not run. A containerd that was killed begins without its former containers."""
        for program, name in zip(self.containerds(), self.names):
            if not processes.pid(program):
                self.space.run("rm", "-rf", f"/run/containerd-{name}")
                processes.start(program)
            processes.wait_ready(program)
            self.space.run("ctr", "-a", _socket(name), "-n", "k8s.io", "images", "import", "--local",
                           "--snapshotter=native",
                           _ARCHIVE)
        for program in self.kubelets():
            processes.start(program)
        for program in self.kubelets():
            processes.wait_ready(program)

    def end(self, processes) -> None:
        """End the kubelets, then every process in the nodes' cgroups, then the runtimes."""
        processes.end(self.kubelets())
        wait_for(lambda: not self._kill_pods(), 10, "the pods' processes end")
        processes.end(self.containerds())

    def _kill_pods(self) -> bool:
        """SIGKILL to all processes of pods: nobody else uses these cgroups. Whether there were any."""
        pids = self.pod_processes()
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return bool(pids)

    def remove_cgroups(self) -> None:
        """Delete the cgroups, once all processes are gone."""
        for top in self._hierarchies():
            for folder, _, _ in os.walk(top / self.cgroup, topdown=False):
                try:
                    wait_for(lambda at=folder: _rmdir(at), 2, f"{folder} is empty")
                except TimeoutError:
                    return

    def pod_processes(self):
        """Ids of all processes of pods: containers live in mount namespaces of their own."""
        pids = set()
        for top in self._hierarchies():
            for folder, _, files in os.walk(top / self.cgroup):
                if "cgroup.procs" in files:
                    try:
                        pids.update(map(int, (Path(folder) / "cgroup.procs").read_text().split()))
                    except OSError:
                        continue
        return pids

    def _hierarchies(self):
        """The roots of all cgroup hierarchies: one with version 2, one for each controller with version 1."""
        if (_CGROUPS / "cgroup.controllers").exists():
            return [_CGROUPS]
        return [path for path in _CGROUPS.iterdir() if path.is_dir() and not path.is_symlink()]

    def _make_cgroup(self, name: str) -> None:
        """The kubelet wants its root to be there, with every controller."""
        for top in self._hierarchies():
            folder = top
            for part in f"{self.cgroup}/{name}".split("/"):
                if (top / "cgroup.controllers").exists() and top == _CGROUPS:
                    _enable_controllers(folder)
                parent, folder = folder, folder / part
                folder.mkdir(exist_ok=True)
                for file in ("cpuset.cpus", "cpuset.mems"):
                    if top != _CGROUPS and (folder / file).exists() and not (folder / file).read_text().strip():
                        (folder / file).write_text((parent / file).read_text())

    def _make_image(self) -> None:
        """Compile the program inside and pack it."""
        folder = self.space.root / "var/lib/slurm-k8s-test"
        if (folder / "images.tar").exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pod.c").write_bytes((Path(__file__).parent / "pod.c").read_bytes())
        self.space.run("gcc", "-O2", "-static", "-s", "-o", "/var/lib/slurm-k8s-test/pod",
                       "/var/lib/slurm-k8s-test/pod.c")
        image.write(folder / "images.tar", folder / "pod")

    def _kubelet(self, name: str, index: int) -> dict:
        """KubeletConfiguration; cgroups of either version."""
        pki = keys.DIRECTORY
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "address": keys.real_address(index), "port": 10250, "readOnlyPort": 0,
            "healthzBindAddress": "127.0.0.1", "healthzPort": 10270 + index,
            "tlsCertFile": f"{pki}/{name}.crt", "tlsPrivateKeyFile": f"{pki}/{name}.key",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": f"{pki}/ca.crt"}},
            "authorization": {"mode": "Webhook"},
            "containerRuntimeEndpoint": f"unix://{_socket(name)}",
            "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{self.cgroup}/{name}", "failCgroupV1": False,
            "failSwapOn": False, "enforceNodeAllocatable": ["pods"],
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "podLogsDir": f"/var/log/pods-{name}", "volumePluginDir": f"/var/lib/kubelet-{name}/plugins",
            "clusterDomain": "cluster.local", "clusterDNS": ["10.96.0.10"], "resolvConf": "",
            "protectKernelDefaults": False, "localStorageCapacityIsolation": False,
            "maxPods": 20, "systemReserved": {"cpu": "100m"},
            "makeIPTablesUtilChains": False, "registerNode": True,
        }


def _socket(name: str) -> str:
    return f"/run/containerd-{name}/containerd.sock"


def _network(name: str, index: int) -> dict:
    """A bridge in the instance's network namespace."""
    return {"cniVersion": "1.0.0", "name": name, "plugins": [
        {"type": "bridge", "bridge": f"cni{index}", "isGateway": True, "ipMasq": False,
         "ipam": {"type": "host-local", "dataDir": f"/run/containerd-{name}/ipam",
                  "ranges": [[{"subnet": f"10.245.{index}.0/24"}]]}}]}


def _enable_controllers(folder: Path) -> None:
    """Let children of a version 2 cgroup have all controllers; one that refuses stays as it is."""
    for controller in (folder / "cgroup.controllers").read_text().split():
        try:
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")
        except OSError:
            continue


def _rmdir(folder) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True
