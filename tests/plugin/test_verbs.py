# SPDX-License-Identifier: Apache-2.0
"""Verbs: what the sidecar may have done to jobs and nodes, and what it may not."""
import re

import pytest

from tests.plugin.requests import ACCEPTED, REFUSED, allocate, ask, claim, end, job_of, verb, wait_job, waiting_job


@pytest.fixture
def log(slurm):
    """Waits for a line of slurmctld's log that was written during the test."""
    path = slurm.path("var/log/slurm/slurmctld.log")
    before = path.stat().st_size

    def wait(line: str):
        slurm.wait_for(lambda: line in path.read_text(errors="replace")[before:], 10, f"the log line {line!r}")
    return wait


@pytest.fixture
def uid(slurm):
    """Of the sidecar's account, as log lines name it."""
    return slurm.run("id", "-u", "slurm-k8s").stdout.strip()


@pytest.fixture
def node(slurm):
    """Reads worker1, and makes it whole again after the test."""
    def read(name="worker1") -> dict:
        text = slurm.run("scontrol", "show", "node", name).stdout
        reason = re.search(r"Reason=(.*?)(?: \[|$)", text, re.M)
        return {"state": re.search(r"State=(\S+)", text)[1], "reason": reason[1] if reason else ""}
    yield read
    if "DRAIN" in read()["state"]:
        slurm.run("scontrol", "update", "NodeName=worker1", "State=RESUME")


def test_complete_ends_the_job_with_its_status_and_asked_twice_does_no_harm(slurm, log, uid):
    job = job_of(slurm, allocate(slurm, claim(slurm)))
    for _ in range(2):
        assert ACCEPTED in verb(slurm, job, "complete", status=512)
    assert wait_job(slurm, job, JobState="FAILED")["ExitCode"] == "2:0"
    what = f"k8s: uid {uid}: complete JobId={job['JobId']} of gang u-1: status 512"
    log(f"{what}: done (the job's tag)")
    log(f"{what}: not done (the job is over)")


def test_cancel_cancels(slurm, log, uid):
    job = job_of(slurm, allocate(slurm, claim(slurm)))
    verb(slurm, job, "cancel")
    wait_job(slurm, job, JobState="CANCELLED")
    log(f"k8s: uid {uid}: cancel JobId={job['JobId']} of gang u-1: done (the job's tag)")


def test_others_other_clusters_and_native_jobs(slurm, log):
    ours = job_of(slurm, allocate(slurm, claim(slurm)))
    native = job_of(slurm, allocate(slurm, "native", user="bob"))
    for user in ("alice", "root"):
        assert REFUSED in verb(slurm, ours, "cancel", user=user)
    assert REFUSED in verb(slurm, ours, "cancel", cluster="elsewhere")
    verb(slurm, ours, "cancel", uid="another gang")
    verb(slurm, native, "cancel")
    log(f"cancel JobId={ours['JobId']} of gang another gang: not done (the job is not of that gang)")
    log(f"cancel JobId={native['JobId']} of gang u-1: not done (the job is not of that gang)")
    for job in ours, native:
        assert slurm.job(job["JobId"])["JobState"] == "RUNNING"
        end(slurm, job)


def test_native_job_with_an_administrators_own_comment_is_no_gang(slurm, log):
    native = job_of(slurm, allocate(slurm, "native", user="bob"))
    slurm.run("scontrol", "update", f"JobId={native['JobId']}", 'AdminComment={"team":"x"}')
    verb(slurm, native, "cancel", uid="x")
    log(f"cancel JobId={native['JobId']} of gang x: not done")
    assert slurm.job(native["JobId"])["JobState"] == "RUNNING"
    end(slurm, native)


def test_update_changes_a_job_that_waits(slurm, log):
    job = waiting_job(slurm, begin_in_s=3600, time_limit=30)
    assert ACCEPTED in verb(slurm, job, "update", excludedNodes="worker0", timeLimit=60, nice=7)
    wait_job(slurm, job, ExcNodeList="worker0", TimeLimit="01:00:00", Nice="7")
    log(f"update JobId={job['JobId']} of gang u-1: excluded nodes worker0, time limit 60, nice 7: done (k8s.conf line 9)")
    verb(slurm, job, "update", excludedNodes="")
    slurm.wait_for(lambda: "worker0" not in slurm.job(job["JobId"]).get("ExcNodeList", ""), 10, "no excluded nodes")
    wait_job(slurm, job, TimeLimit="01:00:00", Nice="7")
    end(slurm, job)


def test_update_gives_no_more_than_the_policy(slurm, log):
    job = waiting_job(slurm, begin_in_s=3600, time_limit=30)
    verb(slurm, job, "update", timeLimit=61)
    log("time limit 61: not done (k8s.conf line 9: a longer time limit needs a MaxTime that allows it)")
    verb(slurm, job, "update", nice=-1)
    log("nice -1: not done (k8s.conf line 9: a negative nice needs Nice=yes)")
    wait_job(slurm, job, TimeLimit="00:30:00", Nice="0")
    assert REFUSED in verb(slurm, job, "update")
    assert REFUSED in verb(slurm, job, "update", user="alice", nice=5)
    end(slurm, job)


def test_update_leaves_running_jobs_alone(slurm, log):
    job = job_of(slurm, allocate(slurm, claim(slurm), "-t", "30"))
    verb(slurm, job, "update", timeLimit=5)
    log(f"update JobId={job['JobId']} of gang u-1: time limit 5: not done (only a job that waits is updated)")
    assert slurm.job(job["JobId"])["TimeLimit"] == "00:30:00"
    end(slurm, job)


def test_update_with_nodes_that_are_none_fails_and_says_so(slurm, log):
    job = waiting_job(slurm)
    verb(slurm, job, "update", excludedNodes="no-such-node")
    log("excluded nodes no-such-node: failed: Invalid node name")
    end(slurm, job)


def test_drain_and_resume_of_a_listed_node(slurm, log, uid, node):
    for _ in range(2):
        assert ACCEPTED in ask(slurm, {"verb": "drain", "node": "worker1", "reason": "k8s: cordoned"})
    log(f"k8s: uid {uid}: drain node worker1: k8s: cordoned: done (Node=worker[1-9])")
    log("drain node worker1: k8s: cordoned: not done (the node is so already)")
    assert "DRAIN" in node()["state"] and node()["reason"] == "k8s: cordoned"
    assert ACCEPTED in ask(slurm, {"verb": "resume", "node": "worker1"})
    log("resume node worker1: done (Node=worker[1-9])")
    assert "DRAIN" not in node()["state"]


def test_drain_keeps_off_other_nodes(slurm, node):
    for name in ("worker0", "nowhere", "ALL", "worker[1-2]", "worker1,worker0", ""):
        for kind in ("drain", "resume"):
            assert REFUSED in ask(slurm, {"verb": kind, "node": name, "reason": "k8s: cordoned"}), name
    for reason in ("maintenance", "k8s: ", "k8s: a\nb"):
        assert REFUSED in ask(slurm, {"verb": "drain", "node": "worker1", "reason": reason})
    for user in ("alice", "root"):
        assert REFUSED in ask(slurm, {"verb": "drain", "node": "worker1", "reason": "k8s: x"}, user=user)
    assert "DRAIN" not in node("worker0")["state"] and "DRAIN" not in node()["state"]


def test_what_an_administrator_did_to_a_node_stays(slurm, log, node):
    slurm.run("scontrol", "update", "NodeName=worker1", "State=DRAIN", "Reason=bad fan")
    ask(slurm, {"verb": "resume", "node": "worker1"})
    log("resume node worker1: not done (the node is drained or down for a reason that is not ours: bad fan)")
    ask(slurm, {"verb": "drain", "node": "worker1", "reason": "k8s: cordoned"})
    log("drain node worker1: k8s: cordoned: not done (the node is drained or down for a reason that is not ours: bad fan)")
    assert "DRAIN" in node()["state"] and node()["reason"] == "bad fan"
