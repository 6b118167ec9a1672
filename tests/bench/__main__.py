# SPDX-License-Identifier: Apache-2.0
"""python3 -m tests.bench [--rounds N] [--pods N]: what slurm-k8s costs, against bare calls.

Prints for each measurement what ran, how often, and min/median/max. Goals are printed beside; a missed
one makes the exit status 1.
"""
import argparse
import ctypes
import os
import re
import statistics
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from tests import workloads
from tests.cluster import Cluster
from tests.env import build, cache, defaults
from tests.env.instance import Instance
from tests.env.slurm import install

K8S_CONF = """ClusterId={cluster}
SubmitUser=slurm-k8s
EventUrl=http://127.0.0.1:8090/v1/events
EventTokenFile=/etc/slurm/k8s.token
Namespace=* User=alice Partition=external External=yes
"""
BARE = "/opt/slurm-k8s/bin/bare_writes"
IN_FLIGHT = "12"
API_REQUESTS, RPCS = "slurm_k8s_kube_requests_total", "slurm_k8s_slurm_rpcs_total"  # those that ended: no watches
SAMPLES = 120  # single pods, for the percentiles
WAIT_S = 20  # over which the CPU time of waiting is counted
FEW, MANY = 250, 1000  # pods that wait
CLONE_NEWNET = 0x40000000


def enter_network(path) -> None:
    """Move the calling thread, and no other, into a network namespace."""
    file = os.open(path, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(file, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(file)


class Bench:
    """One instance with external nodes: one whole node for each pod."""

    def __init__(self, pods: int):
        where = build.build("forky")
        self.pods, self.nodes = pods, max(pods, SAMPLES) + 8
        self.instance = Instance(cache.of_this_checkout("bench"), nodes=0, external_nodes=self.nodes)
        self.instance.start()
        self.instance.write_k8s_conf(K8S_CONF.format(cluster=self.instance.name))
        self.instance.install_plugins(where)
        self.instance.stop_sidecar()
        self.instance.install_sidecar(where)
        install(where / "tests/bench/bare_writes", self.instance.path(BARE))
        self.instance.write_sidecar_yaml({**defaults.sidecar(self.instance.name), "log": {"level": "info", "format": "text"}})
        self.cluster = Cluster(self.instance)
        # A thread inside the instance: a program that is started for each look would be measured, too.
        self.inside = ThreadPoolExecutor(1, initializer=enter_network, initargs=(self.instance.space.namespaces / "net",))

    def metrics(self) -> dict:
        """Name with labels -> value of the sidecar's /metrics."""
        def fetch():
            with urllib.request.urlopen("http://127.0.0.1:8090/metrics", timeout=10) as answer:
                return answer.read().decode()
        lines = self.inside.submit(fetch).result().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}

    def create(self, objects) -> str:
        """A namespace with OBJECTS in it."""
        namespace = self.cluster.namespace()
        self.cluster.apply(objects(namespace))
        return namespace

    def clear(self, namespace: str) -> None:
        """Remove the namespace's pods and wait for the end of their jobs."""
        self.instance.kubectl("delete", "pods,podgroups.scheduling.x-k8s.io", "--all", "-n", namespace,
                              "--grace-period=0", "--force", timeout=300)
        self.instance.run("scancel", "-u", "alice", check=False)
        self.cluster.wait("nodes idle", lambda: not self.instance.run("squeue", "-h").stdout.strip(), 120)

    def bare(self) -> float:
        """Pods per second that the API server takes from one client: a Binding and an Event each."""
        namespace = self.create(lambda ns: [workloads.pod(f"bare-{i}", ns, scheduler="nobody") for i in range(self.pods)])
        out = self.instance.run(BARE, "/etc/slurm-k8s/kubeconfig", namespace, IN_FLIGHT, timeout=300).stdout.split()
        assert int(out[0]) == self.pods
        self.clear(namespace)
        return float(out[2])

    def burst(self, size: int) -> dict:
        """Pods per second, from the sidecar's readiness to the last Event, for gangs of SIZE (1: single pods)."""
        count = self.pods // size
        namespace = self.create(lambda ns: [
            item for i in range(count)
            for item in (workloads.gang(f"g{i}", ns, size, cpu="8") if size > 1 else [workloads.pod(f"p{i}", ns, cpu="8")])])
        self.instance.start_sidecar()
        total = count * size
        self.cluster.wait("all bound and told", lambda: (
            now := self.metrics()) and min(written(now, "event"), written(now, "bind")) >= total, 300)
        end, now = time.time(), self.metrics()
        begin = log_time(re.search(r"^(\S+) info ready$", self.cluster.log(), re.M).group(1))
        figures = {"rate": total / (end - begin), "binds": written(now, "bind") / total,
                   "events": written(now, "event") / total,
                   "other writes": (written(now, "pod status") + written(now, "delete pod")) / total,
                   "all requests to the API server": counted(now, API_REQUESTS) / total,
                   "rpcs": counted(now, RPCS) / total,
                   "CPU ms": 1000 * now["process_cpu_seconds_total"] / total,
                   "rss": now["process_resident_memory_bytes"] / 2**20}
        self.instance.stop_sidecar()
        self.clear(namespace)
        return figures

    def latencies(self, count: int) -> list:
        """Milliseconds from Slurm's start of a job to the Binding, one pod after another on an idle cluster."""
        self.instance.start_sidecar()
        namespace = self.cluster.namespace()
        for i in range(count):
            self.cluster.apply(workloads.pod(f"one-{i}", namespace, cpu="8"))
            self.cluster.wait_bound(namespace, f"one-{i}")
        slurmctld = self.instance.path("var/log/slurm/slurmctld.log").read_text()
        log = self.cluster.log()
        started = {
            job: log_time(at) for at, job in re.findall(r"\[(\S+)\] sched: _slurm_rpc_allocate_resources JobId=(\d+) NodeList", slurmctld)}
        bound = {job: log_time(at) for at, job in re.findall(rf"^(\S+) info pod bound pod={namespace}/\S+ node=\S+ job=(\d+)$", log, re.M)}
        self.instance.stop_sidecar()
        self.clear(namespace)
        assert len(bound) == count
        return sorted((bound[job] - started[job]) * 1000 for job in bound)

    def waiting(self, count: int) -> dict:
        """What it costs that COUNT pods wait for nodes that a native job holds."""
        self.instance.run("sbatch", "--external", "-p", "external", f"-N{self.nodes}", "--exclusive", user="bob", check=False)
        self.cluster.wait("nodes taken", lambda: any(j["state"] == "RUNNING" for j in self.instance.squeue()))
        self.instance.start_sidecar()
        namespace = self.create(lambda ns: [workloads.pod(f"w{i}", ns, cpu="8") for i in range(count)])
        self.cluster.wait("all queued and told", lambda: (now := self.metrics())[
            'slurm_k8s_gangs{state="Queued"}'] >= count and min(
                written(now, "pod status"), written(now, "event")) >= count, 300)
        before = self.metrics()
        time.sleep(WAIT_S)  # what is measured is that nothing happens
        after = self.metrics()
        figures = {"CPU": 100 * (after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]) / WAIT_S,
                   "requests": counted(after, API_REQUESTS) - counted(before, API_REQUESTS),
                   "rpcs": counted(after, RPCS) - counted(before, RPCS),
                   "RSS": after["process_resident_memory_bytes"] / 2**20}
        self.instance.stop_sidecar()
        self.instance.run("scancel", "-u", "bob", check=False)
        self.clear(namespace)
        return figures


def written(metrics: dict, kind: str) -> float:
    """Requests of that kind that the API server took."""
    return sum(metrics.get(f'slurm_k8s_kube_requests_total{{code="{code}",request="{kind}"}}', 0) for code in (200, 201))


def counted(metrics: dict, name: str) -> float:
    """The sum of a counter over all its labels."""
    return sum(value for key, value in metrics.items() if key.startswith(name + "{"))


def log_time(text: str) -> float:
    """Seconds since the epoch of a log line's time, UTC."""
    return datetime.fromisoformat(text if "+" in text else text + "+00:00").timestamp()


def show(what: str, values, unit: str = "") -> float:
    """One line; the median."""
    middle = statistics.median(values)
    print(f"{what:58} n={len(values):<3} min {min(values):8.2f}  median {middle:8.2f}  max {max(values):8.2f} {unit}", flush=True)
    return middle


def main() -> int:
    """1 if a goal was missed."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pods", type=int, default=512)
    arguments = parser.parse_args()
    bench, missed = Bench(arguments.pods), []

    def goal(name: str, value: float, good: bool) -> None:
        print(f"  goal {name}: {value:.2f} {'met' if good else 'MISSED'}", flush=True)
        if not good:
            missed.append(name)

    delays = bench.latencies(SAMPLES)
    show("latency, Slurm's start to Binding, idle cluster", delays, "ms")
    goal("p50 <= 20 ms", delays[len(delays) // 2], delays[len(delays) // 2] <= 20)
    goal("p99 <= 100 ms", delays[int(len(delays) * 0.99)], delays[int(len(delays) * 0.99)] <= 100)
    bare = show(f"bare Binding + Event, {arguments.pods} pods", [bench.bare() for _ in range(arguments.rounds)], "pods/s")
    for size, least in ((1, 0.4), (8, None), (32, None), (128, 0.8)):
        if size > arguments.pods:
            continue
        runs = [bench.burst(size) for _ in range(arguments.rounds)]
        rate = show(f"gangs of {size}: {arguments.pods // size} jobs", [run["rate"] for run in runs], "pods/s")
        for key in runs[0]:
            if key not in ("rate", "rss"):
                show(f"  {key} per pod", [run[key] for run in runs])
        show("  RSS", [run["rss"] for run in runs], "MiB")
        if least:
            goal(f"ratio to bare >= {least}", rate / bare, rate / bare >= least)
        goal("one bind, one event, no other write per pod", runs[0]["binds"] + runs[0]["events"] + runs[0]["other writes"],
             all(run["binds"] == run["events"] == 1 and run["other writes"] == 0 for run in runs))
    few, many = bench.waiting(FEW), bench.waiting(MANY)
    for count, figures in ((FEW, few), (MANY, many)):
        show(f"{count} pods wait: CPU", [figures["CPU"]], "%")
        show(f"  requests to the API server in {WAIT_S} s", [figures["requests"]])
        show(f"  rpcs in {WAIT_S} s", [figures["rpcs"]])
        show("  RSS", [figures["RSS"]], "MiB")
    goal("CPU <= 1 %", many["CPU"], many["CPU"] <= 1)
    goal("no more CPU for more pods, to 0.5 %", many["CPU"] - few["CPU"], many["CPU"] - few["CPU"] <= 0.5)
    goal("RSS <= 40 MiB", many["RSS"], many["RSS"] <= 40)
    bench.instance.stop()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
