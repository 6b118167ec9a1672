# SPDX-License-Identifier: Apache-2.0
"""Hints: they come at once, and no receiver, however bad, holds slurmctld up."""
import time

import pytest


def run_jobs(slurm, count=10) -> set:
    """Ids of COUNT native jobs that ran one after the other; fails if one does not end."""
    return {int(slurm.run("srun", "--mem=10", "sh", "-c", "echo $SLURM_JOB_ID", user="bob").stdout)
            for _ in range(count)}


def starts(receiver) -> list:
    """Job ids of job_start hints."""
    return [hint["job"] for _, hint in receiver.hints() if hint["type"] == "job_start"]


def test_start_and_end_of_a_job_are_told_at_once_with_the_token(slurm, receiver):
    receiver.wait("sign of life", lambda r: r.batches())
    done = slurm.run("salloc", "--no-shell", "-n1", "--mem=100", user="bob")
    now, job = time.time(), int(done.stderr.split("job allocation ")[-1].split()[0])
    receiver.wait("job_start", lambda r: job in starts(r))
    at = next(at for at, hint in receiver.hints() if hint.get("job") == job)
    assert at - now < 0.5
    slurm.run("scancel", job)
    receiver.wait("job_end", lambda r: [h for _, h in r.hints() if h == {"type": "job_end", "job": job}])
    receiver.wait("jobs_changed", lambda r: [h for _, h in r.hints() if h["type"] == "jobs_changed"])
    token = slurm.path("etc/slurm/k8s.token").read_text().strip()
    assert receiver.tokens == {f"Bearer {token}"}


def test_numbers_of_hints_have_no_gap(slurm, receiver):
    run_jobs(slurm, 5)
    receiver.wait("five starts", lambda r: len(starts(r)) >= 5)
    batches = receiver.batches()
    assert len({batch["epoch"] for batch in batches}) == 1
    for before, after in zip(batches, batches[1:]):
        assert after["seq"] == before["seq"] + len(before["events"])


def test_only_slurmctld_sends_hints(slurm, receiver):
    receiver.wait("sign of life", lambda r: r.batches())
    slurm.run("srun", "--mem=10", "sleep", "1", user="bob")  # slurmstepd, too, has loaded the plugin
    assert len({batch["epoch"] for batch in receiver.batches()}) == 1


@pytest.fixture
def with_scripts(slurm):
    """A prolog and an epilog, in slurmctld and on the node, that say when they ran."""
    kinds = ("Prolog", "Epilog", "PrologSlurmctld", "EpilogSlurmctld")
    said = {kind: slurm.path(f"tmp/{kind}.said") for kind in kinds}
    for kind in kinds:
        script = slurm.path(f"etc/slurm/{kind}.sh")
        script.write_text(f"#!/bin/sh\necho $SLURM_JOB_ID >> /tmp/{kind}.said\n")
        script.chmod(0o755)
    slurm.write_slurm_conf("PrepPlugins=script,k8s\n"
                           + "".join(f"{kind}=/etc/slurm/{kind}.sh\n" for kind in kinds))
    restart_slurm(slurm)
    yield said
    slurm.write_slurm_conf("")
    restart_slurm(slurm)


def restart_slurm(slurm) -> None:
    """PrepPlugins counts from the start of each daemon."""
    for name in ("slurmctld", "slurmd-worker0", "slurmd-worker1"):
        slurm.restart(name)


def test_prologs_and_epilogs_of_the_site_run_beside_it(slurm, receiver, with_scripts):
    done = slurm.run("srun", "--mem=10", "sh", "-c", "echo $SLURM_JOB_ID", user="bob")
    job = done.stdout.strip()
    receiver.wait("start and end", lambda r: {"job_start", "job_end"} <= {
        hint["type"] for _, hint in r.hints() if hint.get("job") == int(job)})
    for kind, file in with_scripts.items():
        slurm.wait_for(lambda: file.exists() and job in file.read_text().split(), 20, kind)


def test_nodes_that_change_are_told(slurm, receiver):
    receiver.wait("sign of life", lambda r: r.batches())
    slurm.run("scontrol", "update", "NodeName=worker1", "State=DRAIN", "Reason=test")
    receiver.wait("nodes_changed", lambda r: [h for _, h in r.hints() if h["type"] == "nodes_changed"])
    slurm.run("scontrol", "update", "NodeName=worker1", "State=RESUME")


@pytest.mark.parametrize("behaviour", ["hang", "trickle", "flood", "garbage"])
def test_bad_receiver_holds_nothing_up_and_hints_come_when_it_is_good_again(slurm, receiver, behaviour):
    receiver.wait("sign of life", lambda r: r.batches())
    receiver.behave(behaviour)
    jobs = run_jobs(slurm)
    assert not jobs & set(starts(receiver))  # they did not wait for it
    receiver.behave("take")
    receiver.wait("the starts that were kept", lambda r: jobs <= set(starts(r)), timeout=30)


@pytest.mark.parametrize("behaviour", ["hang", "trickle"])
def test_jobs_start_and_end_while_one_request_is_held(slurm, receiver, behaviour):
    receiver.wait("sign of life", lambda r: r.batches())
    receiver.behave(behaviour)

    def job_ran_within_one_request():
        before = receiver.requests
        run_jobs(slurm, 1)
        return receiver.requests == before
    run_jobs(slurm, 1)
    slurm.wait_for(job_ran_within_one_request, 60, "a job that no request of its own held up")


def test_absent_receiver_holds_nothing_up(slurm):
    run_jobs(slurm)
    slurm.reconfigure()  # the thread ends and starts while nobody is there


def test_hung_receiver_does_not_hold_up_the_end_of_slurmctld(slurm, receiver):
    receiver.wait("sign of life", lambda r: r.batches())
    receiver.behave("hang")
    slurm.run("srun", "--mem=10", "true", user="bob")
    start = time.monotonic()
    slurm.restart("slurmctld")
    assert time.monotonic() - start < 20
    receiver.behave("take")
