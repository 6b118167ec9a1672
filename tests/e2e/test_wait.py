# SPDX-License-Identifier: Apache-2.0
"""Pods that wait, and why they say they do."""
from tests import workloads


def node_of_one_pod(cluster, namespace) -> str:
    """The node that a pod gets on an idle cluster; the pod and its job are gone afterwards."""
    cluster.apply(workloads.pod("one", namespace))
    pod = cluster.wait_bound(namespace, "one")
    cluster.delete("pod", namespace, "one")
    cluster.wait_gone(namespace, "one")
    cluster.wait_job(pod["metadata"]["uid"], "CANCELLED")
    return pod["spec"]["nodeName"]


def test_waiting_pods_say_slurms_reason_and_start_when_there_is_room(cluster, namespace, full):
    cluster.apply(workloads.gang("queued", namespace, 2))
    message = cluster.wait_says(namespace, "queued-1", "is pending")
    assert "Resources" in message or "Priority" in message, message
    assert [r for r, _ in cluster.events(namespace, "queued-1")].count("FailedScheduling") == 1
    cluster.instance.run("scancel", full)
    cluster.wait_bound(namespace, "queued-0")
    cluster.wait_bound(namespace, "queued-1")


def test_pod_that_can_never_fit_says_so_in_slurms_words(cluster, namespace):
    cluster.apply(workloads.pod("huge", namespace, memory="900Gi"))
    message = cluster.wait_says(namespace, "huge", "no nodes of the Slurm cluster can hold it")
    assert "Requested node configuration is not available" in message, message
    cluster.wait("an Event says it too", lambda: [
        note for reason, note in cluster.events(namespace, "huge") if reason == "FailedScheduling"])
    uid = cluster.get("pod", namespace, "huge")["metadata"]["uid"]
    assert {job["JobState"] for job in cluster.jobs_of(uid)} == {"FAILED"}  # 26.05 keeps a record


def test_gang_that_is_too_large_for_its_partition_says_so(cluster, namespace):
    cluster.apply(workloads.gang("wide", namespace, 5, cpu="8"))
    message = cluster.wait_says(namespace, "wide-4", "is pending")
    assert "PartitionConfig" in message and "cannot hold it" in message, message


def test_unknown_partition_is_refused_with_the_rule_that_refused_it(cluster, namespace):
    cluster.apply(workloads.pod("lost", namespace, annotations={"slurmjob.slinky.slurm.net/partition": "nowhere"}))
    message = cluster.wait_says(namespace, "lost", "Slurm refused the job")
    assert "nowhere" in message and "k8s.conf" in message, message


def test_corrected_annotation_is_submitted_at_once(cluster, namespace):
    key = "slurmjob.slinky.slurm.net/partition"
    cluster.apply(workloads.pod("fixed", namespace, annotations={key: "nowhere"}))
    cluster.wait_says(namespace, "fixed", "Slurm refused the job")
    cluster.instance.kubectl("annotate", "pod", "-n", namespace, "fixed", f"{key}=batch", "--overwrite")
    cluster.wait_bound(namespace, "fixed", timeout=10)


def test_unknown_option_of_a_known_family_is_reported(cluster, namespace):
    cluster.apply(workloads.pod("typo", namespace, annotations={"slurmjob.slinky.slurm.net/particion": "batch"}))
    cluster.wait_bound(namespace, "typo")
    cluster.wait("an Event names the key", lambda: [
        note for reason, note in cluster.events(namespace, "typo") if "particion" in note])


def test_bad_option_is_refused_and_named(cluster, namespace):
    cluster.apply(workloads.pod("wrong", namespace, annotations={"slurmjob.slinky.slurm.net/timelimit": "soon"}))
    assert "timelimit" in cluster.wait_says(namespace, "wrong", "minutes")


def test_gated_pod_waits_for_its_gate(cluster, namespace):
    cluster.apply(workloads.pod("gated", namespace, schedulingGates=[{"name": "example.com/wait"}]),
                  workloads.pod("open", namespace))
    cluster.wait_bound(namespace, "open")
    uid = cluster.get("pod", namespace, "gated")["metadata"]["uid"]
    assert cluster.jobs_of(uid) == []
    cluster.instance.kubectl("patch", "pod", "-n", namespace, "gated", "--type=json",
                             "-p", '[{"op":"remove","path":"/spec/schedulingGates"}]')
    cluster.wait_bound(namespace, "gated")


def test_cordoned_node_gets_no_pods(cluster, namespace):
    for node in ("worker0", "worker1", "worker2"):
        cluster.instance.kubectl("cordon", node)
    try:
        # Of idle nodes Slurm takes the first: the last one only when the sidecar has seen all cordons.
        cluster.wait("a pod goes to worker3", lambda: node_of_one_pod(cluster, namespace) == "worker3")
        assert [node_of_one_pod(cluster, namespace) for _ in range(2)] == ["worker3", "worker3"]
    finally:
        for node in ("worker0", "worker1", "worker2"):
            cluster.instance.kubectl("uncordon", node)
