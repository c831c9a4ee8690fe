"""Dask as this program uses it: quiet, without diagnostics, its connections encrypted where they leave."""

import asyncio
import logging
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import dask

from engine.cluster.certificates import ClusterAddress, certificate_files

if TYPE_CHECKING:
    from distributed.security import Security

SILENT_SECONDS = 60  # a worker that sent nothing for so long is given up by the scheduler
CONNECT_SECONDS = 10  # how long a connection may take until it is said that nobody answers

_LOGGERS = ("distributed", "distributed.client", "distributed.gc", "tornado", "tornado.application", "bokeh")


def set_up_dask() -> None:
    """Settings for this process and the workers that it starts; the user's own settings of Dask stay below.
    Texts could come into its logs with a failed call: nothing is logged. Nothing that a worker holds is
    written to a disk.
    """
    dask.config.set(
        {
            "distributed.scheduler.worker-ttl": f"{SILENT_SECONDS}s",
            "distributed.scheduler.work-stealing": False,  # each worker is given its own tasks
            "distributed.scheduler.active-memory-manager.start": False,
            "distributed.worker.profile.enabled": False,
            **{f"distributed.{each}.http.routes": [] for each in ("scheduler", "worker")},
            **{f"distributed.{each}.preload": [] for each in ("scheduler", "worker", "nanny")},
            **{
                f"distributed.worker.memory.{each}": False
                for each in ("target", "spill", "pause", "terminate")
            },
            "distributed.admin.low-level-log-length": 100,
            "distributed.admin.tick.limit": "1h",
            "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
            "distributed.comm.timeouts.tcp": f"{SILENT_SECONDS}s",
            "distributed.comm.retry.count": 0,
            "distributed.comm.tls.min-version": 1.3,
        }
    )
    import distributed  # noqa: PLC0415 - it takes its settings, and sets its loggers, as it is imported

    assert distributed.__version__
    warnings.filterwarnings("ignore", module=r"distributed\.")  # versions are compared in our own words
    be_quiet()


def be_quiet() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


async def reached(address: ClusterAddress) -> None:
    """Return where something listens; Dask would try for long, and ever more seldom. Raises OSError."""
    opening = asyncio.open_connection(address.host.strip("[]"), address.port)
    _, writer = await asyncio.wait_for(opening, CONNECT_SECONDS)
    writer.close()


async def talked_to(address: ClusterAddress, security: "Security | None") -> None:
    """Return where what listens speaks as a scheduler does, with the same certificates. Raises OSError."""
    from distributed.comm import connect  # noqa: PLC0415
    from distributed.security import Security  # noqa: PLC0415

    given = (security or Security()).get_connection_args("worker")
    comm = await connect(str(address), timeout=CONNECT_SECONDS, **given)
    await comm.close()


def security_for(address: ClusterAddress, certificates: Path) -> "Security | None":
    """What makes the connections of a cluster; None for plain ones. SetupError without certificates."""
    if not address.encrypted:
        return None
    from distributed.security import Security  # noqa: PLC0415

    files = certificate_files(certificates)
    own = {"cert": str(files.certificate), "key": str(files.key)}
    roles = {
        f"tls_{role}_{part}": path for role in ("client", "scheduler", "worker") for part, path in own.items()
    }
    return Security(tls_ca_file=str(files.authority), require_encryption=True, **roles)
