# SPDX-License-Identifier: Apache-2.0
"""What somebody tries who is not the sidecar, or is more than it should be."""
import json

import pytest

from tests.plugin.requests import TAG, VERB, allocate, claim, end, job_of, submit, waiting_job

OTHERS = ("alice", "bob", "root")


@pytest.fixture
def forged(slurm) -> str:
    """A tag as the plugin would write it, of this very cluster."""
    return json.dumps({TAG: {"v": 1, "cluster": slurm.name, "namespace": "x", "kind": "Pod", "name": "p", "uid": "u"}})


def with_escapes(text: str) -> str:
    """The same JSON, spelt otherwise."""
    return text.replace("slurm-k8s.dev/", "slurm\\u002dk8s.dev\\/")


@pytest.mark.parametrize("spell", [str, with_escapes])
@pytest.mark.parametrize("user", [*OTHERS, "slurm-k8s"])
def test_nobody_submits_a_tag(slurm, forged, user, spell):
    done = submit(slurm, user=user, admin_comment=spell(forged))
    # Slurm itself lets nobody but an operator write there; then it is for the plugin to say no.
    assert done.returncode == 1 and ("not yours to set" if user == "root" else "denied") in done.stderr


@pytest.mark.parametrize("user", OTHERS)
def test_nobody_but_the_sidecar_submits_a_claim(slurm, user):
    for text in claim(slurm), with_escapes(claim(slurm)):
        done = submit(slurm, user=user, comment=text)
        assert done.returncode == 1 and "only a SubmitUser" in done.stderr


def test_a_tag_where_users_may_write_is_a_text_like_any_other(slurm, forged):
    for field in ("comment", "extra"):
        done = submit(slurm, user="bob", **{field: forged})
        assert done.returncode == 0, done.stderr
        job = slurm.job(done.stdout.strip())
        assert TAG not in job.get("AdminComment", "") and job["UserId"].startswith("bob(")
        end(slurm, job)


@pytest.mark.parametrize("field", ["AdminComment", "Comment", "Extra"])
def test_nobody_makes_a_job_ours_later(slurm, forged, field):
    job = job_of(slurm, allocate(slurm, "native", user="bob"))
    texts = {"AdminComment": forged, "Comment": claim(slurm), "Extra": forged}
    for user in ("bob", "root"):
        slurm.run("scontrol", "update", f"JobId={job['JobId']}", f"{field}={texts[field]}", user=user, check=False)
    now = slurm.job(job["JobId"])
    assert TAG not in now.get("AdminComment", "") and now["UserId"].startswith("bob(")
    assert now["Comment"] == "native" or field == "Comment"
    end(slurm, job)


def test_the_tag_of_a_job_of_ours_stays(slurm, forged):
    job = waiting_job(slurm)
    for user in ("alice", "root"):
        done = slurm.run("scontrol", "update", f"JobId={job['JobId']}", f"AdminComment={forged}", user=user, check=False)
        assert done.returncode != 0
    assert slurm.job(job["JobId"])["AdminComment"] == job["AdminComment"]
    end(slurm, job)


@pytest.mark.parametrize("name", ["alice", "root", "slurm"])
def test_a_claim_that_names_its_user_itself_gets_the_policys(slurm, name):
    uid = slurm.run("id", "-u", name).stdout.strip()
    done = submit(slurm, comment=claim(slurm, namespace="team-b"), user_id=uid)
    if done.returncode == 0:
        job = slurm.job(done.stdout.strip())
        assert job["UserId"].startswith("bob(")
        end(slurm, job)


@pytest.mark.parametrize("asked", ["root", "0", "slurm", "bob", "2002"])
def test_a_claim_gets_no_user_that_its_line_does_not_list(slurm, asked):
    done = submit(slurm, comment=claim(slurm, user=asked))
    assert done.returncode == 1 and f"may use the user alice, not {asked}" in done.stderr


def test_a_claim_brings_no_script(slurm):
    done = submit(slurm, comment=claim(slurm), script="#!/bin/sh\nid\n")
    assert done.returncode == 1 and "runs nothing" in done.stderr


def test_a_claim_of_another_cluster_is_not_ours(slurm):
    done = submit(slurm, comment=claim(slurm, cluster="elsewhere"))
    assert done.returncode == 1 and "ClusterId" in done.stderr


def test_a_verb_is_no_job(slurm):
    text = json.dumps({VERB: {"v": 1, "verb": "cancel", "job": 1, "uid": "u", "cluster": slurm.name}})
    before = len(slurm.squeue())
    done = submit(slurm, comment=text)
    assert done.returncode == 1 and "28801" in done.stderr
    assert len(slurm.squeue()) == before


def test_long_and_odd_texts_do_slurmctld_no_harm(slurm):
    pid = slurm.status()["slurmctld"]
    odd = ["{" * 900, '{"slurm-k8s.dev/claim":' + "[" * 500, '{"slurm-k8s.dev/claim":{"v":1e999}}',
           '{"slurm-k8s.dev/tag":"\\ud800"}', '{"slurm-k8s.dev/verb":{"v":1,"verb":"cancel","job":4294967296}}',
           "slurm-k8s.dev/claim", claim(slurm, name="x" * 800), claim(slurm, uid="a\nb")]
    for text in odd:
        for user in ("slurm-k8s", "bob"):
            done = submit(slurm, user=user, comment=text)
            if done.returncode == 0:
                slurm.run("scancel", done.stdout.strip())
    assert slurm.status()["slurmctld"] == pid
