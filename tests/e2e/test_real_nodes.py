# SPDX-License-Identifier: Apache-2.0
"""The guide's TrainJob where a real kubelet runs beside each slurmd: its pods are processes."""
import pytest

from tests import cluster as clusters
from tests import guide
from tests.e2e.test_guide import bound_pods, finished

NAMESPACE = guide.NAMESPACE


@pytest.fixture(scope="module")
def real():
    """Slurm with two nodes that have a kubelet and containerd, control plane, plugins, sidecar."""
    instance = clusters.start("e2e-real", nodes=0, real_nodes=2)
    yield clusters.Cluster(instance)
    instance.stop()


def running_pods(real):
    """The two pods of the TrainJob, once their processes run."""
    pods = bound_pods(real, "pytorch-slurm", 2)
    return pods if pods and all(pod["status"]["phase"] == "Running" for pod in pods) else None


def test_train_job_of_the_guide_runs_as_processes(real):
    guide.apply(real.instance, seconds=3)
    pods = real.wait("both pods run", lambda: running_pods(real))
    assert len(real.instance.real_nodes.pod_processes()) >= 2
    assert {pod["spec"]["nodeName"] for pod in pods} == {"real0", "real1"}
    group = real.get("podgroups.scheduling.x-k8s.io", NAMESPACE, "pytorch-slurm")
    real.wait("TrainJob Complete", lambda: finished(real.get("trainjob", NAMESPACE, "pytorch-slurm")))
    assert "pid 1 runs" in real.instance.kubectl("logs", "-n", NAMESPACE, pods[0]["metadata"]["name"])
    assert real.wait_job(group["metadata"]["uid"], "COMPLETED")["NodeList"] == "real[0-1]"
    real.delete("trainjob", NAMESPACE, "pytorch-slurm")
    real.wait("TrainJob gone", lambda: real.get("trainjob", NAMESPACE, "pytorch-slurm") is None)


def test_scancel_ends_the_processes(real):
    guide.apply(real.instance, seconds=600)
    pods = real.wait("both pods run", lambda: running_pods(real))
    job = pods[0]["metadata"]["labels"][clusters.JOB_ID_LABEL]
    before = real.instance.real_nodes.pod_processes()
    real.instance.run("scancel", job)
    real.wait("the processes gone", lambda: not before & real.instance.real_nodes.pod_processes())
    real.delete("trainjob", NAMESPACE, "pytorch-slurm")
    real.wait("pods gone", lambda: not real.pods(NAMESPACE))
