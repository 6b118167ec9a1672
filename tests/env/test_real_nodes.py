# SPDX-License-Identifier: Apache-2.0
"""The true hybrid nodes: pods are processes there."""
import json
import os
import time

import pytest

from tests.env import control_plane_objects
from tests.env.image import GUIDE
from tests.env.instance import Instance

SPACE = ("-n", "trainer-slurm")


@pytest.fixture(scope="module")
def instance():
    """A new instance of two true nodes; deleted in the end."""
    made = Instance(f"self-test-{os.getpid()}-real", nodes=0, real_nodes=2)
    try:
        yield made.start()
    finally:
        made.destroy()
        assert not made.real_nodes.pod_processes()


def pod(name: str, node: str, seconds: int) -> str:
    """A pod bound to NODE from the start."""
    container = {"name": "c", "image": GUIDE, "env": [{"name": "TEST_RUN_SECONDS", "value": str(seconds)}]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                       "spec": {"containers": [container], "restartPolicy": "Never", "nodeName": node}})


def phase(instance, name: str) -> str:
    """The pod's phase."""
    return instance.kubectl("get", "pod", name, "-o", "jsonpath={.status.phase}")


def bind(instance, name: str, node: str) -> None:
    """What the sidecar does, by hand."""
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
               "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
    instance.kubectl("create", "--raw", f"/api/v1/namespaces/trainer-slurm/pods/{name}/binding", "-f", "-",
                     input=json.dumps(binding))


def test_slurm_runs_beside_the_kubelets(instance):
    done = instance.run("srun", "-N2", "--mem=100", "hostname", user="alice")
    assert sorted(done.stdout.split()) == ["real0", "real1"]


def test_the_guides_trainjob_runs_as_processes(instance):
    for name in ("runtime.yaml", "trainjob.yaml"):
        instance.apply(control_plane_objects.MANIFESTS / name)
    pods = instance.wait_for(
        lambda: (found := instance.kube_json("get", "pods", *SPACE)["items"]) and len(found) == 2 and found,
        30, "two pods")
    for index, item in enumerate(pods):
        bind(instance, item["metadata"]["name"], f"real{index}")
    instance.wait_for(lambda: len(instance.real_nodes.pod_processes()) >= 2, 30, "processes of the pods")
    instance.wait_for(lambda: instance.kubectl(
        "get", "trainjob", "pytorch-slurm", *SPACE,
        "-o", "jsonpath={.status.conditions[?(@.type=='Complete')].status}") == "True", 60, "TrainJob Complete")
    assert "pid 1 runs" in instance.kubectl("logs", pods[0]["metadata"]["name"], *SPACE)
    instance.kubectl("delete", "trainjob", "pytorch-slurm", *SPACE)


def test_a_killed_kubelet_leaves_its_pods_alone(instance):
    instance.apply(pod("steady", "real0", 600))
    instance.wait_for(lambda: phase(instance, "steady") == "Running", 30, "the pod runs")
    before = instance.real_nodes.pod_processes()
    instance.kill("kubelet-real0")
    instance.restart("kubelet-real0")
    assert before and before <= instance.real_nodes.pod_processes()
    instance.kubectl("delete", "pod", "steady")


def test_a_stopped_instance_leaves_no_process_of_a_pod(instance):
    instance.apply(pod("left", "real1", 600))
    instance.wait_for(lambda: phase(instance, "left") == "Running", 30, "the pod runs")
    began = time.monotonic()
    instance.stop()
    assert time.monotonic() - began < 20
    assert not instance.real_nodes.pod_processes() and not instance.space.processes()
    instance.start()
    instance.wait_for(lambda: phase(instance, "left") != "Running", 60, "the pod that was killed has ended")
