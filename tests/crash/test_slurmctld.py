# SPDX-License-Identifier: Apache-2.0
"""slurmctld is killed; unknown is not ended."""
import signal

from tests import cluster as clusters
from tests import workloads


def kill(cluster) -> None:
    """kill -9, without starting it again."""
    cluster.instance.kill("slurmctld", signal.SIGKILL)


def test_running_pods_stay_when_slurmctld_dies(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2))
    pods = [cluster.wait_bound(namespace, f"g-{i}") for i in range(2)]
    job = pods[0]["metadata"]["labels"][clusters.JOB_ID_LABEL]
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "g")["metadata"]["uid"]
    cluster.wait_saved(uid)
    kill(cluster)
    cluster.instance.restart("slurmctld")
    assert cluster.wait_job(uid, "RUNNING")["JobId"] == job
    cluster.wait("sidecar saw the new slurmctld", lambda: cluster.metric("slurm_k8s_polling") == 0)
    for before in pods:
        after = cluster.get("pod", namespace, before["metadata"]["name"])
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert "deletionTimestamp" not in after["metadata"]


def test_job_that_slurmctld_forgot_is_asked_for_again_on_the_nodes_where_its_pods_run(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2, cpu="8", seconds=20, exit_code=5))
    pods = [cluster.wait_bound(namespace, f"g-{i}") for i in range(2)]
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "g")["metadata"]["uid"]
    kill(cluster)  # before it has saved its state
    cluster.instance.restart("slurmctld")
    job = cluster.wait_job(uid, "RUNNING")
    assert job["NumNodes"] == "2"
    for before in pods:
        after = cluster.get("pod", namespace, before["metadata"]["name"])
        assert after["metadata"]["uid"] == before["metadata"]["uid"] and "deletionTimestamp" not in after["metadata"]
    assert cluster.wait_job(uid, "FAILED")["ExitCode"] == "5:0"


def test_pods_that_come_while_slurmctld_is_down_say_so_and_start_later(cluster, namespace):
    kill(cluster)
    cluster.apply(workloads.gang("g", namespace, 2))
    cluster.wait_says(namespace, "g-0", "slurmctld does not answer", timeout=90)
    cluster.instance.restart("slurmctld")
    for i in range(2):
        cluster.wait_bound(namespace, f"g-{i}", timeout=90)
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "g")["metadata"]["uid"]
    assert len([j for j in cluster.jobs_of(uid) if j["JobState"] == "RUNNING"]) == 1


def test_waiting_job_survives_a_restart_of_slurmctld(cluster, namespace, full):
    cluster.apply(workloads.gang("g", namespace, 2))
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "g")["metadata"]["uid"]
    before = cluster.wait_job(uid, "PENDING")["JobId"]
    cluster.wait_saved(uid)
    kill(cluster)
    cluster.instance.restart("slurmctld")
    cluster.instance.run("scancel", full)
    for i in range(2):
        pod = cluster.wait_bound(namespace, f"g-{i}", timeout=90)
        assert pod["metadata"]["labels"][clusters.JOB_ID_LABEL] == before


def test_pods_that_finish_while_slurmctld_is_down_complete_their_job_later(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2, seconds=3))
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "g")["metadata"]["uid"]
    for i in range(2):
        cluster.wait_bound(namespace, f"g-{i}")
    kill(cluster)
    for i in range(2):
        cluster.wait_pod(namespace, f"g-{i}", "succeeded", lambda pod: pod["status"]["phase"] == "Succeeded")
    cluster.instance.restart("slurmctld")
    assert cluster.wait_job(uid, "COMPLETED", timeout=120)["ExitCode"] == "0:0"
