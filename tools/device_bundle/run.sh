#!/bin/sh
# Checks and times the kernels of this bundle on the GPU of this machine:
#
#   ./run.sh [correctness|keys|bench|ops_bench|programs|tests|tiers|sanitize|compiled|all]
#
# Needs python3 (3.12) with torch; PYTHON names another interpreter. Installs nothing.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=${PYTHON:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') || {
    echo "run.sh: $python does not run; set PYTHON to a Python 3.12 that has torch" >&2
    exit 2
}
if [ "$version" != 3.12 ]; then
    echo "run.sh: the packages of this bundle are for Python 3.12, and $python is $version; set PYTHON" >&2
    exit 2
fi
"$python" -c 'import torch' || {
    echo "run.sh: $python has no working torch; set PYTHON to a Python 3.12 that has one" >&2
    exit 2
}
export PYTHONPATH="$here/src:$here/site" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
exec "$python" -m tools.device_bundle.main --bundle "$here" "$@"
