#!/bin/sh
# See that this system can build and run Tiebreak: Python with venv, a C and C++ compiler, CMake, and on Linux
# the libraries that Qt's window needs; for a bundle that can use a GPU (--with-gpu) also what llama.cpp's library
# for GPUs is compiled with (--with-gpu-if-possible: it may go without).
# For the tests that use the program on a desktop (--with-desktop): a screen in memory, a window manager, what a
# screen reader asks, a browser. For those on a Windows that Wine runs (--with-wine): Wine, a compiler, a screen.
# What is missing is named with the line that installs it; root on Debian or Ubuntu gets it installed.
#
#     sh packaging/system_packages.sh [--with-gpu | --with-gpu-if-possible | --with-desktop | --with-wine] [PYTHON]
set -eu
gpu=
desktop=
wine=
case ${1:-} in
    --with-gpu) gpu=yes; shift ;;
    --with-gpu-if-possible) gpu=possible; shift ;;
    --with-desktop) desktop=yes; shift ;;
    --with-wine) wine=yes; shift ;;
esac
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
    if [ "$(uname -s)" = Linux ] && command -v "$python" >/dev/null 2>&1; then
        missing="$missing$(missing_libraries)"
    fi
    if [ "$(uname -s)" = Linux ] && [ "$gpu" = yes ]; then
        missing="$missing$(missing_for_gpu)"
    fi
    if [ "$(uname -s)" = Linux ] && [ -n "$desktop" ]; then
        missing="$missing$(missing_for_desktop)"
    fi
    if [ "$(uname -s)" = Linux ] && [ -n "$wine" ]; then
        missing="$missing$(missing_for_wine)"
    fi
}

missing_for_wine() { # the packages of what packaging/windows/ and smoke_wine.py start; X's libraries Wine opens by name
    [ -x /usr/lib/wine/wine64 ] || printf ' wine64'
    [ -d /usr/share/wine/fonts ] || printf ' fonts-wine'
    [ -d /usr/share/fonts/truetype/liberation ] || printf ' fonts-liberation'
    command -v x86_64-w64-mingw32-gcc-win32 >/dev/null 2>&1 || printf ' gcc-mingw-w64-x86-64-win32'
    command -v Xvfb >/dev/null 2>&1 || printf ' xvfb'
    command -v xdotool >/dev/null 2>&1 || printf ' xdotool'
    absent libXcomposite.so.1 libxcomposite1
    absent libXcursor.so.1 libxcursor1
    absent libXfixes.so.3 libxfixes3
    absent libXi.so.6 libxi6
    absent libXinerama.so.1 libxinerama1
    absent libXrandr.so.2 libxrandr2
    absent libXrender.so.1 libxrender1
}

absent() { # the package $2, unless the library $1 is there
    "$python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>/dev/null || printf ' %s' "$2"
}

missing_for_desktop() { # the packages of what tests/desktop/ starts
    command -v Xvfb >/dev/null 2>&1 || printf ' xvfb'
    command -v xdotool >/dev/null 2>&1 || printf ' xdotool'
    command -v openbox >/dev/null 2>&1 || printf ' openbox'
    command -v dbus-daemon >/dev/null 2>&1 || printf ' dbus-daemon'
    [ -f /usr/share/dbus-1/services/org.a11y.Bus.service ] || printf ' at-spi2-core'
    command -v chromium >/dev/null 2>&1 || printf ' chromium'
}

missing_for_gpu() { # the packages of glslc and of Vulkan's and SPIR-V's headers; Vulkan's SDK has all of them
    (PATH="${VULKAN_SDK:+$VULKAN_SDK/bin:}$PATH" && command -v glslc >/dev/null 2>&1) || printf ' glslc'
    compiles vulkan/vulkan.h -lvulkan || printf ' libvulkan-dev'
    compiles spirv/unified1/spirv.h || printf ' spirv-headers'
}

compiles() { # a program that includes the header $1 and is linked with $2
    header=$1
    shift
    [ -z "${VULKAN_SDK:-}" ] || set -- "-I$VULKAN_SDK/include" "-L$VULKAN_SDK/lib" "$@"
    printf '#include <%s>\nint main() { return 0; }\n' "$header" |
        c++ -std=c++17 -x c++ - "$@" -o /dev/null 2>/dev/null
}

missing_libraries() { # the packages of libraries that Qt is linked with and does not bring along
    "$python" - <<'END'
import ctypes

LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}
for library, package in LIBRARIES.items():
    try:
        ctypes.CDLL(library)
    except OSError:
        print(end=f" {package}")
END
}

check_version() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' && return
    echo "Tiebreak needs Python 3.11 or newer; $python is $("$python" --version 2>&1)." >&2
    echo "Install a newer one and name it: make PYTHON=python3.12 ..." >&2
    exit 2
}

install_if_possible() { # packages that a bundle can do without
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing, for a GPU:$1"
        apt-get update --quiet &&
            DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $1 && return
    fi
    echo "For a GPU, these are missing (Debian's names):$1."
}

find_missing
if [ -n "$missing" ]; then
    install="apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=120 $missing"
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
if [ "$(uname -s)" = Linux ] && [ "$gpu" = possible ]; then
    wished=$(missing_for_gpu)
    [ -z "$wished" ] || install_if_possible "$wished"
fi
