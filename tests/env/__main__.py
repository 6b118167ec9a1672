# SPDX-License-Identifier: Apache-2.0
"""Start, stop and look at an instance from the shell."""
import argparse
import sys

from . import cache, instance, slurm_root


def main() -> int:
    """python3 -m tests.env COMMAND; 0 when it worked, 1 with a line on standard error when not."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.env", description=__doc__)
    parser.add_argument("command", choices=("start", "stop", "destroy", "status", "env"))
    parser.add_argument("--name", default="default")
    parser.add_argument("--codename", default="forky", choices=slurm_root.SLURM_OF)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--real-nodes", type=int, default=0)
    arguments = parser.parse_args()
    try:
        return _run(arguments)
    except (cache.EnvironmentError_, TimeoutError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1


def _run(arguments) -> int:
    if arguments.command == "start":
        with cache.progress(f"starting instance {arguments.name}"):
            started = instance.Instance(arguments.name, arguments.codename, arguments.nodes,
                                        real_nodes=arguments.real_nodes).start()
        print(f'eval "$(python3 -m tests.env env --name {started.name})"')
        return 0
    existing = instance.Instance.load(arguments.name)
    if arguments.command == "env":
        print(f'export PATH="{existing.directory}/bin:$PATH" KUBECONFIG="{existing.directory}/kubeconfig"')
    elif arguments.command == "status":
        states = existing.status()
        for name, pid in states.items():
            print(f"{name:26}{pid or 'does not run'}")
        return 0 if any(states.values()) else 1
    else:
        getattr(existing, arguments.command)()
    return 0


if __name__ == "__main__":
    sys.exit(main())
