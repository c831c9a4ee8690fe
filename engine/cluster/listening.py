"""How a scheduler listens: whoever connects and then says nothing is shut out again.

Each connection takes a file of the process, of which there may be a thousand, and Dask waits for the first
word of each of them for ever.

Knows: Dask's listeners. Does not know: what is said later; that may come as seldom as it likes.
"""

import asyncio
from typing import Any

from distributed.comm.core import CommClosedError
from distributed.comm.registry import backends
from distributed.comm.tcp import TCPBackend, TCPListener, TLSBackend, TLSListener

FIRST_WORD_SECONDS = 10.0
"""For a certificate to be shown, and then for the first word of Dask."""


class _Impatient:
    """What both kinds of listeners do: to be named before the one of Dask."""

    async def _prepare_stream(self, stream: Any, address: str) -> Any:
        try:
            preparing = super()._prepare_stream(stream, address)  # type: ignore[misc]
            return await asyncio.wait_for(preparing, FIRST_WORD_SECONDS)
        except TimeoutError:
            stream.close()
            return None

    async def on_connection(self, comm: Any, handshake_overrides: dict[str, Any] | None = None) -> None:
        try:
            greeting = super().on_connection(comm, handshake_overrides)  # type: ignore[misc]
            await asyncio.wait_for(greeting, FIRST_WORD_SECONDS)
        except TimeoutError:
            comm.abort()
            raise CommClosedError("no answer") from None


class _PlainListener(_Impatient, TCPListener):  # type: ignore[misc]
    pass


class _EncryptedListener(_Impatient, TLSListener):  # type: ignore[misc]
    pass


class _Plain(TCPBackend):  # type: ignore[misc]
    _listener_class = _PlainListener


class _Encrypted(TLSBackend):  # type: ignore[misc]
    _listener_class = _EncryptedListener


def shut_out_who_says_nothing() -> None:
    """Let all listeners that are made from now on in this process do so."""
    backends.update(tcp=_Plain(), tls=_Encrypted())
