# SPDX-License-Identifier: Apache-2.0
"""Kubeflow's guide: a TrainJob, and one with steps that come before it."""
from tests import cluster as clusters
from tests import guide

NAMESPACE = guide.NAMESPACE


def finished(train_job: dict) -> bool:
    """Whether the TrainJob says Complete."""
    return clusters.has_condition(train_job, "Complete")


def bound_pods(cluster, name: str, count: int):
    """The pods of a TrainJob, once COUNT of them have a node."""
    pods = [pod for pod in cluster.pods(NAMESPACE) if pod["spec"].get("nodeName")
            and pod["metadata"]["labels"].get("jobset.sigs.k8s.io/jobset-name") == name]
    return pods if len(pods) == count else None


def test_train_job_of_the_guide_runs_as_one_slurm_job(cluster):
    guide.apply(cluster.instance, seconds=3)
    uid = cluster.wait("PodGroup", lambda: cluster.get("podgroups.scheduling.x-k8s.io", NAMESPACE, "pytorch-slurm"))
    assert uid["spec"]["minMember"] == 2
    pods = cluster.wait("both pods bound", lambda: bound_pods(cluster, "pytorch-slurm", 2))
    assert {pod["spec"]["schedulerName"] for pod in pods} == {"slurm-bridge-scheduler"}
    assert len({pod["metadata"]["labels"][clusters.JOB_ID_LABEL] for pod in pods}) == 1
    assert all(pod["metadata"]["annotations"][clusters.NODE_ANNOTATION] == pod["spec"]["nodeName"] for pod in pods)
    cluster.wait("TrainJob Complete", lambda: finished(cluster.get("trainjob", NAMESPACE, "pytorch-slurm")))
    cluster.wait("PodGroup Finished", lambda: cluster.get(
        "podgroups.scheduling.x-k8s.io", NAMESPACE, "pytorch-slurm").get("status", {}).get("phase") == "Finished")
    assert cluster.wait_job(uid["metadata"]["uid"], "COMPLETED")["ExitCode"] == "0:0"
    cluster.delete("trainjob", NAMESPACE, "pytorch-slurm")


def test_train_job_with_initializers_does_not_deadlock(cluster):
    guide.apply_with_initializer(cluster.instance, "staged", seconds=1)
    cluster.wait("TrainJob Complete", lambda: (job := cluster.get("trainjob", NAMESPACE, "staged")) and finished(job))
    group = cluster.get("podgroups.scheduling.x-k8s.io", NAMESPACE, "staged")
    jobs = cluster.wait("one job per step, both completed", lambda: (
        found := cluster.jobs_of(group["metadata"]["uid"])) and len(found) == 2 and all(
            job["JobState"] == "COMPLETED" for job in found) and found)
    assert sorted(job["NumTasks"] for job in jobs) == ["1", "2"]
    cluster.delete("trainjob", NAMESPACE, "staged")
