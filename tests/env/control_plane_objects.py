# SPDX-License-Identifier: Apache-2.0
"""The CRDs, rights and webhooks of JobSet, Trainer, kwok and the PodGroup controller.

They come from the sources in Go's module cache, changed for managers that run as plain processes: webhooks
are loopback URLs; there are no Deployments, Services or certificates of cert-manager.
"""
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml

from . import cache, control_plane_build

MANIFESTS = Path(__file__).parent / "manifests"
WEBHOOK_PORTS = {"jobset-system": 9443, "kubeflow-system": 9444}
CA_BUNDLE = "Q0EtQlVORExF"  # stands for the instance's own; base64 of CA-BUNDLE
_LEFT_OUT = ("Deployment", "Service", "ServiceMonitor", "Certificate", "Issuer", "ConfigMap")

# No overlay of Trainer's own will do: theirs fetch JobSet from the network.
_TRAINER = """namespace: kubeflow-system
resources:
- ../trainer/overlays/manager/namespace.yaml
- ../trainer/base/crds
- ../trainer/base/rbac
- ../trainer/base/webhook
"""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def ensure(kubectl: Path) -> Path:
    """The folder with crds.yaml, objects.yaml and stages.yaml (for kwok), made if absent."""
    parts = [Path(__file__), MANIFESTS / "podgroup-rbac.yaml", MANIFESTS / "stages.yaml"]
    key = hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:12]
    target = control_plane_build.directory() / f"objects-{key}"
    with cache.lock(target):
        if not target.is_dir():
            with cache.progress("collecting CRDs and rights of the controllers"):
                _make(kubectl, target)
    return target


def _make(kubectl: Path, target: Path) -> None:
    source = control_plane_build.source
    crds, objects = [], []
    for text in (_jobset(kubectl), _trainer(kubectl), *_podgroup(source("sigs.k8s.io/scheduler-plugins")),
                 *_kwok_rights(source("sigs.k8s.io/kwok"))):
        for document in yaml.load_all(text, Loader=_LOADER):
            if document and document["kind"] == "CustomResourceDefinition":
                document["spec"].pop("conversion", None)
                document.pop("status", None)
                crds.append(document)
            elif document and document["kind"] not in _LEFT_OUT:
                objects.append(_outside(document))
    objects.sort(key=lambda document: document["kind"] != "Namespace")
    building = target.with_name(f"{target.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    for name, documents in (("crds", crds), ("objects", objects)):
        (building / f"{name}.yaml").write_text(yaml.dump_all(documents, Dumper=_DUMPER))
    stages = source("sigs.k8s.io/kwok") / "kustomize/stage/node"
    (building / "stages.yaml").write_text("\n---\n".join(file.read_text() for file in (
        MANIFESTS / "stages.yaml", stages / "fast/node-initialize.yaml",
        stages / "heartbeat-with-lease/node-heartbeat-with-lease.yaml")))
    building.rename(target)


def _outside(document: dict) -> dict:
    """The webhooks of DOCUMENT at URLs on this machine instead of Services."""
    for webhook in document.get("webhooks", ()):
        service = webhook["clientConfig"].pop("service")
        port = WEBHOOK_PORTS[service["namespace"]]
        webhook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{service['path']}", "caBundle": CA_BUNDLE}
    return document


def _kustomize(kubectl: Path, source: Path, name: str, build: str, overlay="") -> str:
    """`kubectl kustomize` of BUILD in a copy of SOURCE: a path with "@" in it is taken for a git URL."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / name
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
        if overlay:
            (Path(scratch) / build).mkdir()
            (Path(scratch) / build / "kustomization.yaml").write_text(overlay)
        done = subprocess.run([kubectl, "kustomize", "--load-restrictor", "LoadRestrictionsNone",
                               Path(scratch) / build], capture_output=True, text=True)
    if done.returncode != 0:
        raise cache.EnvironmentError_(f"kubectl kustomize {source} failed: {done.stderr.strip()}")
    return done.stdout


def _jobset(kubectl: Path) -> str:
    return _kustomize(kubectl, control_plane_build.source("sigs.k8s.io/jobset") / "config", "jobset", "jobset/default")


def _trainer(kubectl: Path) -> str:
    return _kustomize(kubectl, control_plane_build.source("github.com/kubeflow/trainer/v2") / "manifests", "trainer",
                      "overlay", _TRAINER)


def _podgroup(source: Path):
    bases = source / "config/crd/bases"
    return [(bases / f"scheduling.x-k8s.io_{kind}.yaml").read_text() for kind in ("podgroups", "elasticquotas")] + [
        (MANIFESTS / "podgroup-rbac.yaml").read_text()]


def _kwok_rights(source: Path):
    names = ("role", "role_binding", "service_account", "flow_schema")
    return [(source / f"kustomize/rbac/{name}.yaml").read_text() for name in names]
