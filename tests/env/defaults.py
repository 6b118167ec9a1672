# SPDX-License-Identifier: Apache-2.0
"""The configuration of our own parts in an instance, and how its files are written."""
import os
import secrets

from .space import Space

K8S_CONF = """ClusterId={cluster}
SubmitUser=slurm-k8s
EventUrl=http://127.0.0.1:8090/v1/events
EventTokenFile=/etc/slurm/k8s.token
Namespace=team-b User=bob Partition=batch
Namespace=* User=alice Partition=batch
"""


def sidecar(cluster: str) -> dict:
    """The contents of sidecar.yaml."""
    return {"clusterId": cluster,
            "kubernetes": {"kubeconfig": "/etc/slurm-k8s/kubeconfig", "schedulerNames": ["slurm-bridge-scheduler"]},
            "listener": {"address": "127.0.0.1:8090", "tokenFile": "/etc/slurm-k8s/token"},
            "log": {"level": "debug", "format": "text"}}


def write_tokens(space: Space) -> None:
    """The one token of events, in a file of the plugins and a file of the sidecar."""
    if (space.root / "etc/slurm-k8s/token").exists():
        return
    token = secrets.token_hex(16) + "\n"
    write(space, "etc/slurm/k8s.token", token, "slurm", 0o600)
    write(space, "etc/slurm-k8s/token", token, "slurm-k8s", 0o600)


def write(space: Space, path: str, text: str, owner: str = "root", mode: int = 0o644) -> None:
    """Write a file of the space and put it in place with one rename."""
    target = space.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.new")
    beside.touch(mode=0o600)
    beside.write_text(text)
    os.chown(beside, *_ids(space, owner))
    beside.chmod(mode)
    os.rename(beside, target)


def _ids(space: Space, user: str):
    """uid and gid of USER inside."""
    for line in (space.root / "etc/passwd").read_text().splitlines():
        fields = line.split(":")
        if fields[0] == user:
            return int(fields[2]), int(fields[3])
    raise KeyError(f"no user {user} in {space.root}")
