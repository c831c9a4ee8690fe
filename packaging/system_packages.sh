#!/bin/sh
# See that this system can build and run Tiebreak: Python with venv, a C and C++ compiler, CMake.
# What is missing is named with the line that installs it; root on Debian or Ubuntu gets it installed.
#
#     sh packaging/system_packages.sh [PYTHON]
set -eu
python=${1:-python3}
missing=""

need() { # need PACKAGE COMMAND...: remember PACKAGE where COMMAND fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

need python3 command -v "$python"
if command -v "$python" >/dev/null 2>&1; then
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "Tiebreak needs Python 3.11 or newer; $python is $("$python" --version 2>&1)." >&2
        echo "Install a newer one and name it: make PYTHON=python3.12 ..." >&2
        exit 2
    }
    need python3-venv "$python" -c 'import ensurepip, venv'
else
    missing="$missing python3-venv"
fi
need gcc command -v cc
need g++ command -v c++
need cmake command -v cmake

[ -z "$missing" ] && exit 0

case $(uname -s) in
Darwin)
    echo "Missing:$missing. Install them with: xcode-select --install; brew install cmake python" >&2
    exit 2
    ;;
esac
if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing:$missing (Debian's names). Install them with your system's package manager." >&2
    exit 2
fi
install="apt-get install --yes --no-install-recommends$missing"
if [ "$(id -u)" -ne 0 ]; then
    echo "Missing:$missing. Install them with:" >&2
    echo "    sudo apt-get update && sudo $install" >&2
    exit 2
fi
echo "Installing:$missing"
apt-get update --quiet
$install
