# SPDX-License-Identifier: Apache-2.0
"""The sidecar is killed; what it left is taken up by the next one."""
import re
import signal

import pytest

from tests import cluster as clusters
from tests import workloads

GROUPS = "podgroups.scheduling.x-k8s.io"
RUNNING = 'slurm_k8s_gangs{state="Running"}'
SLURMCTLD_PORT = 6817


def kill(cluster) -> None:
    """kill -9, without starting it again."""
    cluster.instance.kill("sidecar", signal.SIGKILL)


def unread(cluster, port: int) -> bool:
    """Whether a request to that port has arrived that its frozen daemon has not read."""
    done = cluster.instance.run("ss", "-Htn", "state", "established", f"sport = :{port}")
    return any(int(line.split()[0]) > 0 for line in done.stdout.splitlines())


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


def test_killed_before_its_submission_is_answered(cluster, namespace):
    with cluster.frozen("slurmctld"):
        cluster.apply(workloads.gang("g", namespace, 4))
        cluster.wait_logged(f"submitting gang={namespace}/g")
        cluster.wait("the request is at slurmctld", lambda: unread(cluster, SLURMCTLD_PORT))
        kill(cluster)
        assert f"submitted gang={namespace}/g" not in cluster.log()
    cluster.instance.start_sidecar()
    all_bound_to_one_job(cluster, namespace, "g", 4)


@pytest.mark.parametrize("told", [False, True], ids=["before", "after"])
def test_killed_while_the_job_waits_before_and_after_the_pods_say_so(cluster, namespace, full, told):
    cluster.apply(workloads.gang("g", namespace, 2))
    uid = group_uid(cluster, namespace, "g")
    before = cluster.wait_job(uid, "PENDING")["JobId"]
    if told:
        cluster.wait_says(namespace, "g-1", "is pending")
    kill(cluster)
    assert bool(clusters.scheduled_message(cluster.get("pod", namespace, "g-1"))) == told
    cluster.instance.start_sidecar()
    cluster.wait_says(namespace, "g-1", "is pending")
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


def test_killed_before_its_bindings_are_answered(cluster, namespace, full):
    cluster.wait("no gang of another test runs", lambda: cluster.metric(RUNNING) == 0)
    cluster.apply(workloads.gang("g", namespace, 4))
    before = cluster.wait_job(group_uid(cluster, namespace, "g"), "PENDING")["JobId"]
    with cluster.frozen("kube-apiserver"):
        cluster.instance.run("scancel", full)
        cluster.wait("it knows that the job runs", lambda: cluster.metric(RUNNING) == 1)
        kill(cluster)
        assert f"pod bound pod={namespace}/g" not in cluster.log()
    cluster.instance.start_sidecar()
    assert all_bound_to_one_job(cluster, namespace, "g", 4) == before


def test_killed_when_some_of_the_pods_are_bound(cluster, namespace):
    cluster.apply(workloads.pod("old", namespace, cpu="8", annotations={workloads.TERM_SECONDS: "6"}))
    old = cluster.wait_bound(namespace, "old")
    cluster.instance.run("scancel", old["metadata"]["labels"][clusters.JOB_ID_LABEL])
    cluster.wait_pod(namespace, "old", "being deleted", lambda pod: "deletionTimestamp" in pod["metadata"])
    cluster.apply(workloads.gang("g", namespace, 4, cpu="8"))
    names = [f"g-{i}" for i in range(4)]

    def unbound():
        return [pod for name in names if not (pod := cluster.get("pod", namespace, name))["spec"].get("nodeName")]
    cluster.wait("one pod finds no room", lambda: len(left := unbound()) == 1 and
                 "has no room for the pod yet" in clusters.scheduled_message(left[0]))
    kill(cluster)
    assert len(unbound()) == 1
    cluster.instance.start_sidecar()
    all_bound_to_one_job(cluster, namespace, "g", 4)


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


def test_killed_before_the_pods_of_a_cancelled_job_are_deleted(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2))
    job = all_bound_to_one_job(cluster, namespace, "g", 2)
    with cluster.frozen("kube-apiserver"):
        cluster.instance.run("scancel", job)
        cluster.wait_logged(f"deleting pod pod={namespace}/g-0")
        kill(cluster)
    assert all("deletionTimestamp" not in pod["metadata"] for pod in cluster.pods(namespace))
    watch = cluster.watch_pods(namespace)
    cluster.instance.start_sidecar()
    deleted = watch.wait_deleting({"g-0", "g-1"})
    assert all(clusters.has_condition(pod, "DisruptionTarget") for _, pod in deleted.values())


def test_killed_when_the_pods_of_a_cancelled_job_are_marked(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2, annotations={workloads.TERM_SECONDS: "3"}))
    job = all_bound_to_one_job(cluster, namespace, "g", 2)
    cluster.instance.run("scancel", job)
    for i in range(2):
        cluster.wait_pod(namespace, f"g-{i}", "marked", lambda pod: clusters.has_condition(pod, "DisruptionTarget"))
    kill(cluster)
    assert len(cluster.pods(namespace)) == 2
    cluster.instance.start_sidecar()
    cluster.wait_gone(namespace, "g-0")
    cluster.wait_gone(namespace, "g-1")


def test_killed_before_its_verb_is_answered(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2, seconds=4))
    uid = group_uid(cluster, namespace, "g")
    job = all_bound_to_one_job(cluster, namespace, "g", 2)
    with cluster.frozen("slurmctld"):
        cluster.wait_logged(f"ending job job={job} ")
        cluster.wait("the verb is at slurmctld", lambda: unread(cluster, SLURMCTLD_PORT))
        kill(cluster)
    cluster.instance.start_sidecar()
    assert cluster.wait_job(uid, "COMPLETED")["ExitCode"] == "0:0"


def test_killed_when_the_job_is_over(cluster, namespace):
    cluster.apply(workloads.gang("g", namespace, 2, seconds=1))
    uid = group_uid(cluster, namespace, "g")
    before = cluster.wait_job(uid, "COMPLETED")["JobId"]
    kill(cluster)
    cluster.instance.start_sidecar()
    cluster.wait("it is ready", lambda: cluster.metric("slurm_k8s_ready") == 1)
    assert [job["JobId"] for job in cluster.jobs_of(uid)] == [before]
    assert {pod["status"]["phase"] for pod in cluster.pods(namespace)} == {"Succeeded"}


def test_sigterm_lets_a_submission_end_and_then_ends_quickly(cluster, namespace):
    def ended():
        return not cluster.instance.status()["sidecar"]
    with cluster.frozen("slurmctld"):
        cluster.apply(workloads.gang("g", namespace, 4))
        cluster.wait("the request is at slurmctld", lambda: unread(cluster, SLURMCTLD_PORT))
        assert cluster.instance.space.signal(cluster.instance.status()["sidecar"], signal.SIGTERM)
        cluster.wait_logged("stopping: what is under way ends first")
        assert not ended()
    cluster.wait("it ended", ended, 8)
    words = re.findall(rf"info (stopping|submitted gang={namespace}/g|stopped)\b", cluster.log())
    assert words == ["stopping", f"submitted gang={namespace}/g", "stopped"]
    cluster.instance.start_sidecar()
    all_bound_to_one_job(cluster, namespace, "g", 4)
