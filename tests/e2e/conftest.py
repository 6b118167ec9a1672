# SPDX-License-Identifier: Apache-2.0
"""One instance for all end-to-end tests; it stays up, so that a second run is quick."""
import pytest

from tests import cluster as clusters


@pytest.fixture(scope="session")
def cluster():
    """Slurm 26.05 with four nodes, control plane, plugins, sidecar."""
    instance = clusters.start("e2e")
    yield clusters.Cluster(instance)
    instance.stop()


@pytest.fixture
def namespace(cluster):
    """A namespace of the test's own; its pods are gone before the next test starts."""
    name = cluster.namespace()
    yield name
    cluster.instance.kubectl("delete", "pods", "--all", "-n", name, "--wait=false")
    cluster.instance.kubectl("delete", "namespace", name, "--wait=false")
    cluster.wait("no job left of the test", lambda: not [
        job for job in cluster.jobs()
        if job.get("tag", {}).get("namespace") == name and job["JobState"] in ("PENDING", "RUNNING", "COMPLETING")])


@pytest.fixture
def full(cluster):
    """All nodes taken by a native job; its id. It is cancelled at the end."""
    done = cluster.instance.run("salloc", "--no-shell", "-N4", "--exclusive", "-J", "occupier", user="bob")
    job = next(j["JobId"] for j in cluster.jobs() if j["JobName"] == "occupier" and j["JobState"] == "RUNNING")
    yield job
    cluster.instance.run("scancel", job, check=False)
    assert done.returncode == 0
