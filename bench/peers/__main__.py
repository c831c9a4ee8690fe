"""This program against its peers: the same prompts, token by token, the same judgments, on this processor.

    python -m bench.peers MODEL.gguf DATASET [--server llama-server]

Ways: this program; `Llama` of llama-cpp-python, one completion for each criterion and order, with nothing
kept between prompts and with what it keeps by itself; llama-server with one slot and its prompt cache, and
with as many requests at once as there are criteria, or texts in a batch of ours. llama-server's best is the
fastest of these in each round. A round is a group of items; the ways judge it in turn, each round in another
order. The labels' probabilities of all ways are compared with each other.

Explanations: this program writes as it does; what it wrote is counted, and the others write as many tokens
for each text, whatever they are.

"llama.cpp's own speed" is a plain loop of llama_decode over the same prompts, each by itself in batches of
512 after the beginning that all share (a run reads it once), and over the same texts, as many in a batch as
this program has.

All compute with the same libraries, those of llama-cpp-python (the server takes them at its start, where it
was built from the same sources), as many threads, and weights in the same layout: where this program leaves
the special layouts off (`engine.llama.library.special_layouts_work`), llama-server gets --no-repack, and
`Llama` finds another default while it loads. bench/README.md says how llama-server is built.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench.peers import asked as peers
from bench.peers.asked import AskedItem, NotComparableError
from bench.peers.bare import Bare
from bench.peers.server import Served, Server, ServerShape
from bench.peers.ways import Method, ObservedTask, Ours, Python, open_llama
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.judging.item_judge import Placed
from engine.llama.model import LlamaModel, common_prefix
from engine.llama.session import LlamaSession
from engine.settings.rows import ITEMS_AT_ONCE, JudgeSettings, Mode
from engine.system.computer import default_threads

BARS = {Mode.LABELS: (1.3, 4.0), Mode.EXPLAIN: (1.25, 2.5)}
SHARE = 0.93
_ROOM = 128  # tokens of context beside a prompt and its text


def main() -> int:
    options = _options()
    try:
        for path in (options.model, options.server):
            if path is not None and not path.is_file():
                raise NotComparableError(f"There is no file {path}.")
        placed = list(enumerate(load_dataset(options.dataset).head(options.items)))
        if len(placed) < 2 * options.items_at_once:
            raise NotComparableError(
                f"{len(placed)} items are too few: give --items {2 * options.items_at_once} or more."
            )
        with LlamaModel(options.model) as model:
            for mode in [options.mode] if options.mode else list(Mode):
                _compare(options, model, placed, mode)
    except (NotComparableError, SetupError) as error:
        print(f"{error}", file=sys.stderr)
        return 2
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--server", type=Path, metavar="PROGRAM", help="llama-server, of the same sources")
    parser.add_argument("--items", type=_positive, default=8, metavar="N", help="default %(default)s")
    parser.add_argument(
        "--rounds", type=_positive, default=1, metavar="N", help="through all items; default 1"
    )
    parser.add_argument("--items-at-once", type=_positive, default=ITEMS_AT_ONCE, metavar="N")
    parser.add_argument("--context", type=_positive, default=8192, metavar="TOKENS")
    parser.add_argument("--threads", type=_positive, default=default_threads(), metavar="N")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="compare processor time, with one thread: where others use the computer",
    )
    parser.add_argument("--mode", type=Mode, choices=list(Mode), help="this one alone")
    parser.add_argument("--fast", action="store_true", help="without the ways that read every prompt whole")
    options = parser.parse_args()
    if options.processor_time:
        options.threads = 1
    return options


@dataclass(frozen=True)
class Round:
    """What each way did with the same items. `share`: of llama.cpp's own speed that this program had."""

    items: int
    work: Mapping[str, ObservedTask]
    share: float


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("1 or more")
    return value


def _compare(options: argparse.Namespace, model: LlamaModel, placed: Sequence[Placed], mode: Mode) -> None:
    settings = JudgeSettings(mode=mode, context=options.context, items_at_once=options.items_at_once)
    if mode is Mode.LABELS:
        settings = replace(settings, items_at_once=1)
    asked = peers.asked_of(model, placed, settings, options.threads)
    clock = time.process_time if options.processor_time else time.perf_counter
    texts = settings.items_at_once * len(ELOQUENT.criteria)
    with ExitStack() as servers, ExitStack() as stack:
        signal.signal(signal.SIGTERM, lambda *_: _ended(servers))
        shape = peers.session_shape(settings)
        session = LlamaSession(model, shape, options.threads, CancelToken())
        ours = Ours(model, stack.enter_context(session), placed, settings, clock)
        llama = open_llama(options.model, options.context, options.threads)
        stack.callback(llama.close)
        kept, separate = Python(llama, asked, True, clock), Python(llama, asked, False, clock)
        bare = stack.enter_context(Bare(model, shape, options.threads, clock))
        served = _served(options, asked, texts, servers)
        methods: list[Method] = [ours, kept, *served, *([] if options.fast else [separate])]
        rounds = _rounds(options, asked, methods, bare)
    more = "" if mode is Mode.LABELS else f" and explanations, {settings.items_at_once} items at once"
    print(f"\nlabels{more}: {len(placed)} items, {len(rounds)} rounds, {options.threads} threads")
    _print_table(ours.name, rounds)
    if served:
        _print_bar("llama-server's best", ours.name, [each.name for each in served], rounds, BARS[mode][0])
    if not options.fast:
        _print_bar("separate prompts", ours.name, [separate.name], rounds, BARS[mode][1])
    _print_reached("share of llama.cpp's own speed", [each.share for each in rounds], SHARE)
    for method in methods[1:]:
        rows = [(each.work[ours.name].log_probs, each.work[method.name].log_probs) for each in rounds]
        apart = max(peers.largest_difference(*both) for both in rows)
        print(f"  probabilities of the labels, {method.name}: {apart:.3f} apart at most")


def _ended(servers: ExitStack) -> None:
    servers.close()
    os._exit(143)  # at once: what computes in this process asks nobody


def _served(
    options: argparse.Namespace, asked: Sequence[AskedItem], texts: int, servers: ExitStack
) -> list[Served]:
    if options.server is None:
        return []
    longest = max(len(each.prompt) for item in asked for each in item.questions)
    longest += _ROOM + max((text.tokens for item in asked for text in item.texts), default=0)
    context = -(-longest // 256) * 256
    criteria = len(ELOQUENT.criteria)
    shapes = [ServerShape(1, context), ServerShape(criteria, context, unified=True)]
    if texts > criteria and asked[0].texts:
        shapes.append(ServerShape(texts, context, unified=True))
    shapes = [shape for shape in shapes if not options.fast or shape.slots == 1]
    served = []
    for shape in shapes:
        server = servers.enter_context(Server(options.server, options.model, shape, options.threads))
        clock = server.processor_seconds if options.processor_time else time.perf_counter
        served.append(Served(server, shape, asked, clock))
    print("llama-server computes with", ", ".join(server.libraries) or "what it was built with", flush=True)
    return served


def _rounds(
    options: argparse.Namespace, asked: Sequence[AskedItem], methods: Sequence[Method], bare: Bare
) -> list[Round]:
    for method in methods:  # not counted: weights come from the disk, memory is touched for the first time
        method.judge([len(asked) - 1])
    rounds = []
    together = peers.groups(range(len(asked)), options.items_at_once)
    held = common_prefix([order[0].prompt for item in asked for order in item.orders])
    for number, group in enumerate(together * options.rounds):
        first = number % len(methods)
        work = {method.name: method.judge(group) for method in [*methods[first:], *methods[:first]]}
        own = bare.speed([asked[item] for item in group], held)
        ours = work[methods[0].name]
        share = own.seconds_for(ours.read, ours.written) / ours.seconds
        rounds.append(Round(len(group), {method.name: work[method.name] for method in methods}, share))
        seconds = ", ".join(f"{method.name} {work[method.name].seconds:.1f}" for method in methods)
        print(f"round {number + 1}: {seconds}, share {share:.3f}", file=sys.stderr, flush=True)
    return rounds


def _print_table(ours: str, rounds: Sequence[Round]) -> None:
    """A row for each way; `ours`: the way that the others are compared with."""
    items = sum(each.items for each in rounds)
    print(f"{'way':42}{'s an item':>10}{'read':>8}{'written':>9}   ours is as many times as fast")
    for method in rounds[0].work:
        work = [each.work[method] for each in rounds]
        times = [each.work[method].seconds / each.work[ours].seconds for each in rounds]
        print(
            f"{method:42}{sum(each.seconds for each in work) / items:10.2f}"
            f"{sum(each.read for each in work) / items:8,.0f}"
            f"{sum(each.written for each in work) / items:9,.0f}"
            f"   {'' if method == ours else _spread(times)}".rstrip()
        )


def _print_bar(title: str, ours: str, others: Sequence[str], rounds: Sequence[Round], least: float) -> None:
    """How many times as fast as the best of some ways, each in its round, this program is."""
    best = [min(each.work[other].seconds for other in others) / each.work[ours].seconds for each in rounds]
    _print_reached(title, best, least)


def _print_reached(title: str, values: Sequence[float], least: float) -> None:
    verdict = "reached" if median(values) >= least else "NOT REACHED"
    print(f"{title}: {_spread(values)}; at least {least:.2f}: {verdict}")


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    sys.exit(main())
