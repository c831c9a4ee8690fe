"""Tokens a second of `generate`, beside llama-server and a plain loop over llama-cpp-python's `Llama`.

    python -m bench.peers.generation MODEL [--server PROGRAM] [--slots 4 8 16]
    python -m bench.peers.generation MODEL --kills 30

The same prompts of the demo, greedy, each until it ends or is cut, in one run; loading is not counted.
llama-server is built as bench/README.md says. Where other programs use the computer too, `--processor-time`
counts the processor time of one thread instead.

`--kills` kills the command again and again as it writes, and resumes it. In the end the file must have the
bytes of one that was never killed. Exit code 1 where it has not.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.peers.server import Server, ServerShape
from bench.peers.ways import open_llama
from engine.core.events import CancelToken, MeasureProgress
from engine.data.outputs import CandidatePrompt, read_prompts
from engine.judging.generation import (
    GenerationPlan,
    GenerationSettings,
    size_by_vocabulary,
    write_responses,
)
from engine.models.checked_model import checked_model
from engine.models.model_file import read_model_file
from engine.settings.rows import MachineSettings
from engine.system.paths import demo_dataset

_CONTEXT = 2048
_LEAST = {"llama-server": 1.0, "Llama": 2.0}
Speed = Callable[[], float]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare how fast responses are written.")
    parser.add_argument("model", type=Path)
    parser.add_argument("--server", type=Path, metavar="PROGRAM")
    parser.add_argument("--slots", type=int, nargs="+", default=[4, 8, 16])
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--processor-time", action="store_true", help="with one thread")
    parser.add_argument("--kills", type=int, metavar="N", help="kill it so often instead")
    options = parser.parse_args()
    if options.kills is not None:
        return killed(options)
    threads = 1 if options.processor_time else options.threads
    cancel = CancelToken()
    prompts = read_prompts(demo_dataset())[: options.prompts]
    model = checked_model(read_model_file(options.model), cancel)
    with tempfile.TemporaryDirectory() as folder:
        settings = GenerationSettings(max_tokens=options.max_tokens)
        plan = GenerationPlan(model, prompts, settings, MachineSettings(threads), Path(folder, "out.jsonl"))
        clock = time.process_time if options.processor_time else time.monotonic
        sizes = size_by_vocabulary(plan, cancel)
        ways: dict[str, Speed] = {
            "generate": lambda: ours(plan, clock),
            "Llama.create_chat_completion": lambda: loop(options.model, prompts, settings, threads, clock),
        }
        for slots in options.slots if options.server else ():
            ways[f"llama-server, {slots} slots"] = lambda slots=slots: served(  # type: ignore[misc]
                options, slots, [prompt.tokens for prompt in sizes.asked], threads
            )
        best = dict.fromkeys(ways, 0.0)
        for _ in range(options.rounds):
            for name, speed in ways.items():
                best[name] = max(best[name], found := speed())
                print(f"{name:32}{found:8.1f} tokens a second", flush=True)
    for other, least in _LEAST.items():
        if values := [value for name, value in best.items() if name.startswith(other)]:
            ratio = best["generate"] / max(values)
            reached = "reached" if ratio >= least else "NOT REACHED"
            print(f"generate / {other}: {ratio:.2f}; at least {least}: {reached}")
    return 0


def killed(options: argparse.Namespace) -> int:
    """Kill the command after each group in turn, and at some moment of the next one."""
    chance, files = random.Random(1), []
    with tempfile.TemporaryDirectory() as folder:
        for name, kills in (("whole", 0), ("killed", options.kills)):
            out = Path(folder, name)
            command = [sys.executable, "main.py", "generate", demo_dataset(), "--model", options.model]
            command += ["--out", out, "--max-tokens", str(options.max_tokens), "--at-once", "4"]
            command += ["--temperature", "0.8", "--threads", "1"]
            for number in range(kills):
                child, before = subprocess.Popen(command, stdout=subprocess.DEVNULL), _written_in(out)
                while child.poll() is None and _written_in(out) == before:
                    time.sleep(0.01)
                time.sleep(chance.random() / 4)
                child.kill()
                child.wait()
                print(f"kill {number + 1}: {_written_in(out):,} bytes", flush=True)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            files.append(next(out.glob("*.jsonl")).read_bytes())
    alike = files[0] == files[1]
    print(f"{options.kills} kills: {'the same bytes' if alike else 'OTHER BYTES'}")
    return int(not alike)


def _written_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.jsonl*") if path.suffix != ".lock")


def ours(plan: GenerationPlan, clock: Callable[[], float]) -> float:
    """Tokens a second from when the model is loaded."""
    plan.out.unlink(missing_ok=True)
    begun, steps = 0.0, write_responses(CancelToken(), plan)
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            return float(end.value.tokens / (clock() - begun))
        if isinstance(event, MeasureProgress) and not begun:
            begun = clock()


def loop(
    path: Path,
    prompts: Sequence[CandidatePrompt],
    settings: GenerationSettings,
    threads: int,
    clock: Callable[[], float],
) -> float:
    llama = open_llama(path, _CONTEXT, threads)
    begun, tokens = clock(), 0
    for prompt in prompts:
        answer = llama.create_chat_completion(
            [{"role": "user", "content": prompt.message}], temperature=0.0, max_tokens=settings.max_tokens
        )
        tokens += answer["usage"]["completion_tokens"]  # type: ignore[index]
    seconds = clock() - begun
    llama.close()
    return tokens / seconds


def served(options: argparse.Namespace, slots: int, prompts: Sequence[Sequence[int]], threads: int) -> float:
    shape = ServerShape(slots, _CONTEXT, unified=True)

    def client(slot: int) -> int:
        return sum(
            server.complete(slot, prompt, options.max_tokens, ends=True)["timings"]["predicted_n"]
            for prompt in prompts[slot::slots]
        )

    with (
        Server(options.server, options.model, shape, threads) as server,
        ThreadPoolExecutor(slots) as clients,
    ):
        clock = server.processor_seconds if options.processor_time else time.monotonic
        begun = clock()
        tokens = sum(clients.map(client, range(slots)))
        return tokens / (clock() - begun)


if __name__ == "__main__":
    sys.exit(main())
