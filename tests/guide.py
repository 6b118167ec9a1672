# SPDX-License-Identifier: Apache-2.0
"""The TrainJob of Kubeflow's guide for this kind of bridge, and one with a step before it."""
import copy

import yaml

from tests.env import cache

NAMESPACE = "trainer-slurm"
MANIFESTS = cache.REPOSITORY / "tests/env/manifests"


def load(name: str) -> dict:
    """One manifest of the guide."""
    return yaml.safe_load((MANIFESTS / name).read_text())


def train_job(name: str = "pytorch-slurm", runtime: str = "torch-distributed-slurm", seconds: int = 10,
              cpu: str = "1", exit_code: int = 0) -> dict:
    """The guide's TrainJob; its simulated pods run for SECONDS."""
    job = load("trainjob.yaml")
    job["metadata"]["name"] = name
    job["spec"]["runtimeRef"]["name"] = runtime
    for kind in ("requests", "limits"):
        job["spec"]["trainer"]["resourcesPerNode"][kind]["cpu"] = cpu
    job["spec"]["trainer"]["env"] = [{"name": "TEST_RUN_SECONDS", "value": str(seconds)},
                                     {"name": "TEST_EXIT_CODE", "value": str(exit_code)}]
    return job


def runtime_with_initializer(name: str, seconds: int) -> dict:
    """The guide's runtime with a step that must end before the others start."""
    runtime = load("runtime.yaml")
    runtime["metadata"]["name"] = name
    jobs = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    first = copy.deepcopy(jobs[0])
    first["name"] = "dataset-initializer"
    first["template"]["metadata"]["labels"] = {"trainer.kubeflow.org/trainjob-ancestor-step": "dataset-initializer"}
    container = first["template"]["spec"]["template"]["spec"]["containers"][0]
    container["name"] = "dataset-initializer"
    container["env"] = [{"name": "TEST_RUN_SECONDS", "value": str(seconds)}]
    jobs[0]["dependsOn"] = [{"name": "dataset-initializer", "status": "Complete"}]
    jobs.insert(0, first)
    return runtime


def apply(instance, **options) -> None:
    """Create runtime and TrainJob."""
    instance.apply(yaml.safe_dump_all([load("runtime.yaml"), train_job(**options)]))


def apply_with_initializer(instance, name: str, seconds: int) -> None:
    """Create a TrainJob whose dataset initializer runs first."""
    instance.apply(yaml.safe_dump_all([runtime_with_initializer(f"{name}-runtime", seconds),
                                       train_job(name, f"{name}-runtime", seconds)]))
