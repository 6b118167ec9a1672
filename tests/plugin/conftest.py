# SPDX-License-Identifier: Apache-2.0
"""One Slurm per version, and a receiver of hints that a test can make misbehave."""
import pytest

from tests.env import build, cache, slurm_root
from tests.env.instance import Instance
from tests.plugin import requests
from tests.plugin.receiver import Receiver

K8S_CONF = """ClusterId={cluster}
SubmitUser=slurm-k8s
EventUrl=unix:/run/slurm/receiver.sock
EventTokenFile=/etc/slurm/k8s.token
Node=worker[1-9]
Namespace=team-b User=bob Partition=batch Share=shared
Namespace=closed Deny="closed for today"
Namespace=vip User=alice Partition=batch Share=shared Priority=yes Nice=yes
Namespace=* User=alice Partition=batch Share=shared MaxTime=60
"""


@pytest.fixture(scope="session", params=slurm_root.SLURM_OF, ids=lambda c: slurm_root.SLURM_OF[c])
def slurm(request):
    """An instance of Slurm with the plugins of this checkout, two nodes, no control plane."""
    where = build.build(request.param)
    instance = Instance(cache.of_this_checkout(f"plugin-{request.param}"), codename=request.param, nodes=2, control_plane=False)
    instance.start()
    instance.write_k8s_conf(K8S_CONF.format(cluster=instance.name))
    instance.install_plugins(where)
    requests.install(instance, where)
    yield instance
    instance.stop()


@pytest.fixture
def receiver(slurm):
    """Takes hints until a test makes it do something else."""
    receiver = Receiver(slurm.path("run/slurm/receiver.sock"))
    yield receiver
    receiver.close()
