# SPDX-License-Identifier: Apache-2.0
"""What the sidecar asks of slurmctld, asked with Slurm's own commands."""
import json

CLAIM, TAG, VERB = ("slurm-k8s.dev/" + word for word in ("claim", "tag", "verb"))
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


def waiting_job(slurm, *options, uid="u-1", namespace="team-a", begin="now+1hour") -> dict:
    """A claimed job that waits: for an hour that never comes, or for something else."""
    name = f"waits-{uid}"
    slurm.spawn("salloc", "--no-shell", "-n1", "--mem=100", f"--begin={begin}", "-J", name,
                f"--comment={claim(slurm, namespace=namespace, uid=uid)}", *options, user="slurm-k8s")
    wanted = ("squeue", "-h", "-t", "PD", "-n", name, "-o", "%A")
    return slurm.job(slurm.wait_for(lambda: slurm.run(*wanted).stdout.strip(), 10, f"job {name}"))


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
