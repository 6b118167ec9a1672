# SPDX-License-Identifier: Apache-2.0
"""Slurm's accounting in one instance: slurmdbd and its MariaDB."""
from . import defaults
from .processes import Program

SOCKET = "/run/mysqld/mysqld.sock"
DATA = "/var/lib/accounting"

SLURM_CONF = """AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStorageEnforce=associations,limits,qos
"""

SLURMDBD_CONF = """AuthType=auth/munge
DbdHost=controller
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct_db
PidFile=/run/slurm/slurmdbd.pid
LogFile=/var/log/slurm/slurmdbd.log
DebugLevel=verbose
"""

# slurmdbd shows itself by its uid on the socket.
_DATABASE = """CREATE DATABASE IF NOT EXISTS slurm_acct_db;
CREATE USER IF NOT EXISTS slurm@localhost IDENTIFIED VIA unix_socket;
GRANT ALL ON slurm_acct_db.* TO slurm@localhost;
"""


def configure(space) -> None:
    """Make the database's folder; write slurmdbd's configuration, which nobody but SlurmUser may read."""
    space.run("install", "-d", "-o", "mysql", "-g", "mysql", "/run/mysqld", DATA)
    if not (space.root / DATA.lstrip("/") / "mysql").exists():
        space.run("mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={DATA}", "--skip-test-db",
                  "--auth-root-authentication-method=socket", "--innodb-log-file-size=4M")
    defaults.write(space, "etc/slurm/slurmdbd.conf", SLURMDBD_CONF, "slurm", 0o600)


def database() -> Program:
    """MariaDB, on its socket only; what a crash of this machine would lose is not missed."""
    return Program("mariadbd", ("mariadbd", "--no-defaults", "--user=mysql", f"--datadir={DATA}",
                                f"--socket={SOCKET}", "--skip-networking", "--innodb-flush-log-at-trx-commit=0",
                                "--innodb-log-file-size=4M", "--loose-innodb-snapshot-isolation=OFF"),
                   ("mariadb", f"--socket={SOCKET}", "-e", "SELECT 1"))


def slurmdbd() -> Program:
    """Slurm's own daemon in front of it."""
    return Program("slurmdbd", ("slurmdbd",), ("sacctmgr", "-n", "list", "cluster"), user="slurm",
                   pid_file="/run/slurm/slurmdbd.pid")


def make_database(space) -> None:
    """Make the database and let slurmdbd in."""
    space.run("mariadb", f"--socket={SOCKET}", input=_DATABASE)


def make_cluster(space, cluster: str) -> None:
    """slurmctld starts only if its cluster is known."""
    if not space.run("sacctmgr", "-n", "list", "cluster", cluster).stdout.strip():
        space.run("sacctmgr", "-i", "add", "cluster", cluster)
