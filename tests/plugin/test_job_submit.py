# SPDX-License-Identifier: Apache-2.0
"""Claims, tags, verbs: who may do what."""
import json
import time

CLAIM, TAG, VERB = ("slurm-k8s.dev/" + word for word in ("claim", "tag", "verb"))


def claim(slurm, namespace="team-a", uid="u-1", **changes) -> str:
    """A claim as the sidecar sends it."""
    return json.dumps({CLAIM: {"v": 1, "cluster": slurm.name, "namespace": namespace, "kind": "Pod", "name": "p",
                               "uid": uid, **changes}}, separators=(",", ":"))


def allocate(slurm, comment, *options, user="slurm-k8s"):
    """salloc without a command; CompletedProcess."""
    return slurm.run("salloc", "--no-shell", "-n1", "--mem=100", f"--comment={comment}", *options, user=user, check=False)


def job_of(slurm, done) -> dict:
    """The job that salloc said it was granted."""
    assert done.returncode == 0, done.stderr
    return slurm.job(done.stderr.split("job allocation ")[-1].split()[0])


def tag_of(job: dict) -> dict:
    """The tag in a job's admin comment."""
    return json.loads(job["AdminComment"])[TAG]


def verb(slurm, job, kind, user="slurm-k8s", **changes):
    """Ask for a verb with a will-run request; what it printed."""
    body = {"v": 1, "verb": kind, "job": int(job["JobId"]), "status": 512, "cluster": slurm.name, "uid": "u-1", **changes}
    return slurm.run("srun", "--test-only", "-n1", f"--comment={json.dumps({VERB: body})}", "true", user=user,
                     check=False).stderr


def wait_state(slurm, job, state, timeout=10) -> dict:
    """The job once it has that state."""
    deadline = time.monotonic() + timeout
    while (now := slurm.job(job["JobId"]))["JobState"] != state:
        assert time.monotonic() < deadline, now["JobState"]
        time.sleep(0.05)
    return now


def end(slurm, job) -> None:
    """Free the node."""
    slurm.run("scancel", job["JobId"])


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
    assert done.returncode != 0 and "k8s.conf line 6: closed for today" in done.stderr


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


def test_forged_tag_is_refused_at_submission_and_later(slurm):
    forged = json.dumps({TAG: {"v": 1, "cluster": slurm.name, "namespace": "x", "kind": "Pod", "name": "p", "uid": "u"}})
    done = slurm.run("salloc", "--no-shell", "-n1", "--mem=100", f"--admin-comment={forged}", check=False)
    assert done.returncode != 0
    job = job_of(slurm, allocate(slurm, "native", user="bob"))
    done = slurm.run("scontrol", "update", f"JobId={job['JobId']}", f"AdminComment={forged}", check=False)
    assert done.returncode != 0
    assert TAG not in slurm.job(job["JobId"]).get("AdminComment", "")
    end(slurm, job)


def test_native_job_passes_untouched(slurm):
    done = slurm.run("srun", "--mem=100", "--comment=mine", "id", "-un", user="bob")
    assert done.stdout.strip() == "bob"


def test_verb_complete_ends_the_job_with_its_status_and_asked_twice_does_no_harm(slurm):
    job = job_of(slurm, allocate(slurm, claim(slurm)))
    for _ in range(2):
        assert "28801" in verb(slurm, job, "complete")
    assert wait_state(slurm, job, "FAILED")["ExitCode"] == "2:0"


def test_verb_cancel_cancels(slurm):
    job = job_of(slurm, allocate(slurm, claim(slurm)))
    verb(slurm, job, "cancel")
    wait_state(slurm, job, "CANCELLED")


def test_verbs_of_others_of_other_clusters_and_for_native_jobs_do_nothing(slurm):
    ours = job_of(slurm, allocate(slurm, claim(slurm)))
    native = job_of(slurm, allocate(slurm, "native", user="bob"))
    assert "28802" in verb(slurm, ours, "cancel", user="alice")
    assert "28802" in verb(slurm, ours, "cancel", cluster="elsewhere")
    verb(slurm, ours, "cancel", uid="another gang")
    verb(slurm, native, "cancel")
    marker = job_of(slurm, allocate(slurm, claim(slurm, uid="u-2")))
    verb(slurm, marker, "cancel", uid="u-2")
    wait_state(slurm, marker, "CANCELLED")  # the queue has passed the ones before it
    assert slurm.job(ours["JobId"])["JobState"] == "RUNNING"
    assert slurm.job(native["JobId"])["JobState"] == "RUNNING"
    end(slurm, ours)
    end(slurm, native)


def test_broken_policy_keeps_the_old_one_and_names_the_line(slurm):
    good = slurm.path("etc/slurm/k8s.conf").read_text()
    log = slurm.path("var/log/slurm/slurmctld.log")
    before = log.stat().st_size
    slurm.write_k8s_conf(good + "Namespace=x Colour=red\n")
    try:
        slurm.wait_for(lambda: "line 8: unknown key Colour" in log.read_text()[before:], 10, "the error in the log")
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
