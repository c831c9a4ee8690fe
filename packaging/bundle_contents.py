"""What goes into a bundle, and what of the packages' files stays out."""

import re
import sys

# Modules that something in the bundle would import if it were there, and that no part of the program uses.
LEFT_OUT_MODULES = (
    # the network
    "requests",
    "urllib3",
    "certifi",
    "charset_normalizer",
    "idna",
    "PySide6.QtNetwork",
    # other ways to draw, run, ask and test
    "tkinter",
    "IPython",
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "PySide6.QtWebEngineCore",
    "pytest",
    "hypothesis",
    "lib2to3",
    "pydoc_data",
    "setuptools",
    "pip",
    "torch",
    "sympy",
    "llama_cpp.server",
    "readline",  # brings GNU's library, which is under the GPL
    "nltk",  # rouge_score's scorer, of which nothing is used, would bring it
    # parts of pyarrow that are not about Parquet
    "pyarrow.flight",
    "pyarrow._flight",
    "pyarrow._s3fs",
    "pyarrow._gcsfs",
    "pyarrow._azurefs",
    "pyarrow._hdfs",
    "pyarrow.orc",
    "pyarrow._orc",
    "pyarrow.substrait",
    "pyarrow._substrait",
    "pyarrow.tests",
    # formats of pictures that no figure is saved as
    "PIL._avif",
    "PIL._webp",
    "PIL._imagingtk",
)
# What PyInstaller would do at every start of the program, also of a command: make a folder for matplotlib's
# fonts (main.py names a lasting one), and load Qt.
LEFT_OUT_AT_START = frozenset({"pyi_rth_mplconfig"}) | (
    # On Linux Qt finds its plug-ins without; elsewhere this was not tried.
    {"pyi_rth_pyside6"} if sys.platform == "linux" else set()
)
_LEFT_OUT = re.compile(
    "|".join(
        (
            r"PySide6/(Qt/)?translations/",  # the window speaks English
            r"PySide6/(Qt/)?plugins/(egldeviceintegrations|generic|networkinformation|tls|sqldrivers|qmltooling)/",
            # What draws through OpenGL, as no widget of ours does, would load the system's graphics driver.
            r"PySide6/(Qt/)?plugins/(xcbglintegrations|wayland-graphics-integration-client)/",
            r"PySide6/(Qt/)?plugins/platforms/(lib)?q(eglfs|linuxfb|minimalegl|vkkhrdisplay|vnc|direct2d)",
            r"PySide6/(Qt/)?plugins/platformthemes/libqgtk3",  # GTK and 20 libraries of it
            r"PySide6/(Qt/)?plugins/imageformats/(?!(lib)?qsvg)",
            r"PySide6/(Qt/lib/(lib)?)?Qt6?(Network|EglF|Qml|Quick|OpenGLWidgets)",
            r"PySide6/opengl32sw",  # Qt's own OpenGL for Windows: 20 MB
            r"pyarrow/(include|includes|src|tests)/",
            r"pyarrow/.*\.(pxd|pxi|pyx|h|lib)$",
            r"pyarrow/(lib)?arrow_(flight|s3|python_flight|python_parquet_encryption)",
            r"pyarrow/_(flight|s3fs|gcsfs|azurefs|hdfs|orc|dataset_orc|substrait|cuda|parquet_encryption"
            r"|dataset_parquet_encryption|pyarrow_cpp_tests)\.",
            r"pyarrow/libarrow_python\.so(\.\d+\.\d+\.\d+)?$",  # the same file under two more names
            r"matplotlib/mpl-data/(sample_data|images|fonts/(afm|pdfcorefonts))/",
            r"sklearn/datasets/(data|descr|images)/",
            r"(PIL/_(avif|webp|imagingtk)\.|pillow\.libs/lib(avif|webp))",
            r".*/tests?/",
            r"llama_cpp/lib/(cmake|pkgconfig)/",
            # Where the wheel lay on the computer that made the bundle, and other notes of pip's.
            r".*\.dist-info/(direct_url\.json|RECORD|INSTALLER|REQUESTED)$",
            r"(.*/)?vulkan-1\.dll$",  # comes with the graphics driver, and must fit it
        )
    )
)

# What every Linux desktop has, by Debian's package. A bundle with its own would work less well: they must fit
# the display server, the graphics driver, the fonts and the message bus of the system.
SYSTEM_LIBRARIES = {
    "libc6": (
        *("ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1"),
        *("ld-linux-aarch64.so.1", "libutil.so.1", "libresolv.so.2"),
    ),
    "zlib1g": ("libz.so.1",),  # the program is linked with it, and starts before its own folder is known
    "libx11-6": ("libX11.so.6",),
    "libx11-xcb1": ("libX11-xcb.so.1",),
    "libxcb1": ("libxcb.so.1", "libXau.so.6", "libXdmcp.so.6"),
    "libegl1": ("libEGL.so.1",),
    "libgl1": ("libGL.so.1", "libGLX.so.0", "libGLdispatch.so.0", "libOpenGL.so.0"),
    "libfontconfig1": ("libfontconfig.so.1", "libexpat.so.1"),
    "libfreetype6": ("libfreetype.so.6", "libpng16.so.16", "libbrotlidec.so.1", "libbrotlicommon.so.1"),
    "libglib2.0-0": ("libglib-2.0.so.0", "libgthread-2.0.so.0", "libpcre2-8.so.0"),
    "libdbus-1-3": (
        "libdbus-1.so.3",
        "libsystemd.so.0",
        "libgcrypt.so.20",
        "libgpg-error.so.0",
        "libcap.so.2",
        "liblz4.so.1",
    ),
    "libwayland-client0": ("libwayland-client.so.0",),  # for Wayland alone
    "libwayland-cursor0": ("libwayland-cursor.so.0",),
}
# What only llama.cpp's library for GPUs is linked with: it finds the graphics drivers of the system, and must
# fit them. Where it is missing, the program computes with the processor.
LIBRARIES_FOR_GPUS = {"libvulkan1": ("libvulkan.so.1",)}
GPU_FOLDER = "llama_cpp/lib/gpu"  # what lies here is loaded where a GPU was chosen, and not before
_SYSTEM = frozenset(name for names in SYSTEM_LIBRARIES.values() for name in names)
_FOR_GPUS = frozenset(name for names in LIBRARIES_FOR_GPUS.values() for name in names)


def is_of_the_system(library: str) -> bool:
    """True for a shared library that is not bundled, by its file name."""
    return library in _SYSTEM


def is_for_gpus(library: str) -> bool:
    """True for a shared library that is not bundled, and that nothing but a GPU is used with."""
    return library in _FOR_GPUS


def belongs(inside: str) -> bool:
    """True for a file that goes into the bundle; `inside`: its path there."""
    name = inside.replace("\\", "/")
    library = name.rpartition("/")[2]
    return not (_LEFT_OUT.match(name) or is_of_the_system(library) or is_for_gpus(library))
