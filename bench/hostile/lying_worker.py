"""A worker that lies: python -m bench.hostile.lying_worker ADDRESS LIE [CERTIFICATES].

It does all that a sound worker does, and then says something else of it.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.cluster.certificates import address_of
from engine.cluster.dask_setup import security_for, set_up_dask
from engine.cluster.worker_model import WorkerOptions

set_up_dask()

from engine.cluster import worker_plugin  # noqa: E402 - Dask's settings first
from engine.cluster.service import PlainWorker  # noqa: E402

Lie = Callable[[Any], Any]
"""Of what was said, as plain values, what is said in its place: plain values or bytes."""

OTHER_BUILD = "llama.cpp of another day"
_HUGE = 10**400
_ODD = {
    "1e308": 1e308,
    "-1e308": -1e308,
    "10**400": _HUGE,
    "NaN": float("nan"),
    "text": "fast",
    "nothing": None,
}


def _set(name: str, value: Any) -> Lie:
    def lie(said: Any) -> Any:
        if isinstance(said, list):
            return [lie(each) for each in said]
        return {**said, name: value} if isinstance(said, dict) else said

    return lie


def _moved(said: Any) -> Any:
    return [[{**item, "position": item["position"] + 1000} for item in group] for group in said]


def _of_criteria(change: Callable[[Any], Any]) -> Lie:
    """Of all readings of each item."""

    def lie(said: Any) -> Any:
        return [
            [
                {**item, "readings": {name: change(rows) for name, rows in item["readings"].items()}}
                for item in group
            ]
            for group in said
        ]

    return lie


def _numbers(value: Any) -> Lie:
    return _of_criteria(
        lambda rows: [
            [order, method, [[name, [value for _ in numbers], *rest] for name, numbers, *rest in answers]]
            for order, method, answers in rows
        ]
    )


class _NoBytes:
    """Stands for an answer that is no bytes."""


def _always(value: Any) -> Lie:
    return lambda _said: value


def _breaks(_said: Any) -> Any:
    raise RuntimeError("a fault of the worker")


LIES: dict[str, tuple[str, Lie]] = {
    **{f"speeds of {name}": ("speed", _set("reading", odd)) for name, odd in _ODD.items()},
    **{f"writing at {name}": ("speed", _set("writing_ten", odd)) for name, odd in _ODD.items()},
    **{f"seconds of {name}": ("do_task", _set("seconds", odd)) for name, odd in _ODD.items()},
    **{f"numbers of {name}": ("do_task", _numbers(odd)) for name, odd in _ODD.items() if name != "NaN"},
    **{f"threads of {name}": ("describe", _set("threads", odd)) for name, odd in _ODD.items()},
    **{f"tokens of {name}": ("do_task", _set("tokens", [odd, odd])) for name, odd in _ODD.items()},
    "other items": ("do_task", _moved),
    "other ids": ("do_task", _set("id", "nobody asked for it")),
    "other texts": ("do_task", _set("content", "0" * 64)),
    "no items": ("do_task", lambda said: [[] for _ in said]),
    "no groups": ("do_task", _always([])),
    "items twice": ("do_task", lambda said: [group + group for group in said]),
    "groups twice": ("do_task", lambda said: said + said),
    "groups in another order": ("do_task", lambda said: said[::-1] if len(said) > 1 else [said[0][::-1]]),
    "no readings": ("do_task", _of_criteria(_always([]))),
    "readings of one order": ("do_task", _of_criteria(lambda rows: rows[:1])),
    "a half character": ("do_task", _set("unscored", {"safety": "half \ud800"})),
    "a name with half a character": ("describe", _set("computer", "half \ud800")),
    "a kind with half a character": ("describe", _set("processor", "half \ud800")),
    "a name of 5,000 letters": ("describe", _set("computer", "n" * 5000)),
    "no facts": ("describe", _always({})),
    "another build": ("describe", _set("llama_cpp", OTHER_BUILD)),
    "another template": ("prepare", _set("template", "0" * 64)),
    "a template of lists": ("prepare", _always([[]])),
    "no JSON": ("do_task", _always(b"no JSON")),
    "JSON nested deeply": ("do_task", _always(b'{"said": ' + b"[" * 50_000 + b"]" * 50_000 + b"}")),
    "no bytes": ("do_task", _always(_NoBytes)),
    "a fault": ("do_task", _breaks),
    "a refusal with an odd remedy": ("do_task", _always(b'{"refused": {"problem": 3, "remedy": [[]]}}')),
    "a refusal of another kind": ("do_task", _always(b'{"refused": 3}')),
    "not prepared, for ever": ("do_task", _always(worker_plugin.NOT_PREPARED)),
    "not wanted, for ever": ("do_task", _always(worker_plugin.NOT_WANTED)),
}
"""By what each is called: which question it is an answer to, and the lie."""


def tell_lies(name: str) -> None:
    """Let this process answer one question with a lie from now on."""
    question, lie = LIES[name]
    honest = getattr(worker_plugin, question)

    def lying(*arguments: Any, **options: Any) -> Any:
        said = json.loads(honest(*arguments, **options)).get("said")
        made = lie(said)
        if made is _NoBytes:
            return 17
        return made if isinstance(made, bytes) else json.dumps({"said": made}).encode("ascii")

    def lying_of(dask_worker: Any) -> Any:  # Dask gives its worker to an argument of this name alone
        return lying(dask_worker)

    setattr(worker_plugin, question, lying_of if question == "describe" else lying)


async def _main(address: str, certificates: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        worker = PlainWorker(
            address,
            nthreads=1,
            host="127.0.0.1",
            security=security_for(address_of(address), certificates) if certificates else None,
            memory_limit=None,
            local_directory=folder,
            plugins=(worker_plugin.JudgingPlugin(WorkerOptions(threads=1)),),
        )
        async with worker:
            print("Working for", address, flush=True)
            await worker.finished()


if __name__ == "__main__":
    tell_lies(sys.argv[2])
    asyncio.run(_main(sys.argv[1], Path(sys.argv[3]) if sys.argv[3:] else None))
