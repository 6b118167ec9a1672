# SPDX-License-Identifier: Apache-2.0
"""What the sidecar asks of slurmctld, asked with Slurm's own commands, and with a program where they do not do."""
import json

from tests.env import slurm as programs

CLAIM, TAG, VERB = ("slurm-k8s.dev/" + word for word in ("claim", "tag", "verb"))
SUBMIT = "/opt/slurm-k8s/bin/submit_job"
ACCEPTED, REFUSED = "28801", "28802"


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


def install(slurm, build_dir) -> None:
    """Put submit_job of a build in."""
    programs.install(build_dir / "tests/plugin/submit_job", slurm.path(SUBMIT))


def submit(slurm, *flags, user="slurm-k8s", **fields):
    """submit_job (submit.cpp) with these fields; CompletedProcess."""
    return slurm.run(SUBMIT, *flags, *(f"{key}={value}" for key, value in fields.items()), user=user, check=False)


def waiting_job(slurm, uid="u-1", namespace="team-a", **fields) -> dict:
    """A claimed job that waits for an hour that never comes, or for what FIELDS say."""
    done = submit(slurm, comment=claim(slurm, namespace=namespace, uid=uid), **(fields or {"begin_in_s": 3600}))
    assert done.returncode == 0, done.stderr
    return slurm.job(done.stdout.strip())


def tag_of(job: dict) -> dict:
    """The tag in a job's admin comment."""
    return json.loads(job["AdminComment"])[TAG]


def ask(slurm, body: dict, user="slurm-k8s") -> str:
    """Ask for a verb with a will-run request; what it printed."""
    text = json.dumps({VERB: {"v": 1, "cluster": slurm.name, **body}})
    return slurm.run("srun", "--test-only", "-n1", f"--comment={text}", "true", user=user, check=False).stderr


def verb(slurm, job, kind, user="slurm-k8s", **changes) -> str:
    """Ask for a verb about a job."""
    return ask(slurm, {"verb": kind, "job": int(job["JobId"]), "uid": "u-1", **changes}, user)


def wait_job(slurm, job, **wanted) -> dict:
    """The job once scontrol shows these values."""
    def looks_so():
        now = slurm.job(job["JobId"])
        return all(now.get(key) == value for key, value in wanted.items()) and now
    return slurm.wait_for(looks_so, 10, f"job {job['JobId']} with {wanted}")


def end(slurm, job) -> None:
    """Free the node."""
    slurm.run("scancel", job["JobId"])
