# SPDX-License-Identifier: Apache-2.0
"""Manifests of the objects that tests create, as dicts."""

SCHEDULER = "slurm-bridge-scheduler"
RUN_SECONDS = "test.slurm-k8s.dev/run-seconds"   # how long a simulated pod runs
EXIT_CODE = "test.slurm-k8s.dev/exit-code"       # and how it ends
TERM_SECONDS = "test.slurm-k8s.dev/term-seconds"  # from its deletion until it is gone
FOREVER = 100_000
GROUP_LABEL = "scheduling.x-k8s.io/pod-group"


def pod(name, namespace, cpu="1", memory="1Gi", seconds=FOREVER, exit_code=0, group=None, annotations=None,
        scheduler=SCHEDULER, index=None, **spec):
    """A pod with one container; SECONDS it runs once bound."""
    labels = {}
    if group:
        labels[GROUP_LABEL] = group
    if index is not None:
        labels["batch.kubernetes.io/job-completion-index"] = str(index)
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels,
                     "annotations": {RUN_SECONDS: str(seconds), EXIT_CODE: str(exit_code), **(annotations or {})}},
        "spec": {"schedulerName": scheduler, "restartPolicy": "Never",
                 "containers": [{"name": "main", "image": "example.invalid/none",
                                 "resources": {"requests": {"cpu": cpu, "memory": memory}}}], **spec}}


def group(name, namespace, members, annotations=None):
    """A scheduling.x-k8s.io PodGroup."""
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
            "metadata": {"name": name, "namespace": namespace, "annotations": annotations or {}},
            "spec": {"minMember": members}}


def gang(name, namespace, members, **options):
    """A PodGroup and its pods NAME-0 … NAME-(MEMBERS-1)."""
    return [group(name, namespace, members)] + [
        pod(f"{name}-{i}", namespace, group=name, index=i, **options) for i in range(members)]
