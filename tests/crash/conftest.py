# SPDX-License-Identifier: Apache-2.0
"""One instance for the crash tests; each test leaves everything running."""
import pytest

from tests import cluster as clusters

from tests.e2e.conftest import full, namespace  # noqa: F401  (fixtures)


@pytest.fixture(scope="session")
def cluster():
    """Slurm 26.05 with four nodes, control plane, plugins, sidecar."""
    instance = clusters.start("crash")
    yield clusters.Cluster(instance)
    instance.stop()


@pytest.fixture(autouse=True)
def all_running(cluster):
    """Whatever a test killed runs again afterwards."""
    yield
    for name, pid in cluster.instance.status().items():
        if not pid:
            cluster.instance.restart(name)
