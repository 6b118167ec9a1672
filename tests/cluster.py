# SPDX-License-Identifier: Apache-2.0
"""An instance with plugins and sidecar, and the look-ups that tests make on it."""
import contextlib
import json
import re
import signal
import subprocess
import threading
import time
import uuid

from tests.env import build, cache
from tests.env.instance import Instance

JOB_ID_LABEL = "scheduler.slinky.slurm.net/slurm-jobid"
NODE_ANNOTATION = "slinky.slurm.net/slurm-node"
TIMEOUT = 60.0


def say(text: str) -> None:
    """A progress line."""
    cache.say(text)


def start(name: str, codename: str = "forky", nodes: int = 4, **options) -> Instance:
    """A running instance with freshly built plugins and sidecar. Raises EnvironmentError_."""
    where = build.build(codename)
    instance = Instance(cache.of_this_checkout(name), codename=codename, nodes=nodes, **options)
    instance.start()
    instance.install_plugins(where)
    instance.stop_sidecar()  # one that was left running may be of another build
    instance.install_sidecar(where)
    instance.start_sidecar()
    return instance


class Cluster:
    """What a test sees of an instance. Waiting functions fail with the last thing they saw."""

    def __init__(self, instance: Instance):
        self.instance = instance

    # --- both sides ------------------------------------------------------------------------------
    def wait(self, what: str, look, timeout: float = TIMEOUT):
        """LOOK's first true result."""
        deadline, last = time.monotonic() + timeout, None
        while True:
            last = look()
            if last:
                return last
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {timeout:.0f} s: {what}; last seen: {last!r}\n{self.story()}")
            time.sleep(0.05)

    def story(self) -> str:
        """The last log lines of the sidecar, for a failure's message."""
        return "\n".join(self.log().splitlines()[-40:])

    def log(self) -> str:
        """What the sidecar has logged since it was started last."""
        text = self.instance.log("sidecar").read_text(errors="replace")
        return text[max(0, text.rfind(" info starting ")):]

    def wait_logged(self, text: str, timeout: float = TIMEOUT) -> None:
        """Until the sidecar has logged it since it was started last."""
        self.wait(f"log line {text!r}", lambda: text in self.log(), timeout)

    @contextlib.contextmanager
    def frozen(self, program: str):
        """That daemon answers nobody meanwhile; what it was asked it does when it goes on."""
        self.instance.kill(program, signal.SIGSTOP)
        try:
            yield
        finally:
            self.instance.kill(program, signal.SIGCONT)

    # --- Kubernetes ------------------------------------------------------------------------------
    def namespace(self) -> str:
        """A new namespace, ready for pods."""
        name = f"test-{uuid.uuid4().hex[:8]}"
        self.instance.kubectl("create", "namespace", name)
        self.wait("its service account", lambda: self.get("serviceaccount", name, "default"))
        return name

    def apply(self, *objects) -> None:
        """Create dicts as objects."""
        items = [item for entry in objects for item in (entry if isinstance(entry, list) else [entry])]
        self.instance.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def get(self, kind: str, namespace: str, name: str):
        """The object, or None."""
        text = self.instance.kubectl("get", kind, "-n", namespace, name, "-o", "json", "--ignore-not-found")
        return json.loads(text) if text.strip() else None

    def pods(self, namespace: str) -> list:
        """All pods of a namespace, by name."""
        items = self.instance.kube_json("get", "pods", "-n", namespace)["items"]
        return sorted(items, key=lambda pod: pod["metadata"]["name"])

    def delete(self, kind: str, namespace: str, name: str, *options) -> None:
        """kubectl delete, without waiting."""
        self.instance.kubectl("delete", kind, "-n", namespace, name, "--wait=false", *options)

    def wait_pod(self, namespace: str, name: str, what: str, good, timeout: float = TIMEOUT) -> dict:
        """The pod, once GOOD(pod)."""
        def look():
            pod = self.get("pod", namespace, name)
            return pod if pod and good(pod) else None
        return self.wait(f"pod {namespace}/{name} {what}", look, timeout)

    def wait_bound(self, namespace: str, name: str, timeout: float = TIMEOUT) -> dict:
        """The pod, once it has a node."""
        return self.wait_pod(namespace, name, "bound", lambda pod: pod["spec"].get("nodeName"), timeout)

    def wait_gone(self, namespace: str, name: str, timeout: float = TIMEOUT) -> None:
        """Until the pod does not exist."""
        self.wait(f"pod {namespace}/{name} gone", lambda: self.get("pod", namespace, name) is None, timeout)

    def wait_says(self, namespace: str, name: str, text: str, timeout: float = TIMEOUT) -> str:
        """The PodScheduled message, once it has TEXT in it."""
        pod = self.wait_pod(namespace, name, f"says {text!r}", lambda pod: text in scheduled_message(pod), timeout)
        return scheduled_message(pod)

    def watch_pods(self, namespace: str) -> "PodWatch":
        """Follows the pods of a namespace from now on."""
        return PodWatch(self, namespace)

    def events(self, namespace: str, name: str) -> list:
        """(reason, note) of the Events about a pod."""
        items = self.instance.kube_json("get", "events.events.k8s.io", "-n", namespace)["items"]
        return [(e["reason"], e.get("note", "")) for e in items if e.get("regarding", {}).get("name") == name]

    # --- Slurm -----------------------------------------------------------------------------------
    def jobs(self) -> list:
        """Every job that slurmctld knows, as dicts of scontrol's words."""
        done = self.instance.run("scontrol", "-o", "show", "job", check=False)
        return [parse_job(line) for line in done.stdout.splitlines() if line.startswith("JobId=")]

    def jobs_of(self, uid: str) -> list:
        """The jobs whose tag names that object."""
        return [job for job in self.jobs() if job.get("tag", {}).get("uid") == uid]

    def wait_job(self, uid: str, state: str, timeout: float = TIMEOUT) -> dict:
        """The one job of an object, once it has that state."""
        def look():
            found = self.jobs_of(uid)
            return found[0] if len(found) == 1 and found[0]["JobState"] == state else None
        return self.wait(f"job of {uid} {state}; now {self.jobs_of(uid)}", look, timeout)

    def wait_saved(self, uid: str) -> None:
        """Until slurmctld's saved state has that object's job: it saves every few seconds."""
        file = self.instance.path("var/lib/slurm/slurmctld/job_state")
        self.wait("job saved", lambda: uid.encode() in file.read_bytes(), 20)

    def metric(self, name: str) -> float:
        """A value of the sidecar's /metrics; NAME includes labels. 0 if it is not there."""
        text = self.instance.run("curl", "-sf", "http://127.0.0.1:8090/metrics").stdout
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)
        return float(found.group(1)) if found else 0.0


class PodWatch:
    """Notes when each pod was first seen with a deletionTimestamp."""

    def __init__(self, cluster: Cluster, namespace: str):
        self._cluster, self._deleting, self._seen = cluster, {}, threading.Event()
        self._process = subprocess.Popen(
            [cluster.instance.directory / "bin/kubectl", "get", "pods", "-n", namespace, "--watch",
             "--output-watch-events", "-o", "json"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        assert self._seen.wait(20), "the watch brought nothing"

    def _read(self) -> None:
        decoder, text = json.JSONDecoder(), ""
        for line in self._process.stdout:
            text = (text + line).lstrip()
            try:
                event, end = decoder.raw_decode(text)
            except ValueError:
                continue  # more lines of it follow
            text = text[end:]
            pod = event["object"]
            self._seen.set()
            if "deletionTimestamp" in pod["metadata"]:
                self._deleting.setdefault(pod["metadata"]["name"], (time.time(), pod))

    def wait_deleting(self, names: set) -> dict:
        """name -> (seconds since the epoch, pod as it was then), once all of NAMES are being deleted."""
        try:
            self._cluster.wait(f"{names} being deleted", lambda: names <= set(self._deleting), 20)
        finally:
            self._process.terminate()
            self._process.wait()
        return {name: self._deleting[name] for name in names}


def parse_job(line: str) -> dict:
    """One line of "scontrol -o show job"; the tag under "tag"."""
    job = {}
    tag = re.search(r" AdminComment=(\{.*?\})(?= \w+=|\s*$)", line)
    if tag:
        line = line.replace(tag.group(0), "")
        job["tag"] = next(iter(json.loads(tag.group(1)).values()))
    job.update(re.findall(r"(\S+?)=(.*?)(?= \S+?=|\s*$)", line))
    return job


def scheduled_message(pod: dict) -> str:
    """The message of PodScheduled=False, or ""."""
    return next((c.get("message", "") for c in pod.get("status", {}).get("conditions", [])
                 if c["type"] == "PodScheduled" and c["status"] == "False"), "")


def has_condition(pod: dict, kind: str) -> bool:
    """Whether a condition is True."""
    return any(c["type"] == kind and c["status"] == "True" for c in pod.get("status", {}).get("conditions", []))
