"""A worker that says it has another build of llama.cpp: python -m tests.cluster.odd_worker ADDRESS FOLDER."""

import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.cluster.certificates import address_of
from engine.cluster.dask_setup import security_for, set_up_dask
from engine.cluster.worker_model import WorkerOptions

set_up_dask()

from engine.cluster.service import PlainWorker  # noqa: E402 - Dask's settings first
from engine.cluster.worker_plugin import JudgingPlugin  # noqa: E402

BUILD = "llama.cpp of another day"


class OddPlugin(JudgingPlugin):
    """Says so."""

    def setup(self, worker: Any) -> None:
        super().setup(worker)
        self.facts = replace(self.facts, llama_cpp=BUILD)


async def main(address: str, certificates: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        worker = PlainWorker(
            address,
            nthreads=1,
            host="127.0.0.1",
            security=security_for(address_of(address), certificates),
            memory_limit=None,
            local_directory=folder,
            plugins=(OddPlugin(WorkerOptions(threads=1)),),
        )
        async with worker:
            print("Working for", address, flush=True)
            await worker.finished()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
