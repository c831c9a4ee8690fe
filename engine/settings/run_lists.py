"""The list of runs as a table, a run in a few lines, and what goes with runs that are deleted: for users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.core.formatting import amount, counted, listed, short_name, words
from engine.core.health import Health, HealthVerdict
from engine.core.tables import Column, Kind, PartOf, Row, Table
from engine.settings.identity import AnyRun, DamagedRun, StoredRun

TOOLS = ("dpo", "inspect", "alpaca-eval")
"""For what a run can be exported: `engine/operations/export.py`."""

_COLUMNS = (
    Column("run", "run", Kind.COUNT, "The number of the run"),
    Column("name", "name", Kind.TEXT, "Its name"),
    Column("items", "items", Kind.PART, "Judged items, of all items of the run"),
    Column(
        "mode", "mode", Kind.TEXT, "Labels only or with explanations, and the number of elicitation methods"
    ),
    Column("dataset", "dataset", Kind.TEXT, "The dataset"),
    Column("model", "model", Kind.TEXT, "The judge model"),
    Column("made", "made", Kind.TEXT, "Start time"),
    Column("health", "health", Kind.TEXT, "Whether the model judged at all, from its answers"),
    Column("archived", "archived", Kind.TEXT, "When the run was archived"),
)
_HEALTH = {
    HealthVerdict.JUDGES: "judges",
    HealthVerdict.LOOK: "look closely",
    HealthVerdict.DOES_NOT_JUDGE: "does not judge",
    HealthVerdict.TOO_FEW: "too few items",
}


def run_list(runs: Sequence[AnyRun], health: Mapping[int, Health] | None = None) -> Table:
    """A row for each run; `health`: what is known of it, by the number of the run, None for not looked at."""
    return Table(_COLUMNS, [_row(run, health) for run in runs])


def _row(run: AnyRun, health: Mapping[int, Health] | None) -> Row:
    if isinstance(run, DamagedRun):
        return [run.id, "", PartOf(run.judged, None), "damaged", *[""] * 5]
    identity = run.identity
    methods = len(identity.methods)
    mode = f"{identity.mode or ''}{f', {methods} methods' if methods > 1 else ''}"
    return [
        run.id,
        run.name,
        PartOf(run.judged, None if run.by_hand else identity.items),
        mode if run.by_a_model or run.by_hand else f"{run.kind_word}, {mode}".rstrip(", "),
        f"{identity.dataset_in_words}{run.sample_in_short}",
        short_name(identity.model_name),
        _moment(run.created),
        "" if health is None else "-" if not run.by_a_model else _health_in_words(health.get(run.id)),
        f"{run.archived.when.astimezone():%Y-%m-%d}" if run.archived else "",
    ]


def _health_in_words(health: Health | None) -> str:
    if health is None:
        return "…"
    few_but_bad = health.verdict is HealthVerdict.TOO_FEW and health.doubted
    return "few items, look closely" if few_but_bad else _HEALTH[health.verdict]


def run_in_lines(run: StoredRun, health: Health | None = None) -> str:
    """All that tells a run from others, with long names whole: title, files, what was asked and how, note."""
    identity = run.identity
    lines = [run.title, *([run.name] if short_name(run.name) != run.name else [])]
    called = [] if identity.model_name in str(identity.model_path) else [identity.model_name]
    made_by = [] if run.panel or run.by_hand else [str(identity.model_path)]
    lines += [_far(run), str(identity.dataset_path), *called, *made_by]
    if run.panel:
        lines.append(f"Judges: {'; '.join(run.judges)}")
        lines += filter(None, [run.cascade_in_words])
    if not run.submitted or run.by_hand:
        asked = ", ".join(words(name) for name in identity.criteria)
        lines.append(f"Rubric {identity.asked.name}: {asked}")
    if identity.methods_in_words:
        lines.append(f"Elicitation methods: {identity.methods_in_words}")
    if health is not None and run.by_a_model:
        lines.append(health.headline)
    if run.archived:
        lines.append(f"Archived {_moment(run.archived.when)} by {run.archived.by}.")
    return "\n".join([*lines, *([run.note] if run.note else [])])


def run_with_model(run: StoredRun) -> str:
    """`Run 7 “night”: demo-judge`, `Submission x.tsv`; long names without their middle."""
    return run.title if run.submitted else f"{run.title}: {short_name(run.identity.model_name)}"


def run_in_a_line(run: StoredRun) -> str:
    """What it is, how far it is, when it was made."""
    return f"{run_with_model(run)}, {_far(run)}"


def of_what(run: StoredRun) -> str:
    """`(demo.tsv, demo-judge)`, behind its name."""
    by = [] if run.submitted else [short_name(run.identity.model_name)]
    return f"({', '.join([short_name(run.identity.dataset_path.name), *by])})"


def _far(run: StoredRun) -> str:
    identity = run.identity
    what = f"items ({identity.items_are})" if identity.items_are else "items"
    if run.by_hand:
        return f"{identity.items:,} {what}, {_moment(run.created)}"
    return f"{run.judged:,} of {identity.items:,} {what}{run.sample_in_short}, {_moment(run.created)}"


def _moment(when: datetime) -> str:
    return f"{when.astimezone():%Y-%m-%d %H:%M}"


@dataclass(frozen=True)
class RunContents:
    run: AnyRun
    n_bytes: int
    overrides: int = 0  # labels and explanations that annotators changed
    confirmed: int = 0  # labels that they accepted
    marked: int = 0  # items that they marked as done or skipped
    begun: int = 0  # drafts of explanations and notes
    authors: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        return bool(self.overrides or self.confirmed or self.marked or self.begun)

    @property
    def decisions(self) -> str:
        """`3 overrides and 12 accepted labels, by Ada`; empty for nothing."""
        counts = (
            (self.overrides, "override", "overrides"),
            (self.confirmed, "accepted label", "accepted labels"),
            (self.marked, "item marked as done or skipped", "items marked as done or skipped"),
            (self.begun, "unsaved draft", "unsaved drafts"),
        )
        parts = [counted(number, one, more) for number, one, more in counts if number]
        last = " and ".join(parts[-2:])
        return f"{', '.join([*parts[:-2], last])}, by {listed(self.authors)}" if parts else ""

    @property
    def in_words(self) -> str:
        judged = counted(self.run.judged, "judged item", "judged items")
        annotators = f", {self.decisions}" if self.decided else "; it has no annotations"
        return f"{self.run.title}: {judged}, about {amount_of_file(self.n_bytes)}{annotators}."


@dataclass(frozen=True)
class Deleted:
    """Runs were deleted: `freed` bytes of the disk; `left` bytes stay in the store's file for later runs."""

    ids: tuple[int, ...]
    freed: int
    left: int

    @property
    def in_words(self) -> str:
        numbers = ", ".join(map(str, self.ids))
        gone = f"Run {numbers} is deleted" if len(self.ids) == 1 else f"Runs {numbers} are deleted"
        said = f"{gone}; {amount_of_file(self.freed)} of disk space are free again."
        kept = f" {amount_of_file(self.left)} in the run store's file are reserved for later runs."
        return said + (kept if self.left else "")


def amount_of_file(n_bytes: int) -> str:
    return f"{n_bytes / 1024:,.0f} KiB" if n_bytes < 1 << 20 else amount(n_bytes)
