"""What compiling llama.cpp as `make` does it takes beside plain pip, and whether it computes the same.

    python -m bench.compile [--model FILE.gguf] [--keep FOLDER]

Both wheels are made from the source of the release in requirements.txt, without pip's cache, one after the
other, and measured in processor time. Then each library in turn reads ten items of the demo again and again,
and splits its texts into tokens. For Linux and macOS; pip fetches the source.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from zipfile import ZipFile

from bench.readings import log_probs
from engine.core.events import CancelToken
from engine.data.dataset import load_dataset
from engine.llama.model import Vocabulary
from engine.models.opening import open_template
from engine.system.paths import demo_dataset, demo_model

ROOT = Path(__file__).parent.parent
OURS = f"CMAKE_PROJECT_llama_cpp_INCLUDE={(ROOT / 'packaging' / 'llama_only.cmake').as_posix()}"
ROUNDS = 3
TOKENS = 100_000


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile llama.cpp twice, and compare.")
    parser.add_argument("--model", type=Path, default=demo_model(), help="what reads; else the demo model")
    parser.add_argument("--keep", type=Path, help="a folder for both wheels; those in it are not made again")
    parser.add_argument("--times", type=int, default=10, help="how often ten items are read (%(default)s)")
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)  # what a child does
    options = parser.parse_args()
    if options.read:
        print(json.dumps(read(options.model, options.times)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        kept = options.keep or Path(folder)
        seconds = {how: compile_wheel(kept / how, how) for how in ("ours", "plain")}
        for what, of_all in zip(("processor time", "time"), zip(*seconds.values(), strict=True), strict=True):
            ours, plain = of_all
            print(f"{what:24}{ours:8.0f} s, plain {plain:8.0f} s: {ours / plain:.3f}")
        found: dict[str, list[dict[str, object]]] = {how: [] for how in seconds}
        for _ in range(ROUNDS):  # in turn: the computer is not as fast all the time
            for how, rounds in found.items():
                rounds.append(read_with(kept / how / "llama_cpp" / "lib", options))
    for what in ("reading", "tokenizing"):
        ours, plain = (min(float(str(one[what])) for one in rounds) for rounds in found.values())
        print(f"{what:24}{ours:8.3f} s, plain {plain:8.3f} s: {ours / plain:.3f}")
    same = len({json.dumps(one["log_probs"]) for rounds in found.values() for one in rounds}) == 1
    print("readings                " + ("the same, bit for bit" if same else "DIFFERENT"))
    return int(not same)


def compile_wheel(folder: Path, how: str) -> tuple[float, float]:
    """Make a wheel and unpack it; its processor time and its time, in seconds, kept beside it."""
    figures = folder / "seconds.json"
    if not figures.is_file():
        wanted = next(
            line.split("#")[0].strip()
            for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()
            if line.startswith("llama-cpp-python")
        )
        environment = {name: value for name, value in os.environ.items() if name != "CMAKE_ARGS"}
        environment["SKBUILD_CMAKE_DEFINE"] = OURS if how == "ours" else ""
        command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-cache-dir")
        before = os.times()
        subprocess.run([*command, "--wheel-dir", str(folder), wanted], env=environment, check=True)
        took = [after - start for after, start in zip(os.times(), before, strict=True)]
        figures.write_text(json.dumps([took[2] + took[3], took[4]]), encoding="utf-8")
        with ZipFile(next(folder.glob("*.whl"))) as wheel:
            wheel.extractall(folder)
    processor, whole = json.loads(figures.read_text("utf-8"))
    return processor, whole


def read_with(library: Path, options: argparse.Namespace) -> dict[str, object]:
    """What `read` finds in a process of its own, with the library in a folder."""
    command = [sys.executable, "-m", "bench.compile", "--read"]
    command += ["--model", str(options.model), "--times", str(options.times)]
    environment = {**os.environ, "LLAMA_CPP_LIB_PATH": str(library)}
    done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def read(path: Path, times: int) -> dict[str, object]:
    """Log-probabilities of ten items, and the processor time of reading them and of making TOKENS tokens."""
    found = log_probs(path)  # with all that is done once in a process
    begin = _processor_time()
    for _ in range(times):
        log_probs(path)
    reading = _processor_time() - begin
    text = "\n".join(
        f"{item.instruction}\n{item.output_a}\n{item.output_b}" for item in load_dataset(demo_dataset())
    )
    with open_template(path, CancelToken()) as (model, _template):
        vocabulary = Vocabulary(model)
        begin, tokens = time.process_time(), 0
        while tokens < TOKENS:
            tokens += len(vocabulary.tokenize(text))
        tokenizing = time.process_time() - begin
    return {"log_probs": found, "reading": reading, "tokenizing": tokenizing}


def _processor_time() -> float:
    """Of this process and of those that it started and that have ended: one of them judges."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    sys.exit(main())
