# SPDX-License-Identifier: Apache-2.0
"""Without prep/k8s everything still works, later."""
from tests import workloads


def test_without_hints_it_polls_says_so_once_and_still_binds(cluster, namespace):
    instance = cluster.instance
    conf = instance.path("etc/slurm/k8s.conf").read_text()
    instance.write_k8s_conf("".join(line for line in conf.splitlines(True) if not line.startswith("Event")))
    try:
        cluster.wait("it says so", lambda: "no events from prep/k8s" in cluster.log(), timeout=90)
        assert cluster.metric("slurm_k8s_polling") == 1
        instance.run("salloc", "--no-shell", "-N4", "--exclusive", "-J", "occupier", user="bob")
        cluster.apply(workloads.pod("slow", namespace))
        uid = cluster.get("pod", namespace, "slow")["metadata"]["uid"]
        cluster.wait_job(uid, "PENDING")
        instance.run("scancel", "-n", "occupier")
        cluster.wait_bound(namespace, "slow")
        assert cluster.log().count("no events from prep/k8s") == 1
    finally:
        instance.write_k8s_conf(conf)
    cluster.wait("hints again", lambda: cluster.metric("slurm_k8s_polling") == 0)
