# SPDX-License-Identifier: Apache-2.0
"""Keys, certificates and tokens of one control plane. One CA signs everything."""
import base64
import json
import secrets
from pathlib import Path

DIRECTORY = "/etc/kubernetes/pki"

_SCRIPT = r"""set -e
mkdir -p /etc/kubernetes/pki; cd /etc/kubernetes/pki; chmod 700 .
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
cert() { # NAME SUBJECT SAN USAGE
  key "$1"; openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
  { echo basicConstraints=CA:FALSE; echo keyUsage=digitalSignature; echo "extendedKeyUsage=$4"
    [ -z "$3" ] || echo "subjectAltName=$3"; } >ext
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile ext -out "$1.crt"
  rm "$1.csr" ext
}
key ca
openssl req -x509 -new -key ca.key -days 3650 -subj /CN=test-ca -out ca.crt
cert apiserver /CN=kube-apiserver IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc serverAuth
cert kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client "" clientAuth
cert webhook /CN=webhook IP:127.0.0.1,DNS:localhost serverAuth
cert real0 /O=system:nodes/CN=system:node:real0 IP:192.0.2.10,DNS:real0 serverAuth
cert real1 /O=system:nodes/CN=system:node:real1 IP:192.0.2.11,DNS:real1 serverAuth
openssl genrsa -out sa.key 2048
openssl rsa -in sa.key -pubout -out sa.pub
"""

# Name of the kubeconfig -> user. A service account gets the groups of service accounts, so that the
# roles that the projects ship apply as they are.
USERS = {
    "admin": ("admin", "system:masters"),
    "kube-controller-manager": ("system:kube-controller-manager", ""),
    "kwok": ("system:serviceaccount:kube-system:kwok-controller", ""),
    "jobset-manager": ("system:serviceaccount:jobset-system:jobset-controller-manager", ""),
    "podgroup-controller": ("system:serviceaccount:scheduler-plugins:scheduler-plugins-controller", ""),
    "trainer-manager": ("system:serviceaccount:kubeflow-system:kubeflow-trainer-controller-manager", ""),
    "sidecar": ("system:serviceaccount:slurm-k8s:slurm-k8s", ""),
    "real0": ("system:node:real0", "system:nodes"),
    "real1": ("system:node:real1", "system:nodes"),
}


def real_address(index: int) -> str:
    """The address of the kubelet of that true node, as in its certificate."""
    return f"192.0.2.{10 + index}"


def make(space) -> None:
    """Make them all in SPACE, once, with a kubeconfig of each user in /etc/kubernetes."""
    directory = space.root / DIRECTORY.lstrip("/")
    if (directory / "tokens.csv").is_file():
        return
    space.run("sh", "-c", _SCRIPT)
    ca = (directory / "ca.crt").read_bytes()
    lines = []
    for number, (name, (user, groups)) in enumerate(USERS.items()):
        token = secrets.token_hex(16)
        if user.startswith("system:serviceaccount:"):
            namespace = user.split(":")[2]
            groups = f"system:serviceaccounts,system:serviceaccounts:{namespace}"
        lines.append(f'{token},{user},{number},"{groups}"')
        _write(directory.parent / f"{name}.conf", kubeconfig(token, ca))
        if name == "admin":
            _write(directory.parent / "admin.header", f"Authorization: Bearer {token}\n")
    _write(directory / "tokens.csv", "\n".join(lines) + "\n")


def kubeconfig(token: str, ca: bytes) -> str:
    """A kubeconfig (JSON, which is YAML) for the API server at its default port."""
    cluster = {"server": "https://127.0.0.1:6443", "certificate-authority-data": base64.b64encode(ca).decode()}
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "default",
        "clusters": [{"name": "default", "cluster": cluster}],
        "users": [{"name": "default", "user": {"token": token}}],
        "contexts": [{"name": "default", "context": {"cluster": "default", "user": "default"}}],
    }, indent=1) + "\n"


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
