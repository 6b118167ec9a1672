# SPDX-License-Identifier: Apache-2.0
"""The control plane of one instance: how its programs are started, and the objects it begins with.

Ports are the default ones, on the loopback interface of the instance's own network namespace.
"""
import base64
import hashlib
import json
import os
import subprocess
from pathlib import Path

from . import cache, control_plane_build, control_plane_objects, keys, slurm_conf
from .processes import Program, wait_for

BIN = "/opt/control-plane"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "kwok", "podgroup-controller",
            "jobset-manager", "trainer-manager")
_CONFIGURATION = "/etc/kubernetes"
_TRAINER_TMP = "/var/lib/trainer"
_HEALTH_PORTS = {"jobset-manager": 8081, "podgroup-controller": 8082, "trainer-manager": 8083}

JOBSET = {
    "apiVersion": "config.jobset.x-k8s.io/v1alpha1", "kind": "Configuration",
    "leaderElection": {"leaderElect": False}, "internalCertManagement": {"enable": False},
    "webhook": {"host": "127.0.0.1", "port": control_plane_objects.WEBHOOK_PORTS["jobset-system"],
                "certDir": f"{_TRAINER_TMP}/k8s-webhook-server/serving-certs"},
    "metrics": {"bindAddress": "0"},
    "health": {"healthProbeBindAddress": f"127.0.0.1:{_HEALTH_PORTS['jobset-manager']}"},
}
TRAINER = {
    "apiVersion": "config.trainer.kubeflow.org/v1alpha1", "kind": "Configuration",
    "leaderElection": {"leaderElect": False}, "certManagement": {"enable": False},
    "webhook": {"host": "127.0.0.1", "port": control_plane_objects.WEBHOOK_PORTS["kubeflow-system"]},
    "metrics": {"bindAddress": "0", "secureServing": False},
    "health": {"healthProbeBindAddress": f"127.0.0.1:{_HEALTH_PORTS['trainer-manager']}"},
    "controller": {"groupKindConcurrency": {f"{kind}.trainer.kubeflow.org": 5 for kind in (
        "TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")}},
    "clientConnection": {"qps": 50, "burst": 100},
}


class ControlPlane:
    """Knows the space it runs in and the DIRECTORY outside that holds kubeconfig and kubectl's cache."""

    def __init__(self, space, directory: Path, nodes: int, external_nodes: int):
        self.space, self.directory = space, directory
        self.node_names = [f"worker{i}" for i in range(nodes)] + [f"ext{i}" for i in range(external_nodes)]
        self.kubeconfig = directory / "kubeconfig"
        self.binaries = {}

    def ensure_binaries(self, more=()) -> None:
        """Find or build the programs, and those in MORE."""
        wanted = (*PROGRAMS, *more)
        found = control_plane_build.ensure(wanted)
        self.binaries = {name: found[name] for name in wanted}

    def binds(self):
        """What the space needs bound into it."""
        return [(path, f"{BIN}/{name}") for name, path in self.binaries.items()]

    def configure(self) -> None:
        """Keys, kubeconfigs and the managers' files."""
        keys.make(self.space)
        etc = self.space.root / _CONFIGURATION.lstrip("/")
        (etc / "jobset.yaml").write_text(json.dumps(JOBSET))
        (etc / "trainer.yaml").write_text(json.dumps(TRAINER))
        stages = control_plane_objects.ensure(self.binaries["kubectl"]) / "stages.yaml"
        (etc / "stages.yaml").write_text(stages.read_text())
        # Trainer reads its certificate below $TMPDIR and nowhere else; JobSet shares it.
        certificates = self.space.root / _TRAINER_TMP.lstrip("/") / "k8s-webhook-server/serving-certs"
        certificates.mkdir(parents=True, exist_ok=True)
        for ending in ("crt", "key"):
            (certificates / f"tls.{ending}").write_bytes((etc / f"pki/webhook.{ending}").read_bytes())
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text((etc / "admin.conf").read_text())

    def kubectl_command(self, *arguments):
        """kubectl with the files of the caller and the network of the instance, and its environment."""
        line = ["nsenter", f"--net={self.space.namespaces}/net", self.binaries["kubectl"], *arguments]
        env = {**os.environ, "KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.directory / "kube-cache")}
        return [str(part) for part in line], env

    def kubectl(self, *arguments, input=None, check=True, timeout=60) -> str:
        """Run kubectl as administrator; what it printed. RuntimeError with its words when it fails."""
        line, env = self.kubectl_command(*arguments)
        done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=timeout,
                              **({"input": input} if input is not None else {"stdin": subprocess.DEVNULL}))
        if check and done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(map(str, arguments))}: {done.stdout}{done.stderr}")
        return done.stdout

    def is_ready(self, node: str) -> bool:
        """Whether that Node is there and Ready."""
        return self.kubectl("get", "node", node, "--ignore-not-found", "-o",
                            "jsonpath={.status.conditions[?(@.type=='Ready')].status}", check=False) == "True"

    def apply_objects(self) -> None:
        """CRDs, rights, webhooks, nodes and the admission policy; nothing when etcd has them already."""
        made = control_plane_objects.ensure(self.binaries["kubectl"])
        ca = (self.space.root / keys.DIRECTORY.lstrip("/") / "ca.crt").read_bytes()
        objects = (made / "objects.yaml").read_text().replace(
            control_plane_objects.CA_BUNDLE, base64.b64encode(ca).decode())
        own = [(control_plane_objects.MANIFESTS / name).read_text() for name in ("sidecar-rbac.yaml", "admission.yaml")]
        text = "\n---\n".join([objects, *own, *map(json.dumps, self._nodes())])
        # The mark lies with etcd's data, so that they go together.
        mark = self.space.root / "var/lib/etcd.applied"
        key = hashlib.sha256((made.name + text).encode()).hexdigest()
        if mark.is_file() and mark.read_text() == key:
            return
        server_side = ("apply", "--server-side", "--force-conflicts")
        self.kubectl(*server_side, "-f", made / "crds.yaml", timeout=180)
        wait_for(self._crds_are_established, 60, "the custom resources are served", interval=0.2)
        self.kubectl(*server_side, "-f", "-", input=text, timeout=180)
        mark.write_text(key)

    def _crds_are_established(self) -> bool:
        # kubectl wait gives up on a definition so new that its conditions are null.
        found = json.loads(self.kubectl("get", "crd", "-o", "json"))["items"]
        return all(any(condition["type"] == "Established" and condition["status"] == "True"
                       for condition in crd.get("status", {}).get("conditions") or ()) for crd in found)

    def wait_admission(self) -> None:
        """Wait until the policy that names the scheduler is in force (about a second after it was made)."""
        pod = json.dumps({"apiVersion": "v1", "kind": "Pod",
                          "metadata": {"name": "probe", "namespace": "trainer-slurm"},
                          "spec": {"containers": [{"name": "c", "image": "registry.invalid/none"}]}})
        wait_for(lambda: self.kubectl("create", "--dry-run=server", "-o", "jsonpath={.spec.schedulerName}", "-f", "-",
                                      input=pod, check=False) == "slurm-bridge-scheduler",
                 60, "the admission policy is in force", interval=0.2)

    def etcd(self) -> Program:
        """Without fsync: what is lost when the machine dies is a test."""
        return Program("etcd", (
            f"{BIN}/etcd", "--name=default", "--data-dir=/var/lib/etcd", "--unsafe-no-fsync", "--log-level=warn",
            "--quota-backend-bytes=4294967296"),
            ("curl", "-fsS", "http://127.0.0.1:2379/health"), env={"GOGC": "400"})

    def api_server(self) -> Program:
        """kube-apiserver, with the users of keys.USERS."""
        pki = keys.DIRECTORY
        return Program("kube-apiserver", (
            f"{BIN}/kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--secure-port=6443",
            "--service-cluster-ip-range=10.96.0.0/16", f"--cert-dir={pki}", f"--client-ca-file={pki}/ca.crt",
            f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
            f"--kubelet-certificate-authority={pki}/ca.crt", "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-client-certificate={pki}/kubelet-client.crt",
            f"--kubelet-client-key={pki}/kubelet-client.key",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/sa.pub",
            f"--service-account-signing-key-file={pki}/sa.key", f"--token-auth-file={pki}/tokens.csv",
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
            "--anonymous-auth=false", "--profiling=false"),
            ("curl", "-fsS", "--cacert", f"{pki}/ca.crt", "-H", f"@{_CONFIGURATION}/admin.header",
             "https://127.0.0.1:6443/readyz"), env={"GOGC": "400"})

    def controllers(self):
        """Everything that works on the objects; started once they are there."""
        pki, conf = keys.DIRECTORY, _CONFIGURATION
        own = f"{conf}/kube-controller-manager.conf"
        return [
            Program("kube-controller-manager", (
                f"{BIN}/kube-controller-manager", f"--kubeconfig={own}", f"--authentication-kubeconfig={own}",
                f"--authorization-kubeconfig={own}", "--bind-address=127.0.0.1", "--cert-dir=/var/lib/kcm",
                "--leader-elect=false", "--use-service-account-credentials=true", f"--root-ca-file={pki}/ca.crt",
                f"--service-account-private-key-file={pki}/sa.key", f"--cluster-signing-cert-file={pki}/ca.crt",
                f"--cluster-signing-key-file={pki}/ca.key", "--kube-api-qps=200", "--kube-api-burst=400"),
                ("curl", "-fsSk", "https://127.0.0.1:10257/healthz")),
            Program("kwok", (
                f"{BIN}/kwok", "--kubeconfig", f"{conf}/kwok.conf", "--config", f"{conf}/stages.yaml",
                "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds=40",
                "--node-ip=10.244.255.1", "--cidr=10.244.0.0/16", "--server-address=127.0.0.1:10247"),
                ("curl", "-fsS", "http://127.0.0.1:10247/healthz")),
            Program("podgroup-controller", (
                f"{BIN}/podgroup-controller", "--kubeconfig", f"{conf}/podgroup-controller.conf", "--metricsAddr", "0",
                "--probeAddr", f"127.0.0.1:{_HEALTH_PORTS['podgroup-controller']}"), _probe("podgroup-controller")),
            Program("jobset-manager", (
                f"{BIN}/jobset-manager", "--kubeconfig", f"{conf}/jobset-manager.conf",
                "--config", f"{conf}/jobset.yaml"), _probe("jobset-manager")),
            Program("trainer-manager", (
                f"{BIN}/trainer-manager", "--kubeconfig", f"{conf}/trainer-manager.conf",
                "--config", f"{conf}/trainer.yaml"), _probe("trainer-manager"), env={"TMPDIR": _TRAINER_TMP}),
        ]

    def _nodes(self):
        """The Kubernetes side of the nodes, driven by kwok."""
        resources = {"cpu": str(slurm_conf.CPUS), "memory": f"{slurm_conf.MEMORY_MIB}Mi", "pods": "110"}
        return [{"apiVersion": "v1", "kind": "Node",
                 "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                              "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
                 "status": {"capacity": resources, "allocatable": resources}} for name in self.node_names]


def _probe(name: str):
    return "curl", "-fsS", f"http://127.0.0.1:{_HEALTH_PORTS[name]}/readyz"
