# SPDX-License-Identifier: Apache-2.0
"""The environment itself: two instances at once, both sides of each, its daemons killed and back."""
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.env import control_plane_objects
from tests.env.instance import Instance
from tests.env.slurm import parse_job


@pytest.fixture(scope="module")
def instances():
    """Two new instances of two nodes, started at the same time; deleted in the end."""
    pair = [Instance(f"self-test-{os.getpid()}-{letter}", nodes=2) for letter in "ab"]
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(Instance.start, pair))
        yield pair
    finally:
        for instance in pair:
            instance.destroy()


@pytest.fixture
def instance(instances):
    """One of them."""
    return instances[0]


def pod(name: str, node=None, **annotations) -> str:
    """A pod as JSON; annotations without their prefix, "_" for "-"."""
    named = {f"test.slurm-k8s.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    spec = {"containers": [{"name": "c", "image": "registry.invalid/none"}], "restartPolicy": "Never"}
    if node:
        spec["nodeName"] = node
    metadata = {"name": name, "annotations": named}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def phase(instance, name: str) -> str:
    """The pod's phase."""
    return instance.kubectl("get", "pod", name, "-o", "jsonpath={.status.phase}")


def test_everything_runs_in_both_and_nothing_is_shared(instances):
    for instance in instances:
        states = instance.status()
        assert [name for name, pid in states.items() if not pid] == ["sidecar"]
    assert not set(instances[0].status().values()) & set(instances[1].status().values()) - {None}
    instances[0].apply(pod("only-here", "worker0"))
    assert "only-here" not in instances[1].kubectl("get", "pods")


def test_a_pod_on_a_node_runs_until_its_time_is_over(instance):
    instance.apply(pod("timed", "worker0", run_seconds="0.5", exit_code="3"))
    instance.wait_for(lambda: phase(instance, "timed") == "Failed", 30, "the pod ends")
    state = instance.kube_json("get", "pod", "timed")["status"]["containerStatuses"][0]["state"]
    assert state["terminated"]["exitCode"] == 3


def test_a_pod_without_a_time_runs_on_and_goes_at_once_when_deleted(instance):
    instance.apply(pod("endless", "worker1"))
    instance.wait_for(lambda: phase(instance, "endless") == "Running", 30, "the pod runs")
    instance.kubectl("delete", "pod", "endless", timeout=10)


def test_srun_runs_on_two_nodes(instance):
    done = instance.run("srun", "-N2", "--mem=100", "hostname", user="alice")
    assert sorted(done.stdout.split()) == ["worker0", "worker1"]


def test_the_guides_trainjob_becomes_a_group_of_pods_for_slurm(instance):
    for name in ("runtime.yaml", "trainjob.yaml"):
        instance.apply(control_plane_objects.MANIFESTS / name)
    space = ("-n", "trainer-slurm")
    pods = instance.wait_for(
        lambda: (found := instance.kube_json("get", "pods", *space)["items"]) and len(found) == 2 and found,
        30, "two pods")
    assert {p["spec"]["schedulerName"] for p in pods} == {"slurm-bridge-scheduler"}
    assert instance.kube_json("get", "podgroups.scheduling.x-k8s.io", "pytorch-slurm", *space)["spec"]["minMember"] == 2
    instance.kubectl("delete", "trainjob", "pytorch-slurm", *space)


def test_the_sidecar_may_do_what_it_needs_and_no_more(instance):
    def may(verb, resource, part=""):
        return instance.kubectl("auth", "can-i", verb, resource, f"--subresource={part}", "-A",
                                "--as=system:serviceaccount:slurm-k8s:slurm-k8s", check=False).strip() == "yes"
    assert may("watch", "pods") and may("create", "pods", "binding") and may("patch", "pods", "status")
    assert not may("patch", "pods") and not may("list", "secrets") and not may("patch", "nodes")


@pytest.mark.parametrize("name", ["slurmctld", "slurmd-worker0", "etcd", "kube-apiserver", "kwok"])
def test_a_killed_daemon_comes_back(instance, name):
    before = instance.status()[name]
    instance.kill(name)
    assert instance.status()[name] is None
    instance.restart(name)
    assert instance.status()[name] not in (None, before)


def test_the_commands_work_from_a_shell_outside(instance):
    def out(command):
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=True,
                              env={**os.environ, "PATH": f"{instance.directory}/bin:{os.environ['PATH']}"}).stdout
    assert "batch" in out("sinfo")
    assert "worker1" in out("kubectl get nodes")


def test_sbatch_takes_a_script_of_the_user(instance, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    subprocess.run([instance.directory / "bin/sbatch", "--wait", "--mem=100", script], check=True, timeout=60)


def test_stopped_instances_keep_their_state(instances):
    instance = instances[1]
    instance.apply(pod("kept", "worker0"))
    instance.stop()
    assert not any(instance.status().values())
    Instance.load(instance.name).start()
    assert phase(instance, "kept") in ("Pending", "Running")


def test_free_text_of_a_job_stays_whole():
    job = parse_job('JobId=7 JobName=a b\n   JobState=RUNNING Reason=None\n   AdminComment={"x":"A=1 B=2"}\n')
    assert job == {"JobId": "7", "JobName": "a b", "JobState": "RUNNING", "Reason": "None",
                   "AdminComment": '{"x":"A=1 B=2"}'}
