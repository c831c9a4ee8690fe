"""Whether there is a screen that Qt could open a window on; Qt itself ends the process where there is none.

`python -m gui.screen` answers `make run`: it ends with 0, or with 2 and the reason in words.

Knows: what Qt needs of a Linux system. Does not know: windows; it does not import Qt.
"""

import ctypes
import sys
from collections.abc import Mapping

from engine.core.errors import SetupError
from engine.system.paths import environment

# What Qt and its plug-in for X11 are linked with and do not bundle, by Debian's package; the first to be
# missing is named.
LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libxkbcommon.so.0": "libxkbcommon0",
}
X11_LIBRARIES = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}


def check() -> None:
    """Raise SetupError where no window can be opened."""
    if sys.platform != "linux" or environment("QT_QPA_PLATFORM"):
        return
    if not environment("WAYLAND_DISPLAY") and not environment("DISPLAY"):
        raise SetupError(
            "There is no display here to open the window on.",
            "Open it on a computer with a screen, or over ssh -X.",
        )
    _need(LIBRARIES)
    if environment("WAYLAND_DISPLAY"):
        return
    _need(X11_LIBRARIES)
    if not _can_connect():
        raise SetupError(
            f"The display {environment('DISPLAY')} does not answer, so no window can be opened on it.",
            "See that DISPLAY names a screen that is running and that you may use.",
        )


def _need(libraries: Mapping[str, str]) -> None:
    for library, package in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError as error:
            raise SetupError(
                f"The window needs the library {library}, which this system lacks.",
                f"Install it (on Debian or Ubuntu: apt-get install {package}).",
            ) from error


def _can_connect() -> bool:
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    for function in (xcb.xcb_connection_has_error, xcb.xcb_disconnect):
        function.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed


def _answer() -> int:
    try:
        check()
    except SetupError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(_answer())
