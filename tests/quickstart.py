# SPDX-License-Identifier: Apache-2.0
"""./quickstart [--stop | --status | --env | --destroy]: a cluster to try this checkout on."""
import argparse
import shlex
import subprocess
import sys
import time

from tests import guide
from tests.env import build, cache
from tests.env.instance import Instance

NAME = cache.of_this_checkout("quickstart")
NODES = 4
JOB_TIMEOUT_S = 120


def show(instance: Instance, *command) -> None:
    """Run one of the user's own tools and show command and output."""
    print(f"\n$ {shlex.join(command)}", flush=True)
    done = subprocess.run([instance.directory / "bin" / command[0], *command[1:]], text=True, capture_output=True)
    print((done.stdout + done.stderr).rstrip(), flush=True)


def wait(what: str, look):
    """LOOK's first true result, or EnvironmentError_."""
    deadline = time.monotonic() + JOB_TIMEOUT_S
    while time.monotonic() < deadline:
        if result := look():
            return result
        time.sleep(0.1)
    raise cache.EnvironmentError_(f"not within {JOB_TIMEOUT_S} s: {what}")


def start() -> Instance:
    """Everything up, with the plugins and the sidecar of this checkout."""
    where = build.build("forky", targets=["plugins/job_submit_k8s.so", "plugins/prep_k8s.so",
                                          "sidecar/slurm-k8s-sidecar"])
    instance = Instance(NAME, nodes=NODES)
    with cache.progress("starting Slurm and the control plane"):
        instance.start()
    with cache.progress("installing plugins and sidecar"):
        instance.install_plugins(where)
        instance.stop_sidecar()
        instance.install_sidecar(where)
        instance.start_sidecar()
    return instance


def run_guide(instance: Instance) -> None:
    """Apply the guide's TrainJob afresh and follow it to its end."""
    instance.kubectl("delete", "trainjob", "pytorch-slurm", "-n", guide.NAMESPACE, "--ignore-not-found")
    wait("the last run's pods gone", lambda: not instance.kube_json("get", "pods", "-n", guide.NAMESPACE)["items"])
    with cache.progress("running TrainJob pytorch-slurm"):
        guide.apply(instance)
        group = ("podgroups.scheduling.x-k8s.io", "pytorch-slurm", "-n", guide.NAMESPACE, "--ignore-not-found")
        wait("two pods bound", lambda: len(job_ids(instance)) == 2)
        job = job_ids(instance)[0]
        show(instance, "kubectl", "get", "pods", "-n", guide.NAMESPACE, "-o", "wide")
        show(instance, "squeue")
        wait("PodGroup Finished", lambda: instance.kubectl("get", *group, "-o", "jsonpath={.status.phase}") == "Finished")
        wait("TrainJob Complete", lambda: "Complete" in instance.kubectl(
            "get", "trainjob", "pytorch-slurm", "-n", guide.NAMESPACE,
            "-o", 'jsonpath={.status.conditions[?(@.status=="True")].type}'))
        wait("job over", lambda: instance.job(job).get("JobState") == "COMPLETED")
    show(instance, "kubectl", "get", "trainjobs,jobsets,jobs,pods,podgroups", "-n", guide.NAMESPACE)
    show(instance, "scontrol", "show", "job", job)


def job_ids(instance: Instance) -> list:
    """The job-id labels of the guide's pods."""
    text = instance.kubectl("get", "pods", "-n", guide.NAMESPACE, "-o",
                            r"jsonpath={.items[*].metadata.labels.scheduler\.slinky\.slurm\.net/slurm-jobid}")
    return text.split()


def main() -> int:
    """0 if what was asked for was done."""
    parser = argparse.ArgumentParser(prog="./quickstart", description=__doc__)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--stop", action="store_true", help="end all its processes; a later start is quick")
    action.add_argument("--status", action="store_true", help="what runs")
    action.add_argument("--env", action="store_true", help="export lines for a shell: eval \"$(./quickstart --env)\"")
    action.add_argument("--destroy", action="store_true", help="stop, and delete its state")
    arguments = parser.parse_args()
    try:
        return act(arguments)
    except (cache.EnvironmentError_, RuntimeError, TimeoutError) as error:
        print(f"quickstart: {error}", file=sys.stderr)
        return 1


def act(arguments) -> int:
    """Do what the options say."""
    if not (arguments.stop or arguments.status or arguments.env or arguments.destroy):
        run_guide(start())
        print("\nIt runs on. Look around with\n"
              '    eval "$(./quickstart --env)"    then kubectl, squeue, scontrol, sinfo, srun, scancel\n'
              "    ./quickstart --status\nand stop it with\n    ./quickstart --stop")
        return 0
    instance = Instance.load(NAME)
    if arguments.env:
        print(f'export PATH="{instance.directory}/bin:$PATH" KUBECONFIG="{instance.directory}/kubeconfig"')
    elif arguments.status:
        print(f"of {cache.REPOSITORY}, in {instance.directory}")
        states = instance.status()
        for name, pid in states.items():
            print(f"{name:28}{pid or 'does not run'}")
        return 0 if all(states.values()) else 1
    elif arguments.destroy:
        instance.destroy()
    else:
        instance.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
