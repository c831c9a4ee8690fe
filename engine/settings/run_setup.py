"""RunSetup: one run as it was asked for, by the window or a command; plain values that can be kept."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from engine.core.codec import plain, record_or
from engine.core.column_map import ColumnMap
from engine.core.errors import SetupError
from engine.core.items import Order
from engine.core.rubric import ELOQUENT, Rubric
from engine.settings.identity import EXAMPLES, EXPLAINED_WITH, StoredRun, checked_name, checked_note
from engine.settings.rows import CPU, DEFAULT_SHOTS, LARGEST, ChosenSettings, ExampleKind, neutral, rows_of
from engine.settings.sampling import ItemSample, StoppingRule, dataset_in_words

Positive = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]


@dataclass(frozen=True)
class RunSetup(ChosenSettings):
    """One run as it was asked for; None leaves the choice to the engine. SetupError for no name or note."""

    dataset_path: Path
    model_path: Path
    items: int | None = None  # the first this many, None for all
    sample: ItemSample | None = None  # in their place
    ids: tuple[str, ...] = ()  # in their place the items with these, in the order of the file
    until: StoppingRule | None = None  # the question that it stops at once it is answered
    both_orders: bool = True
    rubric: Rubric = ELOQUENT
    criteria: tuple[str, ...] = ELOQUENT.names  # those of the rubric that are asked
    examples_path: Path | None = None
    example_columns: ColumnMap | None = None
    shots: int = DEFAULT_SHOTS
    example_choice: ExampleKind = ExampleKind.FIXED
    calibration_path: Path | None = None
    context: int | None = None
    threads: int | None = None
    device: str | None = None
    """In the user's words: the name of a GPU or a part of it, CPU; None for what a trial proposed."""
    gpu_layers: int | None = None  # None for as many as its memory holds
    fresh: bool = False  # a new run, also where one could continue
    resumes: int | None = None  # the number of the run; None for what fits
    columns: ColumnMap | None = None  # of a foreign dataset; None for what is remembered for it
    name: str | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        for name, check in _CHECKED.items():
            if (text := getattr(self, name)) is not None:
                check(text)

    @classmethod
    def going_on_with(cls, run: StoredRun) -> "RunSetup":
        """What resumes a run. SetupError where nothing is left, or it had files known by hashes alone."""
        if run.why_over:
            raise SetupError(
                f"{run.title} cannot be resumed: {run.why_over}.", "Choose one that is not finished."
            )
        files = {EXAMPLES: "labelled examples", EXPLAINED_WITH: "a calibration"}
        if unknown := [words for key, words in files.items() if run.identity.settings.get(key)]:
            raise SetupError(
                f"{run.title} was started with {' and '.join(unknown)}, whose file is not recorded in the"
                " store.",
                "Choose the same settings and that file on the Judge page: its button then reads Resume.",
            )
        return replace(cls.as_in(run), resumes=run.id, until=run.until)

    @classmethod
    def as_in(cls, run: StoredRun) -> "RunSetup":
        """What judges the items of a run as it did; without files of examples, calibrations, and devices."""
        identity = run.identity
        settings = identity.judge_settings
        return cls(
            dataset_path=identity.dataset_path,
            model_path=identity.model_path,
            items=None if identity.items_are else identity.items,
            sample=identity.sample,
            ids=() if identity.sample is not None else identity.chosen,
            both_orders=len(settings.orders) > 1,
            rubric=identity.rubric or ELOQUENT,
            criteria=identity.criteria,
            columns=run.columns,
            context=settings.context,
            **settings.chosen,
        )

    def whole(self, **others: Any) -> "RunSetup":
        """The same of all items in both orders, from the beginning, neutral; `others`: what else is new."""
        nothing = dict.fromkeys(("items", "sample", "until", "calibration_path", "resumes"))
        return replace(self, **{**nothing, **neutral(), "both_orders": True, "fresh": False, **others})

    @property
    def asked(self) -> Rubric:
        """What is asked of each item. SetupError for no criterion, or one that is not the rubric's."""
        return self.rubric.only(self.criteria)

    @property
    def dataset_in_words(self) -> str:
        items = dataset_in_words(self.dataset_path, len(self.ids), self.sample)
        return items if self.until is None else f"{items}, {self.until.in_words}"

    @property
    def asks(self) -> bool:
        return bool(self.criteria and self.methods)

    @property
    def orders(self) -> tuple[Order, ...]:
        return (Order.AB, Order.BA) if self.both_orders else (Order.AB,)

    @property
    def shows_examples(self) -> bool:
        return self.examples_path is not None

    @property
    def may_use_gpu(self) -> bool:
        return self.device != CPU

    def as_json(self) -> dict[str, Any]:
        keys: dict[str, str] = {row.name: row.key for row in rows_of(type(self))}
        own: dict[str, Any] = {
            "rubric": self.rubric.as_json(),
            "columns": self.columns and self.columns.as_json(),
            "example_columns": self.example_columns and self.example_columns.as_json(),
        }
        values = {choice.name: getattr(self, choice.name) for choice in fields(self)} | own
        return {keys.get(name, name): plain(value) for name, value in values.items()}

    @classmethod
    def of_json(cls, values: Mapping[str, Any], default: "RunSetup") -> "RunSetup":
        """Remembered choices. The missing and the damaged are as in `default`, or left to the engine."""

        def kept(name: str, kind: Any, otherwise: object = None) -> Any:
            return record_or(values.get(name), kind, otherwise)

        rubric, rows = default.rubric, rows_of(cls)
        # Of one that is damaged nothing, for a part of it would be another run.
        with suppress(TypeError, ValueError, SetupError):
            rubric = Rubric.of_json(values.get("rubric"))
        named = kept("criteria", list[Any], [])
        return cls(
            dataset_path=kept("dataset_path", Path, default.dataset_path),
            model_path=kept("model_path", Path, default.model_path),
            items=kept("items", Positive),
            sample=kept("sample", ItemSample),
            # Of a list that is damaged none, for the others alone would be another run.
            ids=kept("ids", tuple[str, ...], ()),
            until=kept("until", StoppingRule),
            both_orders=kept("both_orders", bool, default.both_orders),
            rubric=rubric,
            criteria=tuple(name for name in rubric.names if name in named) or rubric.names,
            examples_path=kept("examples_path", Path),
            example_columns=ColumnMap.of_json(values.get("example_columns")),
            calibration_path=kept("calibration_path", Path),
            fresh=kept("fresh", bool, default.fresh),
            resumes=kept("resumes", Positive),
            columns=ColumnMap.of_json(values.get("columns")),
            device=_text(values, "device"),
            name=_text(values, "name"),
            note=_text(values, "note"),
            **{row.name: row.remembered(values.get(row.key), getattr(default, row.name)) for row in rows},
        )


def checked_device(words: str) -> str:
    if not words.strip():
        raise SetupError("The device has no name.", f"Name it, or use {CPU}.")
    return words


_CHECKED: Mapping[str, Callable[[str], str]] = {
    "device": checked_device,
    "name": checked_name,
    "note": checked_note,
}


def _text(values: Mapping[str, Any], name: str) -> str | None:
    text = values.get(name)
    with suppress(SetupError):
        return _CHECKED[name](text) if isinstance(text, str) else None
    return None
