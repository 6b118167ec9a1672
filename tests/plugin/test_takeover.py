# SPDX-License-Identifier: Apache-2.0
"""A backup slurmctld takes over: it has the same policy, and its hints begin anew."""
import shutil

import pytest

from tests.plugin.requests import TAG, allocate, claim, end, job_of, waiting_job

BOTH = "SlurmctldHost=controller(127.0.0.1)\nSlurmctldHost=backup(127.0.0.2)\n"
# Where both share a file system, only one of them can have the usual places.
OWN = (("SlurmctldPidFile=/run/slurm/slurmctld.pid", "SlurmctldPidFile=/run/slurm/backup.pid"),
       ("SlurmctldLogFile=/var/log/slurm/slurmctld.log", "SlurmctldLogFile=/var/log/slurm/backup.log"))


@pytest.fixture
def backup(slurm):
    """Starts a second slurmctld, on an address of its own; returns a function that does so."""
    def hosts():
        with open(slurm.path("etc/hosts"), "a", encoding="ascii") as file:
            file.write("127.0.0.2 backup\n")

    def start():
        slurm.write_slurm_conf(BOTH)
        hosts()
        folder = slurm.path("etc/slurm-backup")
        shutil.copytree(slurm.path("etc/slurm"), folder, dirs_exist_ok=True)
        text = (folder / "slurm.conf").read_text()
        for usual, own in OWN:
            assert usual in text
            text = text.replace(usual, own)
        (folder / "slurm.conf").write_text(text)
        slurm.restart("slurmctld")
        slurm.spawn("unshare", "--uts", "sh", "-c", "hostname backup; exec setpriv --reuid=slurm --regid=slurm "
                    "--init-groups slurmctld -D", env={"SLURM_CONF": "/etc/slurm-backup/slurm.conf"}, log="backup")
        slurm.wait_for(lambda: slurm.run("scontrol", "ping", check=False).stdout.count("UP") == 2, 30, "two slurmctlds")
    yield start
    slurm.run("sh", "-c", "kill $(cat /run/slurm/backup.pid)", check=False)
    slurm.wait_for(lambda: "backup) at 127.0.0.2 is UP" not in slurm.run("scontrol", "ping", check=False).stdout
                   and slurm.run("sh", "-c", "kill -0 $(cat /run/slurm/backup.pid)", check=False).returncode,
                   30, "the end of the backup")
    slurm.write_slurm_conf("")
    shutil.rmtree(slurm.path("etc/slurm-backup"))
    slurm.restart("slurmctld")


def test_the_backup_goes_on_where_the_other_stopped(slurm, receiver, backup):
    backup()
    receiver.wait("sign of life", lambda r: r.batches())
    before = waiting_job(slurm)
    epoch = receiver.batches()[-1]["epoch"]
    slurm.run("scontrol", "takeover")
    receiver.wait("hints of the other", lambda r: r.batches()[-1]["epoch"] != epoch)
    after = job_of(slurm, allocate(slurm, claim(slurm, uid="u-2")))
    assert after["UserId"].startswith("alice(") and TAG in after["AdminComment"]
    receiver.wait("job_start", lambda r: [h for _, h in r.hints() if h == {"type": "job_start", "job": int(after["JobId"])}])
    assert slurm.job(before["JobId"])["AdminComment"] == before["AdminComment"]
    for job in before, after:
        end(slurm, job)
