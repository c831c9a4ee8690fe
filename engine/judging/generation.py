"""Responses that a candidate model writes to prompts: some at once, kept group by group, so that what was
stopped or killed is resumed. A group is written as it would be without a stop: the last digits of a
model's numbers depend on what is computed together, so the same groups give the same bytes.
"""

import json
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from engine.core.codec import plain, plain_values
from engine.core.errors import Hint, SetupError
from engine.core.events import Cancelled, CancelToken, MeasureProgress, TokensEvaluated
from engine.core.formatting import counted, listed
from engine.core.items import digest
from engine.data.outputs import CandidatePrompt
from engine.judging.item_reader import seed_of
from engine.llama.context import SessionShape
from engine.llama.library import library_version
from engine.llama.model import LONE_TOKEN_CELLS, LlamaModel, Vocabulary, common_prefix
from engine.llama.session import Continuation, Generated, LlamaSession, Sampling
from engine.models.checked_model import CheckedModel
from engine.models.opening import open_session, open_template
from engine.models.templates import template_of
from engine.prompt.conversation import Conversation, own
from engine.prompt.template import ChatTemplate
from engine.settings.rows import MachineSettings
from engine.system.files import Claim, append, write_whole

_FORMAT = 1
_MOST_CELLS = 16_384  # tokens of context of a group, where it holds more than one prompt
_LOOP, _LONGEST_LOOP = 6, 200  # what a text repeats to its end so often at least; of at most so many letters
_MARKS = re.compile(r"<\|[^|<>\s]{1,40}\|>|</?s>|<(?:start|end)_of_turn>|\[/?INST\]|<\|?(?:eot|eom)_id\|?>")
"""Control tokens of chat formats, as a model writes them letter by letter."""


@dataclass(frozen=True)
class GenerationSettings:
    """How responses are written. SetupError for a value out of its range."""

    max_tokens: int = 512
    """The most tokens of a response, with its reasoning; 1 or more."""
    temperature: float = 0.0
    """0 takes the likeliest token each time; at most 10."""
    top_p: float = 1.0
    """Of sampled tokens: the likeliest that have this much probability together, above 0 and at most 1."""
    seed: int = 1
    reasons: bool = True
    """Models whose chat template has a place for reasoning reason first; it is cut out and kept aside."""
    at_once: int = 16
    """The most responses written together, 1 to 64; each takes context. Part of what makes the bytes."""

    def __post_init__(self) -> None:
        for name, least, most in (("max_tokens", 1, 1 << 17), ("temperature", 0, 10), ("at_once", 1, 64)):
            if not least <= getattr(self, name) <= most:
                shown = name.replace("_", " ")
                raise SetupError(f"{shown} is {getattr(self, name)}.", f"Use {least:,} to {most:,}.")
        if not 0 < self.top_p <= 1:
            raise SetupError(f"top p is {self.top_p}.", "Use more than 0 and at most 1.")

    @property
    def in_words(self) -> str:
        how = "greedy"
        if self.temperature:
            how = f"temperature {self.temperature:g}, top p {self.top_p:g}, seed {self.seed}"
        return f"{how}, at most {self.max_tokens:,} tokens{'' if self.reasons else ', without reasoning'}"


@dataclass(frozen=True)
class GenerationPlan:
    """What one model is to write. `out`: its responses, as JSON Lines, once they are complete."""

    model: CheckedModel
    prompts: tuple[CandidatePrompt, ...]
    settings: GenerationSettings
    machine: MachineSettings
    out: Path

    @property
    def part(self) -> Path:
        """What is written so far; removed once the whole is there."""
        return self.out.with_name(f"{self.out.name}.part")

    @cached_property
    def provenance(self) -> Mapping[str, Any]:
        """What a response depends on beside its prompt; stands with each."""
        settings = {name: value for name, value in plain(self.settings).items() if name != "seed"}
        sampled = {"seed": self.settings.seed} if self.settings.temperature else {}
        return {
            "model_sha256": self.model.hash,
            "llama_cpp": library_version(),
            **settings,
            **sampled,
        }

    @cached_property
    def identity(self) -> str:
        """What tells whether a file is resumed by this: of other prompts, settings or models it does not."""
        return digest([_FORMAT, self.model.name, self.provenance, [list(prompt) for prompt in self.prompts]])


class ReadPrompt(NamedTuple):
    id: str
    tokens: tuple[int, ...]


class RawResponse(NamedTuple):
    """A response as a model wrote it, with its reasoning. `seconds`: its share of those of its group."""

    text: str
    tokens: int
    cut: bool
    seconds: float


@dataclass(frozen=True)
class SizedPrompts:
    """The prompts as a model reads them; `groups`: the places of those that are written together."""

    asked: tuple[ReadPrompt, ...]
    groups: tuple[range, ...]
    context: int
    closing: str  # what ends the reasoning of a response; empty where there is none
    note: str  # of the chat template; empty where there is nothing to be known

    @property
    def shape(self) -> SessionShape:
        return SessionShape(self.context, slots=1, branches=max(map(len, self.groups)))

    def to_read(self, groups: Sequence[range]) -> int:
        return sum(len(self.asked[place].tokens) for group in groups for place in group)


@dataclass(frozen=True)
class Responses:
    """What a model wrote. The ids of prompts whose responses: `cut` did not end by themselves; `looping`
    repeat something to their end; `marked` hold control tokens of a chat format; `empty` say nothing.
    """

    candidate: str
    path: Path
    count: int
    tokens: int
    cut: tuple[str, ...] = ()
    looping: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()

    @property
    def warnings(self) -> list[str]:
        said = {
            "did not end within the tokens that they may have": self.cut,
            "repeated something to the end": self.looping,
            "held control tokens of a chat format": self.marked,
            "said nothing": self.empty,
        }
        of = counted(self.count, "response", "responses")
        return [
            f"{self.candidate}: {len(ids):,} of {of} {what} ({listed(ids)})."
            for what, ids in said.items()
            if ids
        ]


def sized(plan: GenerationPlan, model: LlamaModel, cancel: CancelToken) -> SizedPrompts:
    """Prompts in the model's own chat format, with a system message where they have one. SetupError for those
    that leave no room for a response in the context that the model was trained with.
    """
    vocabulary, asked = Vocabulary(model), {bool(prompt.system.strip()) for prompt in plan.prompts}
    templates = {system: template_of(model, vocabulary, cancel, with_system=system) for system in asked}
    ids = [prompt.id for prompt in plan.prompts]
    tokens = tuple(
        tuple(_format(templates[bool(prompt.system.strip())], plan.settings).tokenize(_asked(prompt)))
        for prompt in plan.prompts
    )
    most = model.trained_context - plan.settings.max_tokens
    long = [name for name, read in zip(ids, tokens, strict=True) if len(read) > most]
    if long:
        raise SetupError(
            f"{plan.model.name} was trained with {model.trained_context:,} tokens of context. That is too few"
            f" for {plan.settings.max_tokens:,} more after the prompts {listed(long)}.",
            Hint("Use a smaller number of tokens, another model, or leave these prompts out."),
        )
    groups = tuple(_groups(tokens, plan.settings))
    context = max(_cells([tokens[place] for place in group], plan.settings) for group in groups)
    note = " ".join(dict.fromkeys(each.frame.note for each in templates.values() if each.frame.is_plain))
    thinking = template_of(model, vocabulary, cancel).thinking if plan.settings.reasons else None
    closing = thinking.frame.pieces[-2].strip() if thinking else ""
    asked_for = tuple(ReadPrompt(*each) for each in zip(ids, tokens, strict=True))
    return SizedPrompts(asked_for, groups, -(-context // 256) * 256, closing, note)


def size_by_vocabulary(plan: GenerationPlan, cancel: CancelToken) -> SizedPrompts:
    """The same without the weights. ModelFileError, NoRoomError, SetupError, Cancelled."""
    with open_template(plan.model.path, cancel) as (model, _template):
        return sized(plan, model, cancel)


def _format(template: ChatTemplate, settings: GenerationSettings) -> ChatTemplate:
    return template.thinking if settings.reasons and template.thinking else template


def _asked(prompt: CandidatePrompt) -> Conversation:
    system = (own(prompt.system),) if prompt.system.strip() else ()
    return Conversation(system, (own(prompt.message),), reply="")


def _groups(tokens: Sequence[Sequence[int]], settings: GenerationSettings) -> Iterator[range]:
    begin = 0
    for end in range(1, len(tokens) + 1):
        full = end - begin == settings.at_once or end == len(tokens)
        if full or _cells(tokens[begin : end + 1], settings) > _MOST_CELLS:
            yield range(begin, end)
            begin = end


def _cells(tokens: Sequence[Sequence[int]], settings: GenerationSettings) -> int:
    """The context that prompts and their responses take together."""
    shared = common_prefix(tokens)
    return LONE_TOKEN_CELLS + shared + sum(len(ids) - shared + settings.max_tokens for ids in tokens)


def write_responses(
    cancel: CancelToken, plan: GenerationPlan, write: "WriteGroups | None" = None
) -> Generator[Any, None, Responses]:
    """Have what is left of a plan written, here or by `write`, and put in order: a work for a process of its
    own. SetupError where another process writes the same file, where one that was begun otherwise is there,
    and where nothing can be written; ModelFileError, DeviceFailed; Cancelled: what is complete is kept.
    """
    try:
        claim = Claim(plan.part)
    except TimeoutError as error:
        problem = f"{plan.out.name} is being written by another window or command."
        raise SetupError(problem, "Wait for its end, or name another folder.") from error
    try:
        file = ResponseFile(plan)
        if len(file.lines) < len(plan.prompts):
            yield from (write or _written)(cancel, plan, file)
        lines = file.in_order
        write_whole(plan.out, b"".join(lines))
        claim.remove()
    finally:
        claim.close()
    return responses_in(plan, lines)


def _written(
    cancel: CancelToken, plan: GenerationPlan, file: "ResponseFile"
) -> Generator[MeasureProgress | TokensEvaluated, None, None]:
    sizes: list[SizedPrompts] = []

    def shape(model: LlamaModel) -> SessionShape:
        sizes.append(sized(plan, model, cancel))
        return sizes[0].shape

    with open_session(plan.model, plan.machine, shape, cancel) as opened:
        missing = file.missing(sizes[0].groups)
        yield file.progress
        for group in missing:
            if cancel.ending:
                raise Cancelled
            asked = sizes[0].asked[group.start : group.stop]
            file.add(group, (yield from write_group(opened.session, plan.settings, asked)), sizes[0].closing)
            yield file.progress


def write_group(
    session: LlamaSession, settings: GenerationSettings, asked: Sequence[ReadPrompt]
) -> Generator[TokensEvaluated, None, list[RawResponse]]:
    """The response to each prompt of a group."""
    tokens, lengths, begun = [prompt.tokens for prompt in asked], [0] * len(asked), time.monotonic()
    session.release([0])  # nothing is left of the group before: as if this one were the first
    session.read_trunk(0, tokens[0][: min(common_prefix(tokens), len(tokens[0]) - 1)])
    continuations = [
        Continuation(0, branch, prompt.tokens, seed_of(settings.seed, prompt.id))
        for branch, prompt in enumerate(asked)
    ]
    # Else a model that reasons between control tokens would seem to begin its response there, and one that
    # goes on with another turn would not show it.
    control = {token.id: token.text.encode() for token in session.vocabulary.special_tokens if token.control}
    sampling = Sampling(
        settings.max_tokens,
        settings.temperature,
        lines=False,
        top_p=settings.top_p,
        shown=control,
        may_be_empty=True,
    )
    steps = session.writing(continuations, sampling)
    while True:
        try:
            writers = next(steps)
        except StopIteration as ended:
            seconds = (time.monotonic() - begun) / len(asked)
            found = zip(ended.value, lengths, strict=True)
            return [RawResponse(_text(each), length, each.cut, seconds) for each, length in found]
        if writers:
            lengths = [len(writer.tokens) for writer in writers]
            yield TokensEvaluated(sum(not writer.done for writer in writers))


def _text(written: Generated) -> str:
    return written.data.decode("utf-8", "ignore" if written.cut else "replace")


def _row(plan: GenerationPlan, prompt: CandidatePrompt, written: RawResponse, closing: str) -> dict[str, Any]:
    text = written.text
    reasoning, closed, output = text.partition(closing) if closing else ("", "", text)
    if closing and not closed:  # it never came to an answer, or began with one
        reasoning, output = (text, "") if written.cut else ("", text)
    prompted = {name: value for name, value in prompt._asdict().items() if value}
    return {
        **prompted,
        "output": output.strip(),
        "generator": plan.model.name,
        **({"reasoning": reasoning.strip()} if reasoning.strip() else {}),
        "tokens": written.tokens,
        "cut": written.cut,
        "generated_with": plan.provenance,
    }


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"


class ResponseFile:
    """What is written of a plan so far: groups, each in one piece, in the order in which they came."""

    def __init__(self, plan: GenerationPlan) -> None:
        """SetupError where the part of another plan is there."""
        self._plan = plan
        self.lines: list[bytes] = []
        try:
            self._head, *lines = plan.part.read_bytes().splitlines(keepends=True)
        except (FileNotFoundError, ValueError):  # nothing, or an empty file
            self._head = b""
            return
        known: object = None
        with suppress(ValueError):
            known = plain_values(self._head)
        if not isinstance(known, dict) or known.get("of") != plan.identity:
            raise SetupError(
                f"{plan.part.name} was begun with other prompts, settings, or another model or llama.cpp.",
                "Use these again to resume it; or name another folder, or delete it.",
            )
        # A line without its end was not written whole.
        self.lines = [line for line in lines if line.endswith(b"\n")]

    @property
    def progress(self) -> MeasureProgress:
        return MeasureProgress(len(self.lines), len(self._plan.prompts))

    @property
    def in_order(self) -> list[bytes]:
        """The lines in the order of the prompts."""
        places = {prompt.id: place for place, prompt in enumerate(self._plan.prompts)}
        return sorted(self.lines, key=lambda line: places[json.loads(line)["id"]])

    def missing(self, groups: Sequence[range]) -> list[range]:
        """The groups that are not there; one that is there in part, at the end, is forgotten."""
        begins = {self._plan.prompts[group.start].id: group for group in groups}
        found, done = set[range](), 0
        while done < len(self.lines):
            group = begins.get(json.loads(self.lines[done])["id"])
            if group is None or done + len(group) > len(self.lines):
                break
            found.add(group)
            done += len(group)
        del self.lines[done:]
        return [group for group in groups if group not in found]

    def add(self, group: range, written: Sequence[RawResponse], closing: str) -> None:
        plan, kept = self._plan, [self._head, *self.lines] if self._head else []
        self._head = self._head or _line({"tiebreak_responses": _FORMAT, "of": plan.identity})
        pairs = zip(plan.prompts[group.start : group.stop], written, strict=True)
        lines = [_line(_row(plan, prompt, each, closing)) for prompt, each in pairs]
        new = lines if kept else [self._head, *lines]
        append(plan.part, b"".join(new), sum(map(len, kept)))
        self.lines += lines


WriteGroups = Callable[[CancelToken, GenerationPlan, ResponseFile], Generator[Any, None, None]]
"""Has the groups written that a file lacks; reports at the least how many of the responses are there."""


def finished(plan: GenerationPlan) -> Responses | None:
    """What is there of a plan that was written whole; None where no file is. SetupError for another file."""
    try:
        lines = plan.out.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return None
    with suppress(ValueError, KeyError, TypeError):
        rows = [json.loads(line) for line in lines]
        if [row["id"] for row in rows] == [prompt.id for prompt in plan.prompts] and all(
            row["generated_with"] == plan.provenance
            and all(row.get(name, "") == text for name, text in prompt._asdict().items())
            for row, prompt in zip(rows, plan.prompts, strict=True)
        ):
            return responses_in(plan, lines)
    raise SetupError(
        f"{plan.out.name} is there already, of other prompts, settings, or another model.",
        "Name another folder, or delete it.",
    )


def responses_in(plan: GenerationPlan, lines: Sequence[bytes]) -> Responses:
    """What is to be said of the rows of responses."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def those(holds: Any) -> tuple[str, ...]:
        return tuple(row["id"] for row in rows if holds(row))

    return Responses(
        plan.model.name,
        plan.out,
        len(rows),
        sum(row["tokens"] for row in rows),
        cut=those(lambda row: row["cut"]),
        looping=those(lambda row: _loops(row["output"])),
        marked=those(lambda row: _MARKS.search(row["output"])),
        empty=those(lambda row: not row["output"]),
    )


def _loops(text: str) -> bool:
    lengths = range(2, min(_LONGEST_LOOP, len(text) // _LOOP) + 1)
    return any(text.endswith(text[-length:] * _LOOP) for length in lengths)
