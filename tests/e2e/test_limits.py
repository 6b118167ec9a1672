# SPDX-License-Identifier: Apache-2.0
"""Limits and records of Slurm's accounting, as the owner of a pod and `sacct` see them."""
import pytest

from tests import cluster as clusters
from tests import workloads

ACCOUNTS = """add account physics
add qos single MaxJobsPerUser=1
add user alice account=physics
modify user alice set qos+=single
modify account physics set GrpTRES=cpu=6
"""
QOS = "slurmjob.slinky.slurm.net/qos"


@pytest.fixture(scope="module")
def cluster():
    """Slurm with slurmdbd, its own control plane; alice may use six CPUs, and with QOS single one job."""
    instance = clusters.start("limits", nodes=1, accounted=True)
    for line in ACCOUNTS.splitlines():
        instance.run("sacctmgr", "-i", *line.split(), check=False)  # what is there already is no error
    instance.write_k8s_conf(f"""ClusterId={instance.name}
SubmitUser=slurm-k8s
EventUrl=http://127.0.0.1:8090/v1/events
EventTokenFile=/etc/slurm/k8s.token
Namespace=* User=alice Account=physics QOS=normal,single Share=shared
""")
    yield clusters.Cluster(instance)
    instance.stop()


def test_a_limit_is_named_and_the_pod_goes_on_when_there_is_room_again(cluster, namespace):
    single = {QOS: "single"}
    cluster.apply(workloads.pod("one", namespace, annotations=single))
    cluster.wait_bound(namespace, "one")
    cluster.apply(workloads.pod("two", namespace, annotations=single))
    message = cluster.wait_says(namespace, "two", "QOSMaxJobsPerUserLimit")
    assert message.startswith("Slurm job ")
    cluster.wait("its Event", lambda: [note for reason, note in cluster.events(namespace, "two")
                                       if reason == "FailedScheduling" and "QOSMaxJobsPerUserLimit" in note])
    cluster.delete("pod", namespace, "one")
    cluster.wait_bound(namespace, "two")


def test_a_higher_limit_of_the_qos_lets_the_pod_go(cluster, namespace):
    single = {QOS: "single"}
    cluster.apply(workloads.pod("one", namespace, annotations=single))
    cluster.wait_bound(namespace, "one")
    cluster.apply(workloads.pod("two", namespace, annotations=single))
    cluster.wait_says(namespace, "two", "QOSMaxJobsPerUserLimit")
    cluster.instance.run("sacctmgr", "-i", "modify", "qos", "single", "set", "MaxJobsPerUser=2")
    try:
        cluster.wait_bound(namespace, "two")
    finally:
        cluster.instance.run("sacctmgr", "-i", "modify", "qos", "single", "set", "MaxJobsPerUser=1")


def test_a_limit_of_the_account_counts_cpus_of_pods(cluster, namespace):
    cluster.apply(workloads.pod("large", namespace, cpu="4"))
    cluster.wait_bound(namespace, "large")
    cluster.apply(workloads.pod("more", namespace, cpu="4"))
    cluster.wait_says(namespace, "more", "AssocGrpCpuLimit")


def test_a_partition_for_other_accounts_is_told_and_opened(cluster, namespace):
    cluster.instance.run("sacctmgr", "-i", "add", "account", "staff", check=False)
    cluster.instance.run("scontrol", "update", "PartitionName=batch", "AllowAccounts=staff")
    try:
        cluster.apply(workloads.pod("outside", namespace))
        cluster.wait_pod(namespace, "outside", "told why", clusters.scheduled_message)
    finally:
        cluster.instance.run("scontrol", "update", "PartitionName=batch", "AllowAccounts=ALL")
    cluster.wait_bound(namespace, "outside")


def test_another_qos_of_a_waiting_job_counts(cluster, namespace):
    single = {QOS: "single"}
    cluster.apply(workloads.pod("one", namespace, annotations=single))
    cluster.wait_bound(namespace, "one")
    cluster.apply(workloads.pod("two", namespace, annotations=single))
    cluster.wait_says(namespace, "two", "QOSMaxJobsPerUserLimit")
    job = cluster.wait_job(cluster.get("pod", namespace, "two")["metadata"]["uid"], "PENDING")["JobId"]
    cluster.wait("the update", lambda: cluster.instance.run(
        "scontrol", "update", f"JobId={job}", "QOS=normal", check=False).returncode == 0)
    assert cluster.wait_bound(namespace, "two")["metadata"]["labels"][clusters.JOB_ID_LABEL] == job


@pytest.mark.parametrize("code, state", [(0, "COMPLETED"), (3, "FAILED")])
def test_sacct_has_account_user_state_and_exit_code(cluster, namespace, code, state):
    cluster.apply(workloads.pod("done", namespace, seconds=0.2, exit_code=code))
    pod = cluster.wait_bound(namespace, "done")
    job = pod["metadata"]["labels"][clusters.JOB_ID_LABEL]

    def recorded():
        return cluster.instance.run("sacct", "-n", "-X", "-P", "-j", job, "-o",
                                    "User,Account,State,ExitCode").stdout.strip() == f"alice|physics|{state}|{code}:0"
    cluster.wait("sacct", recorded)


def test_an_account_that_the_user_is_not_in_is_refused_in_slurms_words(cluster, namespace):
    conf = cluster.instance.path("etc/slurm/k8s.conf").read_text()
    cluster.instance.write_k8s_conf(conf.replace("User=alice", "User=bob"))
    try:
        def told():
            name = f"refused-{told.tries}"
            told.tries += 1
            cluster.apply(workloads.pod(name, namespace))
            pod = cluster.wait_pod(namespace, name, "bound or refused",
                                   lambda p: p["spec"].get("nodeName") or clusters.scheduled_message(p))
            return "Invalid account" in clusters.scheduled_message(pod)
        told.tries = 0
        cluster.wait("the new policy, and Slurm's refusal", told)
    finally:
        cluster.instance.write_k8s_conf(conf)
