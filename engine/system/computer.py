"""This computer: its physical cores, its free memory, whether it runs on its battery.

Knows: psutil. Does not know: what the cores and the memory are for.
"""

from typing import NamedTuple

import psutil


def default_threads() -> int:
    """The physical cores of this computer."""
    return psutil.cpu_count(logical=False) or psutil.cpu_count() or 1


def idle_seconds() -> float:
    """How long the cores of this computer have been idle, all together, since some moment in the past."""
    times = psutil.cpu_times()
    return float(times.idle + getattr(times, "iowait", 0.0))


class Memory(NamedTuple):
    """Main memory of this machine, in bytes: what can be had now, and all there is."""

    available: int
    total: int


def available_memory() -> Memory:
    """The main memory of this machine now."""
    memory = psutil.virtual_memory()
    return Memory(memory.available, memory.total)


def on_mains() -> bool:
    """True unless this computer runs on a battery, or has one and does not say."""
    try:
        battery = psutil.sensors_battery()
    except (OSError, AttributeError, psutil.Error):  # a system that psutil cannot ask has none that counts
        return True
    return battery is None or battery.power_plugged is True


def memory_of(process: int) -> int:
    """The main memory that a process holds, in bytes; 0 where it has ended."""
    try:
        return int(psutil.Process(process).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
