#!/bin/sh
# See that this system can build and run Tiebreak: Python with venv, a C and C++ compiler, CMake.
# What is missing is named with the line that installs it; root on Debian or Ubuntu gets it installed.
#
#     sh packaging/system_packages.sh [PYTHON]
set -eu
python=${1:-python3}
name=$(basename "$python")

find_missing() { # sets $missing to the packages, by Debian's names
    missing=""
    if ! command -v "$python" >/dev/null 2>&1; then
        missing="$name $name-venv"
    elif ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        missing="$name-venv"
    fi
    command -v cc >/dev/null 2>&1 || missing="$missing gcc"
    command -v c++ >/dev/null 2>&1 || missing="$missing g++"
    command -v cmake >/dev/null 2>&1 || missing="$missing cmake"
}

check_version() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' && return
    echo "Tiebreak needs Python 3.11 or newer; $python is $("$python" --version 2>&1)." >&2
    echo "Install a newer one and name it: make PYTHON=python3.12 ..." >&2
    exit 2
}

find_missing
if [ -n "$missing" ]; then
    install="apt-get install --yes --no-install-recommends $missing"
    if [ "$(uname -s)" = Darwin ]; then
        echo "Missing: $missing. Install them with: xcode-select --install; brew install cmake python" >&2
        exit 2
    elif ! command -v apt-get >/dev/null 2>&1; then
        echo "Missing: $missing (Debian's names). Install them with your system's package manager." >&2
        exit 2
    elif [ "$(id -u)" -ne 0 ]; then
        echo "Missing: $missing. Install them with:" >&2
        echo "    sudo apt-get update && sudo $install" >&2
        exit 2
    fi
    echo "Installing: $missing"
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get update --quiet
    $install
    find_missing
    [ -z "$missing" ] || { echo "Still missing: $missing." >&2; exit 2; }
fi
check_version
