# SPDX-License-Identifier: Apache-2.0
"""Claims where accounts are kept: slurmdbd with MariaDB, associations enforced, tokens beside munge."""
import json

import pytest

from tests.env import build, cache, slurm_root
from tests.env.instance import Instance
from tests.plugin import requests
from tests.plugin.requests import ACCEPTED, VERB, allocate, claim, end, job_of, verb, wait_job, waiting_job

K8S_CONF = """ClusterId={cluster}
SubmitUser=slurm-k8s
Namespace=physics User=alice Account=physics,chemistry Share=shared
Namespace=tight User=alice Account=physics QOS=tight Share=shared
Namespace=stranger User=bob Share=shared
Namespace=* User=alice Share=shared
"""

ACCOUNTS = """add account physics
add account chemistry
add qos tight MaxJobsPerUser=1
add user alice account=physics
modify user alice set qos+=tight
"""


@pytest.fixture(scope="module", params=slurm_root.SLURM_OF, ids=lambda c: slurm_root.SLURM_OF[c])
def slurm(request):
    """An instance of Slurm with accounting; alice is of physics, bob and the sidecar's account of nothing."""
    where = build.build(request.param)
    instance = Instance(cache.of_this_checkout(f"accounted-{request.param}"), codename=request.param, nodes=1,
                        control_plane=False, accounted=True)
    instance.start()
    for line in ACCOUNTS.splitlines():
        # What was there from an earlier run is not an error.
        instance.run("sacctmgr", "-i", *line.split(), check=False)
    instance.write_k8s_conf(K8S_CONF.format(cluster=instance.name))
    instance.install_plugins(where)
    requests.install(instance, where)
    yield instance
    instance.stop()


def recorded(slurm, job, **wanted) -> dict:
    """What sacct shows of a job, once it has these values."""
    names = ("User", "Account", "State", "ExitCode")

    def look():
        text = slurm.run("sacct", "-n", "-X", "-P", "-j", job["JobId"], "-o", ",".join(names)).stdout.strip()
        now = dict(zip(names, text.split("|")))
        return all(now.get(key, "").startswith(value) for key, value in wanted.items()) and now
    return slurm.wait_for(look, 20, f"sacct of job {job['JobId']} with {wanted}")


def test_the_sidecars_account_is_nobody_to_slurm(slurm):
    assert slurm.run("sacctmgr", "-n", "list", "user", "slurm-k8s").stdout.strip() == ""
    for step in (("update", "NodeName=worker0", "State=DRAIN", "Reason=x"), ("reconfigure",)):
        assert slurm.run("scontrol", *step, user="slurm-k8s", check=False).returncode != 0


@pytest.mark.parametrize("status, state, code", [(0, "COMPLETED", "0:0"), (3 * 256, "FAILED", "3:0")])
def test_the_record_is_the_mapped_users(slurm, status, state, code):
    job = job_of(slurm, allocate(slurm, claim(slurm, namespace="physics")))
    assert job["UserId"].startswith("alice(") and job["Account"] == "physics"
    assert ACCEPTED in verb(slurm, job, "complete", status=status)
    recorded(slurm, job, User="alice", Account="physics", State=state, ExitCode=code)


def test_a_cancelled_job_is_recorded_as_such(slurm):
    job = job_of(slurm, allocate(slurm, claim(slurm, namespace="physics")))
    verb(slurm, job, "cancel")
    recorded(slurm, job, User="alice", State="CANCELLED")


def test_what_the_policy_allows_is_still_slurms_to_refuse(slurm):
    done = allocate(slurm, claim(slurm, namespace="physics"), "-A", "chemistry")
    assert done.returncode != 0 and "Invalid account" in done.stderr
    done = allocate(slurm, claim(slurm, namespace="stranger"))
    assert done.returncode != 0 and "Invalid account" in done.stderr


def test_what_slurm_allows_is_still_the_policys_to_refuse(slurm):
    done = allocate(slurm, claim(slurm, namespace="tight"), "-q", "normal")
    assert done.returncode != 0 and "k8s.conf line 4: namespace tight may use the QOS tight, not normal" in done.stderr


def test_limits_of_the_mapped_users_qos_hold(slurm):
    first = job_of(slurm, allocate(slurm, claim(slurm, namespace="tight")))
    assert first["QOS"] == "tight"
    second = waiting_job(slurm, uid="u-2", namespace="tight", time_limit=60)
    wait_job(slurm, second, Reason="QOSMaxJobsPerUserLimit")
    end(slurm, first)
    wait_job(slurm, second, JobState="RUNNING")
    end(slurm, second)


@pytest.fixture
def with_token(slurm):
    """Runs a command as a user who shows a token and has no munge."""
    def run(user, *command):
        word = slurm.run("scontrol", "token", f"username={user}", "lifespan=600").stdout.strip()
        return slurm.run("unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /run/munge; u=$1; shift; exec setpriv '
                         '--reuid="$u" --regid="$u" --init-groups "$@"', "sh", user, *command,
                         env={"SLURM_JWT": word.removeprefix("SLURM_JWT=")}, check=False)
    return run


def test_a_token_stands_for_the_sidecars_account(slurm, with_token):
    done = with_token("slurm-k8s", requests.SUBMIT, f"comment={claim(slurm, namespace='physics')}")
    assert done.returncode == 0, done.stderr
    job = slurm.job(done.stdout.strip())
    assert job["UserId"].startswith("alice(") and job["GroupId"].startswith("alice(") and job["Account"] == "physics"
    text = json.dumps({VERB: {"v": 1, "verb": "cancel", "job": int(job["JobId"]), "uid": "u-1", "cluster": slurm.name}})
    assert ACCEPTED in with_token("slurm-k8s", requests.SUBMIT, "will-run", f"comment={text}").stderr
    wait_job(slurm, job, JobState="CANCELLED")


def test_a_token_of_somebody_else_is_no_submit_users(slurm, with_token):
    done = with_token("bob", requests.SUBMIT, f"comment={claim(slurm, namespace='physics')}")
    assert done.returncode == 1 and "SubmitUser" in done.stderr
