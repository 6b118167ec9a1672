# SPDX-License-Identifier: Apache-2.0
"""The API server is killed."""
import signal

from tests import workloads


def test_job_that_starts_while_the_api_server_is_down_is_bound_later(cluster, namespace, full):
    cluster.apply(workloads.gang("g", namespace, 2))
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "g")["metadata"]["uid"]
    cluster.wait_job(uid, "PENDING")
    cluster.instance.kill("kube-apiserver", signal.SIGKILL)
    cluster.instance.run("scancel", full)
    cluster.wait_job(uid, "RUNNING")
    cluster.instance.restart("kube-apiserver")
    for i in range(2):
        cluster.wait_bound(namespace, f"g-{i}", timeout=90)
    assert len(cluster.jobs_of(uid)) == 1


def test_pods_deleted_with_the_api_server_restarted_in_between_are_noticed(cluster, namespace):
    cluster.apply(workloads.pod("p", namespace))
    uid = cluster.wait_bound(namespace, "p")["metadata"]["uid"]
    cluster.instance.kill("kube-apiserver", signal.SIGKILL)
    cluster.instance.restart("kube-apiserver")
    cluster.delete("pod", namespace, "p", "--grace-period=0", "--force")
    cluster.wait_job(uid, "CANCELLED", timeout=90)
