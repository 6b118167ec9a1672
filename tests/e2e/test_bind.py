# SPDX-License-Identifier: Apache-2.0
"""From pods to a running job: what is bound, where, and what is written about it."""
from tests import cluster as clusters
from tests import workloads


def test_single_pod_becomes_a_job_of_the_mapped_user_and_is_bound_to_its_node(cluster, namespace):
    cluster.apply(workloads.pod("alone", namespace))
    pod = cluster.wait_bound(namespace, "alone")
    job = cluster.wait_job(pod["metadata"]["uid"], "RUNNING")
    assert job["NodeList"] == pod["spec"]["nodeName"]
    assert pod["metadata"]["labels"][clusters.JOB_ID_LABEL] == job["JobId"]
    assert pod["metadata"]["annotations"][clusters.NODE_ANNOTATION] == job["NodeList"]
    assert job["UserId"].startswith("alice(")
    assert job["Partition"] == "batch"
    assert job["tag"]["name"] == "alone" and job["tag"]["namespace"] == namespace
    cluster.wait("event Scheduled", lambda: [r for r, _ in cluster.events(namespace, "alone") if r == "Scheduled"])


def test_gang_becomes_one_job_and_ranks_follow_slurms_node_order(cluster, namespace):
    cluster.apply(workloads.gang("ring", namespace, 4, cpu="8"))
    pods = [cluster.wait_bound(namespace, f"ring-{i}") for i in range(4)]
    nodes = [pod["spec"]["nodeName"] for pod in pods]
    assert nodes == sorted(nodes) and len(set(nodes)) == 4
    ids = {pod["metadata"]["labels"][clusters.JOB_ID_LABEL] for pod in pods}
    assert len(ids) == 1
    group = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "ring")
    job = cluster.wait_job(group["metadata"]["uid"], "RUNNING")
    assert job["NumTasks"] == "4" and job["NumNodes"] == "4" and {job["JobId"]} == ids


def test_small_pods_of_a_gang_share_a_node(cluster, namespace):
    cluster.apply(workloads.gang("pack", namespace, 4, cpu="2"))
    nodes = {cluster.wait_bound(namespace, f"pack-{i}")["spec"]["nodeName"] for i in range(4)}
    assert len(nodes) == 1


def test_small_pods_fill_nodes_in_rank_order_as_slurm_gave_them(cluster, namespace):
    cluster.apply(workloads.gang("fill", namespace, 5, cpu="4"))
    pods = [cluster.wait_bound(namespace, f"fill-{i}") for i in range(5)]
    nodes = [pod["spec"]["nodeName"] for pod in pods]
    job = cluster.wait_job(cluster.get("podgroups.scheduling.x-k8s.io", namespace, "fill")["metadata"]["uid"], "RUNNING")
    assert job["NumNodes"] == "3" and len(set(nodes)) == 3
    assert nodes == sorted(nodes) and sorted(map(nodes.count, set(nodes))) == [1, 2, 2]


def test_nodes_that_slurm_does_not_know_are_in_nobodys_way(cluster, namespace):
    cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "control-plane"},
                   "spec": {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}})
    try:
        cluster.apply(workloads.pod("anywhere", namespace),
                      workloads.pod("there", namespace, nodeSelector={"kubernetes.io/hostname": "worker2"}))
        assert cluster.wait_bound(namespace, "there")["spec"]["nodeName"] == "worker2"
        cluster.wait_bound(namespace, "anywhere")
    finally:
        cluster.instance.kubectl("delete", "node", "control-plane")


def test_memory_below_a_mebibyte_asks_for_one_and_not_for_the_node(cluster, namespace):
    cluster.apply(workloads.pod("tiny", namespace, cpu="500m", memory="512Ki"))
    pod = cluster.wait_bound(namespace, "tiny")
    job = cluster.wait_job(pod["metadata"]["uid"], "RUNNING")
    assert job["MinMemoryCPU"] == "1M"


def test_gang_waits_until_all_its_pods_are_there_and_says_so(cluster, namespace):
    objects = workloads.gang("late", namespace, 3)
    cluster.apply(objects[:-1])
    cluster.wait_says(namespace, "late-0", "2 of 3 are there")
    group = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "late")
    assert cluster.jobs_of(group["metadata"]["uid"]) == []
    cluster.apply(objects[-1:])
    cluster.wait_bound(namespace, "late-0")
    cluster.wait_bound(namespace, "late-2")


def test_same_group_name_in_two_namespaces_is_two_jobs(cluster, namespace):
    other = cluster.namespace()
    for ns in (namespace, other):
        cluster.apply(workloads.gang("twin", ns, 2))
    ids = {cluster.wait_bound(ns, "twin-0")["metadata"]["labels"][clusters.JOB_ID_LABEL] for ns in (namespace, other)}
    assert len(ids) == 2
    cluster.instance.kubectl("delete", "namespace", other, "--wait=false")


def test_node_selector_is_honoured(cluster, namespace):
    cluster.apply(workloads.pod("picky", namespace, nodeSelector={"kubernetes.io/hostname": "worker2"}))
    assert cluster.wait_bound(namespace, "picky")["spec"]["nodeName"] == "worker2"


def test_pod_of_another_scheduler_is_left_alone(cluster, namespace):
    cluster.apply(workloads.pod("foreign", namespace, scheduler="mine"), workloads.pod("ours", namespace))
    cluster.wait_bound(namespace, "ours")
    foreign = cluster.get("pod", namespace, "foreign")
    assert "nodeName" not in foreign["spec"] and foreign["status"].get("conditions") is None


def test_bind_and_event_are_the_only_writes_per_pod(cluster, namespace):
    def writes():
        return {kind: sum(cluster.metric(f'slurm_k8s_kube_requests_total{{code="{code}",request="{kind}"}}')
                          for code in (200, 201)) for kind in ("bind", "event", "pod status", "delete pod")}
    before = writes()
    cluster.apply(workloads.gang("count", namespace, 4, cpu="1"))
    for i in range(4):
        cluster.wait_bound(namespace, f"count-{i}")
    cluster.wait("all events written", lambda: writes()["event"] - before["event"] >= 4)
    after = writes()
    assert {kind: after[kind] - before[kind] for kind in after} == {
        "bind": 4, "event": 4, "pod status": 0, "delete pod": 0}
