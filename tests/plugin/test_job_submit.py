# SPDX-License-Identifier: Apache-2.0
"""Claims and tags: who may submit what."""
import pytest

from tests.plugin.requests import allocate, claim, end, job_of, submit, tag_of


def test_claim_becomes_a_tag_on_a_job_of_the_mapped_user(slurm):
    job = job_of(slurm, allocate(slurm, claim(slurm, comment="the user's words")))
    assert job["UserId"].startswith("alice(") and job["GroupId"].startswith("alice(")
    assert tag_of(job)["uid"] == "u-1" and tag_of(job)["namespace"] == "team-a"
    assert job["Comment"] == "the user's words"
    end(slurm, job)


def test_first_matching_namespace_line_counts(slurm):
    job = job_of(slurm, allocate(slurm, claim(slurm, namespace="team-b")))
    assert job["UserId"].startswith("bob(")
    end(slurm, job)


def test_denied_namespace_is_told_the_line_and_its_reason(slurm):
    done = allocate(slurm, claim(slurm, namespace="closed"))
    assert done.returncode != 0 and "k8s.conf line 7: closed for today" in done.stderr


def test_partition_outside_the_policy_is_refused(slurm):
    done = allocate(slurm, claim(slurm), "-p", "nowhere")
    assert done.returncode != 0 and "not nowhere" in done.stderr


def test_claim_of_another_user_is_refused_even_of_root(slurm):
    for user in ("alice", "root"):
        done = allocate(slurm, claim(slurm), user=user)
        assert done.returncode != 0 and "SubmitUser" in done.stderr, user


def test_claim_of_another_cluster_is_refused(slurm):
    assert "ClusterId" in allocate(slurm, claim(slurm, cluster="elsewhere")).stderr


def test_broken_claim_is_refused(slurm):
    assert "cannot be read" in allocate(slurm, '{"slurm-k8s.dev/claim":{"v":1,').stderr


def test_claimed_job_may_not_carry_a_script(slurm):
    done = slurm.run("sbatch", f"--comment={claim(slurm)}", "--wrap=id", user="slurm-k8s", check=False)
    assert done.returncode != 0 and "runs nothing" in done.stderr


def test_native_job_passes_untouched(slurm):
    done = slurm.run("srun", "--mem=100", "--comment=mine", "id", "-un", user="bob")
    assert done.stdout.strip() == "bob"


@pytest.mark.parametrize("namespace, wanted", [("vip", ("4242", "-7")), ("team-a", None)])
def test_priority_and_negative_nice_are_the_policys_to_give(slurm, namespace, wanted):
    by_priority = submit(slurm, comment=claim(slurm, namespace=namespace, priority=4242), begin_in_s=3600)
    by_nice = submit(slurm, comment=claim(slurm, namespace=namespace, nice=-7), begin_in_s=3600)
    if wanted is None:
        assert "Priority=yes would" in by_priority.stderr and "Nice=yes would" in by_nice.stderr
        return
    for done, field, value in (by_priority, "Priority", wanted[0]), (by_nice, "Nice", wanted[1]):
        assert done.returncode == 0, done.stderr
        job = slurm.job(done.stdout.strip())
        assert job[field] == value
        end(slurm, job)


def test_broken_policy_keeps_the_old_one_and_names_the_line(slurm):
    good = slurm.path("etc/slurm/k8s.conf").read_text()
    log = slurm.path("var/log/slurm/slurmctld.log")
    before = log.stat().st_size
    slurm.write_k8s_conf(good + "Namespace=x Colour=red\n")
    try:
        slurm.wait_for(lambda: "line 10: unknown key Colour" in log.read_text()[before:], 10, "the error in the log")
        end(slurm, job_of(slurm, allocate(slurm, claim(slurm))))
    finally:
        slurm.write_k8s_conf(good)
    slurm.wait_for(lambda: "is good again" in log.read_text()[before:], 10, "the new policy")


def test_changed_policy_is_in_force_within_seconds(slurm):
    good = slurm.path("etc/slurm/k8s.conf").read_text()
    slurm.write_k8s_conf(good.replace("User=bob", "User=alice"))

    def owner():
        job = job_of(slurm, allocate(slurm, claim(slurm, namespace="team-b")))
        end(slurm, job)
        return job["UserId"].startswith("alice(")
    try:
        slurm.wait_for(owner, 10, "the new owner")
    finally:
        slurm.write_k8s_conf(good)


def test_reconfigure_and_restart_leave_one_thread_of_each_plugin(slurm):
    slurm.reconfigure()
    end(slurm, job_of(slurm, allocate(slurm, claim(slurm))))
    pid = slurm.status()["slurmctld"]
    names = slurm.run("ps", "-L", "-o", "comm=", "-p", pid).stdout.split()
    assert names.count("k8s-job-submit") == 1 and names.count("k8s-prep") == 1, names
