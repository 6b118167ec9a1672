# SPDX-License-Identifier: Apache-2.0
"""What each of the administrator's commands does to pods; the table in docs/administrator.md."""
import pytest

from tests import cluster as clusters
from tests import workloads


@pytest.fixture
def scontrol(cluster):
    """Runs scontrol as root; an error fails the test."""
    return lambda *words: cluster.instance.run("scontrol", *words)


@pytest.fixture
def queued(cluster, namespace, full):
    """A pod whose job waits because another has all nodes: (pod's name, job's number)."""
    cluster.apply(workloads.pod("queued", namespace))
    uid = cluster.get("pod", namespace, "queued")["metadata"]["uid"]
    return "queued", cluster.wait_job(uid, "PENDING")["JobId"]


@pytest.fixture
def running(cluster, namespace):
    """A gang of two that runs on two nodes: (pods' names, job's number)."""
    cluster.apply(workloads.gang("run", namespace, 2, cpu="8"))
    pods = [cluster.wait_bound(namespace, f"run-{i}") for i in range(2)]
    return ["run-0", "run-1"], pods[0]["metadata"]["labels"][clusters.JOB_ID_LABEL]


def node_of(cluster, namespace, name):
    """Where a pod is bound: Slurm chooses which nodes a gang gets."""
    return cluster.get("pod", namespace, name)["spec"]["nodeName"]


def field(cluster, job, key):
    """A field of a job."""
    return cluster.instance.job(job).get(key)


def test_hold_keeps_the_pod_waiting_and_release_lets_it_go(cluster, namespace, queued, full, scontrol):
    name, job = queued
    scontrol("hold", job)
    cluster.wait_says(namespace, name, "JobHeldAdmin")
    cluster.instance.run("scancel", full)
    scontrol("release", job)
    cluster.wait_bound(namespace, name)


@pytest.mark.parametrize("change, shown", [
    (("TimeLimit=77",), ("TimeLimit", "01:17:00")), (("Nice=50",), ("Nice", "50")),
    (("Priority=4000",), ("Priority", "4000")), (("Comment=by hand",), ("Comment", "by hand"))])
def test_updates_of_a_waiting_job_stay_and_the_pod_is_bound_as_before(cluster, namespace, queued, full, scontrol,
                                                                      change, shown):
    name, job = queued
    scontrol("update", f"JobId={job}", *change)
    cluster.instance.run("scancel", full)
    pod = cluster.wait_bound(namespace, name)
    assert pod["metadata"]["labels"][clusters.JOB_ID_LABEL] == job
    assert field(cluster, job, shown[0]) == shown[1]


def test_excluded_nodes_of_a_waiting_job_are_kept_off(cluster, namespace, queued, full, scontrol):
    name, job = queued
    scontrol("update", f"JobId={job}", "ExcNodeList=worker[0-2]")
    cluster.instance.run("scancel", full)
    assert cluster.wait_bound(namespace, name)["spec"]["nodeName"] == "worker3"


def test_another_partition_gives_its_nodes(cluster, namespace, queued, full, scontrol):
    name, job = queued
    scontrol("create", "PartitionName=last", "Nodes=worker3", "State=UP")
    try:
        # Slurm says EAGAIN while it happens to look at the job.
        cluster.wait("the update", lambda: cluster.instance.run(
            "scontrol", "update", f"JobId={job}", "Partition=last", check=False).returncode == 0)
        cluster.instance.run("scancel", full)
        assert cluster.wait_bound(namespace, name)["spec"]["nodeName"] == "worker3"
        cluster.delete("pod", namespace, name)
        cluster.wait("the job ends", lambda: field(cluster, job, "JobState") == "CANCELLED")
    finally:
        scontrol("delete", "PartitionName=last")


def test_a_start_time_and_a_dependency_hold_the_pod_until_then(cluster, namespace, queued, full, scontrol):
    name, job = queued
    scontrol("update", f"JobId={job}", "StartTime=now+1hour")
    cluster.wait_says(namespace, name, "BeginTime")
    scontrol("update", f"JobId={job}", "StartTime=now", f"Dependency=afterany:{full}")
    cluster.wait_says(namespace, name, "Dependency")
    cluster.instance.run("scancel", full)
    cluster.wait_bound(namespace, name)


def test_top_puts_a_users_job_first(cluster, namespace, queued, full):
    name, job = queued
    done = cluster.instance.run("scontrol", "top", job, check=False)
    assert done.returncode == 0 or "disabled" in done.stderr
    cluster.instance.run("scancel", full)
    cluster.wait_bound(namespace, name)


def test_a_shrunk_job_loses_the_pods_of_the_nodes_it_gave_back(cluster, namespace, running, scontrol):
    _, job = running
    lost = node_of(cluster, namespace, "run-1")
    scontrol("update", f"JobId={job}", "NumNodes=1")
    cluster.wait_gone(namespace, "run-1")
    assert clusters.scheduled_message(cluster.get("pod", namespace, "run-0")) == ""
    assert ("SlurmNodeReleased", f"Slurm job {job} no longer has the node {lost}") in cluster.events(namespace, "run-1")


def test_requeue_is_refused_by_slurm_and_the_pods_run_on(cluster, namespace, running):
    names, job = running
    done = cluster.instance.run("scontrol", "requeue", job, check=False)
    assert done.returncode != 0
    assert field(cluster, job, "JobState") == "RUNNING"
    assert all(cluster.get("pod", namespace, name)["spec"]["nodeName"] for name in names)


def test_a_suspended_jobs_pods_run_on_and_say_so(cluster, namespace, running, scontrol):
    names, job = running
    scontrol("suspend", job)
    for name in names:
        cluster.wait("its Event", lambda n=name: [r for r, _ in cluster.events(namespace, n) if r == "JobSuspended"])
    scontrol("resume", job)
    cluster.wait("it runs", lambda: field(cluster, job, "JobState") == "RUNNING")
    assert all(cluster.get("pod", namespace, name) for name in names)


@pytest.mark.parametrize("options", [(), ("--signal=KILL",), ("--signal=KILL", "--full")])
def test_scancel_ends_the_pods(cluster, namespace, running, options):
    names, job = running
    cluster.instance.run("scancel", *options, job)
    for name in names:
        cluster.wait_gone(namespace, name)


@pytest.mark.parametrize("options", [("--signal=TERM",), ("--signal=USR1", "--full"), ("--signal=KILL", "--batch")])
def test_scancel_with_a_signal_for_processes_does_nothing(cluster, namespace, running, options):
    names, job = running
    cluster.instance.run("scancel", *options, job, check=False)
    cluster.instance.run("scancel", "--signal=CONT", job, check=False)  # slurmctld has dealt with the first
    assert field(cluster, job, "JobState") == "RUNNING"
    assert all(cluster.get("pod", namespace, name)["spec"]["nodeName"] for name in names)


@pytest.mark.parametrize("change, back, says", [
    ("State=DOWN", "State=UP", "PartitionDown"), ("State=INACTIVE", "State=UP", "PartitionInactive")])
def test_a_partition_that_is_closed_keeps_its_pods_waiting(cluster, namespace, scontrol, change, back, says):
    scontrol("update", "PartitionName=batch", change)
    try:
        cluster.apply(workloads.pod("waits", namespace))
        cluster.wait_pod(namespace, "waits", "told", lambda pod: says in clusters.scheduled_message(pod)
                         or "partition" in clusters.scheduled_message(pod).lower())
    finally:
        scontrol("update", "PartitionName=batch", back)
    cluster.wait_bound(namespace, "waits")


def test_a_partitions_time_limit_is_told_and_lifted(cluster, namespace, scontrol):
    scontrol("update", "PartitionName=batch", "MaxTime=5")
    try:
        cluster.apply(workloads.pod("long", namespace, annotations={"slurmjob.slinky.slurm.net/timelimit": "60"}))
        cluster.wait_pod(namespace, "long", "told why", clusters.scheduled_message)
    finally:
        scontrol("update", "PartitionName=batch", "MaxTime=INFINITE")
    cluster.wait_bound(namespace, "long")


def test_a_drained_node_takes_no_new_pods_and_keeps_its_own(cluster, namespace, running, scontrol):
    used = [node_of(cluster, namespace, name) for name in running[0]]
    closed, free = sorted({f"worker{i}" for i in range(4)} - set(used))
    scontrol("update", f"NodeName={used[0]},{closed}", "State=DRAIN", "Reason=test")
    try:
        cluster.apply(workloads.pod("new", namespace, cpu="8"))
        assert cluster.wait_bound(namespace, "new")["spec"]["nodeName"] == free
        assert node_of(cluster, namespace, running[0][0]) == used[0]
    finally:
        scontrol("update", f"NodeName={used[0]},{closed}", "State=RESUME")


def test_a_node_that_goes_down_takes_its_job_along(cluster, namespace, running, scontrol):
    names, job = running
    node = node_of(cluster, namespace, names[0])
    scontrol("update", f"NodeName={node}", "State=DOWN", "Reason=test")
    try:
        for name in names:
            cluster.wait_gone(namespace, name)
        assert field(cluster, job, "JobState") in ("NODE_FAIL", "COMPLETING")
    finally:
        scontrol("update", f"NodeName={node}", "State=RESUME")


def test_features_decide_where_a_constraint_leads(cluster, namespace, scontrol):
    scontrol("update", "NodeName=worker2", "AvailableFeatures=ssd", "ActiveFeatures=ssd")
    try:
        cluster.apply(workloads.pod("fast", namespace, annotations={"slurmjob.slinky.slurm.net/constraints": "ssd"}))
        assert cluster.wait_bound(namespace, "fast")["spec"]["nodeName"] == "worker2"
    finally:
        scontrol("update", "NodeName=worker2", "AvailableFeatures=", "ActiveFeatures=")


def test_a_reservation_keeps_pods_off_until_it_is_deleted(cluster, namespace, scontrol):
    scontrol("create", "reservation", "ReservationName=closed", "StartTime=now", "Duration=60", "Users=bob", "Nodes=ALL")
    try:
        cluster.apply(workloads.pod("outside", namespace))
        cluster.wait_pod(namespace, "outside", "told why", clusters.scheduled_message)
    finally:
        scontrol("delete", "ReservationName=closed")
    cluster.wait_bound(namespace, "outside")


def test_reconfigure_disturbs_no_pod(cluster, namespace, running):
    names, job = running
    cluster.instance.reconfigure()
    cluster.apply(workloads.pod("after", namespace))
    cluster.wait_bound(namespace, "after")
    assert field(cluster, job, "JobState") == "RUNNING"
    assert all(cluster.get("pod", namespace, name)["spec"]["nodeName"] for name in names)
