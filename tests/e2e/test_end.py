# SPDX-License-Identifier: Apache-2.0
"""Ends, from either side."""
import time

from tests import cluster as clusters
from tests import workloads


def test_pods_that_succeed_complete_the_job(cluster, namespace):
    cluster.apply(workloads.gang("fine", namespace, 2, seconds=1))
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "fine")["metadata"]["uid"]
    job = cluster.wait_job(uid, "COMPLETED")
    assert job["ExitCode"] == "0:0"


def test_first_failing_exit_code_becomes_the_jobs(cluster, namespace):
    cluster.apply(workloads.group("bad", namespace, 2),
                  workloads.pod("bad-0", namespace, group="bad", index=0, seconds=3),
                  workloads.pod("bad-1", namespace, group="bad", index=1, seconds=1, exit_code=3))
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "bad")["metadata"]["uid"]
    job = cluster.wait_job(uid, "FAILED")
    assert job["ExitCode"] == "3:0"


def test_scancel_marks_and_deletes_the_pods_within_a_second(cluster, namespace):
    cluster.apply(workloads.gang("doomed", namespace, 2))
    job = cluster.wait_bound(namespace, "doomed-0")["metadata"]["labels"][clusters.JOB_ID_LABEL]
    cluster.wait_bound(namespace, "doomed-1")
    watch = cluster.watch_pods(namespace)
    start = time.time()
    cluster.instance.run("scancel", job, user="alice")
    deleted = watch.wait_deleting({"doomed-0", "doomed-1"})
    assert all(seen - start < 1.0 for seen, _ in deleted.values()), {k: v[0] - start for k, v in deleted.items()}
    assert all(clusters.has_condition(pod, "DisruptionTarget") for _, pod in deleted.values())
    cluster.wait_gone(namespace, "doomed-0")
    cluster.wait_gone(namespace, "doomed-1")


def test_time_limit_ends_the_pods(cluster, namespace):
    cluster.apply(workloads.pod("long", namespace, annotations={"slurmjob.slinky.slurm.net/timelimit": "1"}))
    pod = cluster.wait_bound(namespace, "long")
    cluster.wait_gone(namespace, "long", timeout=150)
    cluster.wait_job(pod["metadata"]["uid"], "TIMEOUT")


def test_deleting_a_running_pod_cancels_its_job(cluster, namespace):
    cluster.apply(workloads.pod("gone", namespace))
    uid = cluster.wait_bound(namespace, "gone")["metadata"]["uid"]
    cluster.delete("pod", namespace, "gone")
    cluster.wait_job(uid, "CANCELLED")


def test_deleting_a_waiting_pod_cancels_its_job_at_once(cluster, namespace, full):
    cluster.apply(workloads.pod("never", namespace))
    uid = cluster.get("pod", namespace, "never")["metadata"]["uid"]
    cluster.wait_job(uid, "PENDING")
    start = time.monotonic()
    cluster.delete("pod", namespace, "never")
    cluster.wait_job(uid, "CANCELLED")
    assert time.monotonic() - start < 3.0


def test_deleting_a_waiting_group_cancels_its_job(cluster, namespace, full):
    cluster.apply(workloads.gang("nogroup", namespace, 2))
    uid = cluster.get("podgroups.scheduling.x-k8s.io", namespace, "nogroup")["metadata"]["uid"]
    cluster.wait_job(uid, "PENDING")
    cluster.delete("podgroups.scheduling.x-k8s.io", namespace, "nogroup")
    cluster.wait_job(uid, "CANCELLED")


def test_native_jobs_are_never_touched(cluster, namespace):
    done = cluster.instance.run("srun", "-N2", "--mem=100", "hostname", user="bob")
    assert done.returncode == 0 and len(done.stdout.split()) == 2
    cluster.apply(workloads.pod("beside", namespace))
    cluster.wait_bound(namespace, "beside")
    done = cluster.instance.run("srun", "-N2", "--mem=100", "true", user="bob")
    assert done.returncode == 0
    assert all("tag" not in job for job in cluster.jobs() if job["UserId"].startswith("bob("))
