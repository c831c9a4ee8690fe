"""What sharing prompts and writing explanations together saves: a table, and ratios within one run.

    python -m tests.bench.sharing MODEL.gguf DATASET [--items N]

Speeds are of this computer at this moment; only the ratios mean something elsewhere.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.items import Order
from engine.core.rubric import ELOQUENT
from engine.core.settings import JudgeSettings, Mode
from engine.data.dataset import load_dataset
from engine.judge.item_judge import ItemJudge, Placed
from engine.llama.context import SessionShape
from engine.llama.model import LlamaModel
from engine.llama.session import LlamaSession
from engine.loading.templates import chat_template
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import build_prompt
from engine.prompt.tokens import tokenize_prompt
from engine.system.computer import default_threads


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model", type=Path)
    arguments.add_argument("dataset", type=Path)
    arguments.add_argument("--items", type=int, default=12)
    arguments.add_argument("--context", type=int, default=8192)
    options = arguments.parse_args()
    dataset = load_dataset(options.dataset).head(options.items)
    placed = list(enumerate(dataset))
    with LlamaModel(options.model) as model:
        separate = read_separately(model, placed, options.context)
        shared = judge(model, placed, JudgeSettings(mode=Mode.LABELS, context=options.context))
        print(f"labels: shared prompts {separate / shared:.2f} times as fast as separate ones")
        alone = None
        for together in (1, 2, 4, 8):
            settings = JudgeSettings(
                context=options.context, max_explanation_tokens=40, items_at_once=together
            )
            seconds = judge(model, placed, settings)
            alone = alone or seconds
            print(f"explain: {together} items at once {alone / seconds:.2f} times as fast as 1")


def judge(model: LlamaModel, placed: Sequence[Placed], settings: JudgeSettings) -> float:
    """Seconds for all items through the engine."""
    shape = SessionShape(settings.context, settings.items_at_once, len(ELOQUENT.criteria))
    with LlamaSession(model, shape, default_threads(), CancelToken()) as session:
        template = chat_template(model.chat_template, session.vocabulary, CancelToken())
        started = time.perf_counter()
        judge = ItemJudge(session, template, ELOQUENT, settings, ExamplePool())
        for start in range(0, len(placed), settings.items_at_once):
            for _ in judge.judge(placed[start : start + settings.items_at_once]):
                pass
        seconds = time.perf_counter() - started
        print(f"  {session.tokens_read / len(placed):,.0f} tokens read per item, {seconds:.1f} s")
    return seconds


def read_separately(model: LlamaModel, placed: Sequence[Placed], context: int) -> float:
    """Seconds for the same labels with five whole prompts in each order."""
    with LlamaSession(model, SessionShape(context, 1, 1), default_threads(), CancelToken()) as session:
        template = chat_template(model.chat_template, session.vocabulary, CancelToken())
        started = time.perf_counter()
        for _, item in placed:
            for order in Order:
                for branch in tokenize_prompt(build_prompt(item, order, ELOQUENT), template).branches:
                    session.read_trunk(0, [])
                    session.score(0, [branch])
                    session.release([0])
        seconds = time.perf_counter() - started
        print(f"  {session.tokens_read / len(placed):,.0f} tokens read per item, {seconds:.1f} s")
    return seconds


if __name__ == "__main__":
    main()
