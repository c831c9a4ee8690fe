"""Who connects to a scheduler and says nothing is shut out, encrypted or not; who speaks stays."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from engine.cluster import service
from engine.cluster.certificates import address_of
from engine.cluster.dask_setup import security_for, set_up_dask


@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_who_says_nothing_is_shut_out(
    scheme: str, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up_dask()
    from distributed.comm import connect, listen
    from distributed.comm.registry import backends

    monkeypatch.setattr(service, "FIRST_WORD_SECONDS", 0.5)
    for name, backend in backends.items():  # put back afterwards
        monkeypatch.setitem(backends, name, backend)
    service.shut_out_who_says_nothing()
    security = security_for(address_of(f"{scheme}://127.0.0.1:1", False), certificates)

    async def echo(comm: Any) -> None:
        await comm.write(await comm.read())

    async def said_late() -> object:
        own = security.get_listen_args("scheduler") if security else {}
        listener = await listen(f"{scheme}://127.0.0.1:0", echo, **own)
        silent, writer = await asyncio.open_connection("127.0.0.1", listener.get_host_port()[1])
        others = security.get_connection_args("client") if security else {}
        speaking = await connect(listener.contact_address, **others)
        await asyncio.wait_for(silent.read(), 5)  # to its end
        writer.close()
        await speaking.write("still here")
        said = await speaking.read()
        await speaking.close()
        listener.stop()
        return said

    assert asyncio.run(said_late()) == "still here"
