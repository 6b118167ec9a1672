# SPDX-License-Identifier: Apache-2.0
"""The sidecar is killed; what it left is taken up by the next one."""
import signal
import time

import pytest

from tests import cluster as clusters
from tests import workloads

GROUPS = "podgroups.scheduling.x-k8s.io"


def kill(cluster) -> None:
    """kill -9, without starting it again."""
    cluster.instance.kill("sidecar", signal.SIGKILL)


def group_uid(cluster, namespace: str, name: str) -> str:
    """The UID in the job's tag."""
    return cluster.get(GROUPS, namespace, name)["metadata"]["uid"]


def all_bound_to_one_job(cluster, namespace: str, name: str, members: int) -> str:
    """The only job of the gang, after all its pods were bound to nodes of it."""
    pods = [cluster.wait_bound(namespace, f"{name}-{i}") for i in range(members)]
    jobs = cluster.jobs_of(group_uid(cluster, namespace, name))
    live = [job for job in jobs if job["JobState"] in ("PENDING", "RUNNING")]
    assert len(live) == 1, jobs
    assert {pod["metadata"]["labels"][clusters.JOB_ID_LABEL] for pod in pods} == {live[0]["JobId"]}
    return live[0]["JobId"]


def test_killed_while_gathering(cluster, namespace):
    objects = workloads.gang("g", namespace, 3)
    cluster.apply(objects[:-1])
    cluster.wait_says(namespace, "g-0", "2 of 3")
    kill(cluster)
    cluster.apply(objects[-1:])
    cluster.instance.start_sidecar()
    all_bound_to_one_job(cluster, namespace, "g", 3)
    assert len(cluster.jobs_of(group_uid(cluster, namespace, "g"))) == 1


@pytest.mark.parametrize("delay_ms", [0, 5, 10, 15, 20, 30, 40, 60, 80, 120])
def test_killed_around_submission_and_binding(cluster, namespace, delay_ms):
    cluster.apply(workloads.gang("g", namespace, 4))
    time.sleep(delay_ms / 1000)  # the step at which it dies is the point of this test
    kill(cluster)
    cluster.instance.start_sidecar()
    all_bound_to_one_job(cluster, namespace, "g", 4)


def test_killed_while_the_job_waits(cluster, namespace, full):
    cluster.apply(workloads.gang("g", namespace, 2))
    uid = group_uid(cluster, namespace, "g")
    before = cluster.wait_job(uid, "PENDING")["JobId"]
    kill(cluster)
    cluster.instance.start_sidecar()
    cluster.instance.run("scancel", full)
    assert all_bound_to_one_job(cluster, namespace, "g", 2) == before


def test_job_starts_while_nobody_looks(cluster, namespace, full):
    cluster.apply(workloads.gang("g", namespace, 2))
    uid = group_uid(cluster, namespace, "g")
    cluster.wait_job(uid, "PENDING")
    kill(cluster)
    cluster.instance.run("scancel", full)
    before = cluster.wait_job(uid, "RUNNING")["JobId"]
    cluster.instance.start_sidecar()
    assert all_bound_to_one_job(cluster, namespace, "g", 2) == before


def test_pods_finish_while_nobody_looks(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2, seconds=2, exit_code=4))
    uid = group_uid(cluster, namespace, "g")
    all_bound_to_one_job(cluster, namespace, "g", 2)
    kill(cluster)
    for i in range(2):
        cluster.wait_pod(namespace, f"g-{i}", "failed", lambda pod: pod["status"]["phase"] == "Failed")
    cluster.instance.start_sidecar()
    assert cluster.wait_job(uid, "FAILED")["ExitCode"] == "4:0"


def test_pods_are_deleted_while_nobody_looks(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2))
    uid = group_uid(cluster, namespace, "g")
    all_bound_to_one_job(cluster, namespace, "g", 2)
    kill(cluster)
    for i in range(2):
        cluster.delete("pod", namespace, f"g-{i}")
        cluster.wait_gone(namespace, f"g-{i}")
    cluster.instance.start_sidecar()
    cluster.wait_job(uid, "CANCELLED")


def test_waiting_pods_are_deleted_while_nobody_looks(cluster, namespace, full):
    cluster.apply(workloads.pod("p", namespace))
    uid = cluster.get("pod", namespace, "p")["metadata"]["uid"]
    cluster.wait_job(uid, "PENDING")
    kill(cluster)
    cluster.delete("pod", namespace, "p")
    cluster.wait_gone(namespace, "p")
    cluster.instance.start_sidecar()
    cluster.wait_job(uid, "CANCELLED")


def test_job_is_cancelled_while_nobody_looks(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2))
    job = all_bound_to_one_job(cluster, namespace, "g", 2)
    kill(cluster)
    cluster.instance.run("scancel", job)
    cluster.wait_job(group_uid(cluster, namespace, "g"), "CANCELLED")
    cluster.instance.start_sidecar()
    cluster.wait_gone(namespace, "g-0")
    cluster.wait_gone(namespace, "g-1")


@pytest.mark.parametrize("delay_ms", [0, 20, 50, 100])
def test_killed_around_the_end(cluster, namespace, delay_ms):
    cluster.apply(workloads.gang("g", namespace, 2, seconds=1))
    uid = group_uid(cluster, namespace, "g")
    for i in range(2):
        cluster.wait_pod(namespace, f"g-{i}", "succeeded", lambda pod: pod["status"]["phase"] == "Succeeded")
    time.sleep(delay_ms / 1000)  # as above
    kill(cluster)
    cluster.instance.start_sidecar()
    assert cluster.wait_job(uid, "COMPLETED")["ExitCode"] == "0:0"


def test_sigterm_ends_it_cleanly_and_quickly(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 4))
    start = time.monotonic()
    cluster.instance.stop_sidecar()
    assert time.monotonic() - start < 8
    assert "stopped" in cluster.log().splitlines()[-1]
    cluster.instance.start_sidecar()
    all_bound_to_one_job(cluster, namespace, "g", 4)
