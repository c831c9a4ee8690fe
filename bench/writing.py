"""What writing explanations takes of a run, what more texts at once give, and what drafts would.

    python -m bench.writing MODEL [DATASET] [--items N]

The items are judged in one process, by one thread, again and again; printed are seconds of a processor.

share: of a run with explanations, what one with labels alone does not take.
items at once: the same run, with the explanations of so many items written together.
drafts: the same run, where each step of a text also reads the tokens that followed its last tokens when they
stood in the item or in the explanation before. Of these all stay that the model would have written anyway: so
greedy texts stay as they are, but for rounding, as a step of another size adds up in another order. Counted
are the texts that differ.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.core.events import CancelToken, followed
from engine.judging.plan import RunPlan, session_shape
from engine.judging.prepare import prepare_run
from engine.judging.run import make_item_judge, missing_groups
from engine.llama.model import LlamaModel
from engine.llama.session import Continuation, Generated, LlamaSession, Sampling, Steps, Writer, _Feed
from engine.models.opening import OpenModel
from engine.models.templates import template_of
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_dataset

_SLOTS = 36
_AT_ONCE = (1, 2, 3, 4)
_DRAFTS = ((3, 2), (3, 4), (2, 4), (2, 8))  # last tokens that are looked for, tokens that are drafted


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.writing", description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("dataset", type=Path, nargs="?", default=demo_dataset())
    parser.add_argument("--items", type=int, default=24)
    asked = parser.parse_args()
    setup = RunSetup(asked.dataset, asked.model, items=asked.items, threads=1, mode=Mode.EXPLAIN)
    plan = followed(prepare_run(setup, CancelToken()), lambda _event: None).plan
    labels = _judged(replace(plan, settings=replace(plan.settings, mode=Mode.LABELS)))
    runs = {at_once: _judged(_together(plan, at_once)) for at_once in _AT_ONCE}
    usual = runs[plan.settings.items_at_once]
    share = 1 - labels.seconds / usual.seconds
    print(f"{asked.items} items: labels {labels.seconds:.1f} s, with explanations {usual.seconds:.1f} s")
    print(f"share that writing takes: {share:.2f}, {usual.tokens / usual.texts:.0f} tokens a text")
    print(f"compared with {plan.settings.items_at_once} items at once:")
    for at_once, run in runs.items():
        print(f"items at once {at_once}: {usual.seconds / run.seconds:.2f} times as fast")
    for look_for, drafted in _DRAFTS:
        run = _judged(plan, look_for, drafted)
        writing = (usual.seconds - labels.seconds) / (run.seconds - labels.seconds)
        differ = sum(usual.written[of] != text for of, text in run.written.items())
        print(
            f"drafts of {drafted} after {look_for}: {writing:.2f} times as fast in writing,"
            f" {usual.seconds / run.seconds:.2f} in all; {run.steps / usual.steps:.2f} of the steps;"
            f" {differ} of {run.texts} texts differ"
        )


@dataclass(frozen=True)
class _Judged:
    seconds: float
    written: dict[tuple[str, str], str]  # by item and criterion
    tokens: int
    steps: int

    @property
    def texts(self) -> int:
        return len(self.written)


class DraftingSession(LlamaSession):
    """Counts the steps of writing; with `drafted` also reads so many tokens ahead in each."""

    look_for = drafted = steps = 0

    def writing(self, continuations: Sequence[Continuation], sampling: Sampling) -> Steps[list[Generated]]:
        writers = [Writer(each, sampling, self.vocabulary) for each in continuations]
        feeds = []
        for each in continuations:
            start = self._go_on(self._trunk(each.slot), self._branch_of(each), each.prompt[:-1])
            feeds.append(_Feed(self._branch_of(each), each.prompt[start:]))
        logits = yield from self._read(feeds)
        for writer, rows in zip(writers, logits, strict=True):
            writer.write(rows[-1])
        while active := [writer for writer in writers if not writer.done]:
            yield writers
            self.steps += 1
            drafts = [self._draft(writer, sampling.max_tokens - len(writer.tokens)) for writer in active]
            feeds = [
                _Feed(self._branch_of(writer.continuation), [writer.tokens[-1], *draft], 1 + len(draft))
                for writer, draft in zip(active, drafts, strict=True)
            ]
            logits = yield from self._read(feeds, written=True)
            for writer, draft, rows in zip(active, drafts, logits, strict=True):
                for place, row in enumerate(rows):
                    writer.write(row)
                    if writer.done or draft[place : place + 1] != writer.tokens[-1:]:
                        break
                text = [*writer.continuation.prompt, *writer.tokens[:-1]]
                self._cut_back(self._branch_of(writer.continuation), text)
        self.tokens_generated += sum(len(writer.tokens) for writer in writers)
        return [Generated(writer.text, writer.cut) for writer in writers]

    def _draft(self, writer: Writer, left: int) -> list[int]:
        """What followed the last tokens where they stood before, at their latest place."""
        text = [*writer.continuation.prompt, *writer.tokens]
        last, most = text[-self.look_for :], min(self.drafted, left - 1)
        for start in range(len(text) - self.look_for - 1, -1, -1) if most else ():
            if text[start : start + self.look_for] == last:
                return text[start + self.look_for :][:most]
        return []


def _together(plan: RunPlan, at_once: int) -> RunPlan:
    settings = replace(plan.settings, items_at_once=at_once)
    return replace(plan, settings=replace(settings, context=max(settings.context, 1024 * at_once)))


def _judged(plan: RunPlan, look_for: int = 0, drafted: int = 0) -> _Judged:
    cancel, written = CancelToken(), {}
    with LlamaModel(plan.model.path, None, 0, cancel=cancel) as model:
        shape = session_shape(plan.settings, len(plan.rubric.criteria), plan.model, model)
        if drafted:  # a session has room for the scores of as many tokens as it has sequences
            shape = replace(shape, slots=_SLOTS)
        with DraftingSession(model, shape, 1, cancel) as session:
            session.look_for, session.drafted = look_for, drafted
            template = template_of(model, session.vocabulary, cancel)
            judge, began = make_item_judge(plan, OpenModel(session, template)), time.process_time()
            for group in missing_groups(plan, set()):
                placed = [(position, plan.dataset[position]) for position in group]
                for item in followed(judge.judge(placed), lambda _event: None):
                    for criterion, text in item.explanations.items():
                        written[item.item_id, criterion] = text.text
            return _Judged(time.process_time() - began, written, session.tokens_generated, session.steps)


if __name__ == "__main__":
    main()
