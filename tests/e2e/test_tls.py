# SPDX-License-Identifier: Apache-2.0
"""Hints over TLS: from slurmctld's libcurl to the sidecar's listener."""
import pytest

from tests import workloads
from tests.env import defaults

FOLDER = "/etc/slurm-k8s/tls"

# $1 the authority's name, $2 the certificate's; each call makes new keys.
_CERTIFICATE = r"""set -e
mkdir -p /etc/slurm-k8s/tls; cd /etc/slurm-k8s/tls
[ -e "$1.key" ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.crt" \
  -days 30 -subj "/CN=$1"
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout new.key -out new.csr -subj "/CN=$2"
echo "subjectAltName=IP:127.0.0.1,DNS:localhost" > ext
openssl x509 -req -in new.csr -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -days 30 -extfile ext -out new.crt
chown slurm-k8s new.key; mv new.key tls.key; mv new.crt tls.crt; chmod 644 *.crt
"""


@pytest.fixture
def certify(cluster):
    """Makes a certificate of that authority and puts it where the sidecar looks."""
    return lambda authority, name: cluster.instance.run("sh", "-c", _CERTIFICATE, "sh", authority, name)


@pytest.fixture
def tls(cluster, certify):
    """The sidecar listens with TLS, and slurmctld trusts the authority "good"; plain HTTP again afterwards."""
    instance = cluster.instance
    conf = instance.path("etc/slurm/k8s.conf").read_text()
    certify("good", "first")
    plain = defaults.sidecar(instance.name)
    instance.write_sidecar_yaml({**plain, "listener": {**plain["listener"], "certFile": f"{FOLDER}/tls.crt",
                                                       "keyFile": f"{FOLDER}/tls.key"}})
    instance.stop_sidecar()
    instance.start_sidecar()
    instance.write_k8s_conf(conf.replace("EventUrl=http:", "EventUrl=https:") + f"EventCaFile={FOLDER}/good.crt\n")
    yield instance
    instance.write_k8s_conf(conf)
    instance.write_sidecar_yaml()
    instance.stop_sidecar()
    instance.start_sidecar()


def metric(instance, name: str) -> float:
    """A value of the sidecar's /metrics over TLS, with a full check of its certificate."""
    done = instance.run("curl", "-sf", "--cacert", f"{FOLDER}/good.crt", "https://127.0.0.1:8090/metrics", check=False)
    return next((float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith(name + " ")), -1)


def served(instance) -> str:
    """The name in the certificate that is served now."""
    return instance.run("sh", "-c", "openssl s_client -connect 127.0.0.1:8090 </dev/null 2>/dev/null"
                        " | openssl x509 -noout -subject", check=False).stdout


def test_hints_come_over_tls_and_a_new_certificate_is_taken(cluster, namespace, tls, certify):
    cluster.wait("hints", lambda: metric(tls, "slurm_k8s_polling") == 0 and metric(tls, "slurm_k8s_hint_batches_total") > 0)
    cluster.apply(workloads.pod("over-tls", namespace))
    cluster.wait_bound(namespace, "over-tls")
    certify("good", "second")
    cluster.wait("the new certificate", lambda: "second" in served(tls), 30)
    before = metric(tls, "slurm_k8s_hint_batches_total")
    cluster.wait("hints go on", lambda: metric(tls, "slurm_k8s_hint_batches_total") > before, 30)


def test_hints_go_to_nobody_whose_certificate_is_not_trusted(cluster, namespace, tls, certify):
    cluster.wait("hints", lambda: metric(tls, "slurm_k8s_hint_batches_total") > 0)
    log = tls.path("var/log/slurm/slurmctld.log")
    before = log.stat().st_size
    certify("evil", "third")
    cluster.wait("a complaint", lambda: "takes no hints: " in log.read_text(errors="replace")[before:], 60)
    certify("good", "fourth")
    cluster.wait("hints again", lambda: "takes hints again" in log.read_text(errors="replace")[before:], 60)
