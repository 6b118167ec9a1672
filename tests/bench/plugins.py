# SPDX-License-Identifier: Apache-2.0
"""What the plugins cost slurmctld, on a machine that does nothing else: python3 -m tests.bench.plugins.

The same burst of native batch jobs with and without the plugins, in turns; the time that the hook takes
for one of them; and slurmctld's memory over many jobs.
"""
import argparse
import statistics
import sys
from pathlib import Path

from tests.bench.__main__ import show
from tests.env import build, cache, slurm
from tests.env.instance import Instance
from tests.plugin import requests

HOOK = "/opt/slurm-k8s/bin/hook_time"
# Jobs are forgotten soon, and none of them starts: what is measured is their submission.
COMMON = "MinJobAge=2\nMaxJobCount=200000\n"


class Bench:
    """One Slurm without a control plane."""

    def __init__(self, jobs: int):
        self.jobs, self.where = jobs, build.build("forky")
        self.instance = Instance(cache.of_this_checkout("bench-plugins"), nodes=1, control_plane=False)
        self.instance.start()
        self.instance.write_slurm_conf(COMMON)
        requests.install(self.instance, self.where)
        slurm.install(Path(self.where) / "tests/bench/hook_time", self.instance.path(HOOK))

    def use(self, plugins: bool) -> None:
        """Restart slurmctld with or without the plugins; slurm.conf names those that are installed."""
        if plugins:
            self.instance.install_plugins(self.where)
        else:
            for file in self.instance.path(slurm.PLUGIN_DIR).glob("*_k8s.so"):
                file.unlink()
            self.instance.slurm.configure()
        self.instance.restart("slurmctld")

    def burst(self) -> float:
        """Seconds that the burst takes."""
        done = requests.submit(self.instance, f"repeat={self.jobs}", user="bob", script="#!/bin/sh\n", begin_in_s=36000)
        assert done.returncode == 0, done.stderr
        self.clear()
        return float(done.stdout)

    def clear(self) -> None:
        """No job is left, not even a record."""
        self.instance.run("scancel", "-u", "bob", timeout=300)
        self.instance.wait_for(lambda: not self.instance.run("squeue", "-h", "-t", "all").stdout.strip(), 300, "no job")

    def hook(self, count: int):
        """Median, 99th percentile and maximum in microseconds of COUNT calls of the hook."""
        folder = "/" + slurm.PLUGIN_DIR
        done = self.instance.run(HOOK, f"{folder}/libslurmfull.so", f"{folder}/job_submit_k8s.so", count, timeout=300)
        return [float(word) for word in done.stdout.split()[1:]]

    def memory(self) -> float:
        """slurmctld's resident memory, in MiB."""
        status = Path(f"/proc/{self.instance.status()['slurmctld']}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> int:
    """1 if a goal was missed."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.plugins", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--memory-jobs", type=int, default=100_000)
    arguments = parser.parse_args()
    bench, missed = Bench(arguments.jobs), []

    def goal(name: str, value: float, good: bool) -> None:
        print(f"  goal {name}: {value:.3f} {'met' if good else 'MISSED'}", flush=True)
        if not good:
            missed.append(name)

    took = {True: [], False: []}
    for _ in range(arguments.rounds):
        for plugins in took:
            bench.use(plugins)
            took[plugins].append(bench.burst())
    for plugins, name in ((False, "without"), (True, "with")):
        show(f"{arguments.jobs} native jobs, {name} the plugins", took[plugins], "s")
    ratio = statistics.median(took[True]) / statistics.median(took[False])
    goal("with <= 1.02 of without", ratio, ratio <= 1.02)
    bench.use(True)
    median, p99, most = bench.hook(100_000)
    print(f"job_submit/k8s on a native job, n=100000: median {median} us, p99 {p99} us, max {most} us", flush=True)
    goal("p99 <= 50 us", p99, p99 <= 50)
    rounds = max(2, arguments.memory_jobs // arguments.jobs)
    memory = []
    for _ in range(rounds):
        bench.burst()
        memory.append(bench.memory())
    show(f"slurmctld's memory after each {arguments.jobs} of {rounds * arguments.jobs} jobs", memory, "MiB")
    half = len(memory) // 2
    growth = statistics.median(memory[half:]) - statistics.median(memory[:half])
    goal("growth from the first to the second half <= 1 MiB", growth, growth <= 1)
    bench.instance.stop()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
