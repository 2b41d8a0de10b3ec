"""Where the pinned buildifier lies."""

import os
import platform

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def buildifier_path() -> str:
    """The executable for this machine: `$BUILDIFIER` (a path of your own), else the one among the runfiles.

    Raises:
      FileNotFoundError: neither is there.
    """
    chosen = os.environ.get("BUILDIFIER")
    if chosen:
        return os.path.abspath(chosen)
    from python.runfiles import runfiles  # only there under Bazel

    name = f"buildifier-{platform.system().lower()}_{_MACHINES.get(platform.machine(), platform.machine())}"
    path = runfiles.Create().Rlocation(f"tilefoundry_buildifier/{name}")
    if path is None or not os.path.isfile(path):
        raise FileNotFoundError(f"the pinned package has no {name}; set BUILDIFIER to the path of one")
    return os.path.abspath(path)
