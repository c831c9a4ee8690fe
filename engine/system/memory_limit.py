"""A limit of memory that this process cannot pass, set by itself before it does what may take too much.

On Linux the system refuses more address space, on Windows more committed memory of a job object that holds
this process alone; a request for memory beyond it fails, which Python says as MemoryError. macOS has no such
limit: RLIMIT_AS is refused there or without effect, so that whoever started the process must watch it.

Knows: how each system limits a process. Does not know: how much is enough, what takes it.
"""

import sys

IS_HARD = sys.platform != "darwin"
"""Whether the limit holds by itself here."""

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
    _PROCESS_MEMORY = 0x100  # JOB_OBJECT_LIMIT_PROCESS_MEMORY

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
            ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_ulonglong * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    def limit_memory(most_bytes: int) -> None:
        """Let this process have no more than so much memory, from now on. OSError where that is refused."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
        kernel.GetCurrentProcess.restype = wintypes.HANDLE
        kernel.SetInformationJobObject.argtypes = (
            wintypes.HANDLE,
            ctypes.c_int,
            ctypes.c_void_p,
            wintypes.DWORD,
        )
        kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _PROCESS_MEMORY
        limits.ProcessMemoryLimit = most_bytes
        # Never closed: the job lasts as long as this process.
        job = kernel.CreateJobObjectW(None, None)
        if not (
            job
            and kernel.SetInformationJobObject(
                job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
            )
            and kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess())
        ):
            raise ctypes.WinError(ctypes.get_last_error())

elif sys.platform == "darwin":

    def limit_memory(most_bytes: int) -> None:
        """Nothing: see IS_HARD."""

else:
    import resource

    def limit_memory(most_bytes: int) -> None:
        """Let this process have no more than so much memory, from now on. OSError where that is refused."""
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
