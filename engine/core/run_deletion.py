"""What goes with runs that are deleted, and what that frees, for users.

Knows: plain values. Does not know: SQL, how a run is deleted.
"""

from dataclasses import dataclass

from engine.core.formatting import amount, counted, listed
from engine.core.run_records import AnyRun


@dataclass(frozen=True)
class RunContents:
    """What goes with a run that is deleted, and about how many bytes of the store's file that is.

    `overrides`, `confirmed`, `marked`: labels and explanations that annotators changed, labels that they
    confirmed, items that they marked as done or skipped; `begun`: explanations and notes of which there is a
    draft; `authors`: who did so.
    """

    run: AnyRun
    n_bytes: int
    overrides: int = 0
    confirmed: int = 0
    marked: int = 0
    begun: int = 0
    authors: tuple[str, ...] = ()

    @property
    def decided(self) -> bool:
        """True where annotators have decided something that nobody can make again."""
        return bool(self.overrides or self.confirmed or self.marked or self.begun)

    @property
    def decisions(self) -> str:
        """What annotators decided, and who: `3 overrides and 12 confirmed labels, by Ada`; empty for
        nothing.
        """
        parts = [
            counted(number, one, more)
            for number, one, more in (
                (self.overrides, "override", "overrides"),
                (self.confirmed, "accepted label", "accepted labels"),
                (self.marked, "item marked as done or skipped", "items marked as done or skipped"),
                (self.begun, "unsaved draft", "unsaved drafts"),
            )
            if number
        ]
        last = " and ".join(parts[-2:])
        return f"{', '.join([*parts[:-2], last])}, by {listed(self.authors)}" if parts else ""

    @property
    def in_words(self) -> str:
        """What would be deleted, in a sentence."""
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
        """What is gone, and what that freed."""
        numbers = ", ".join(map(str, self.ids))
        gone = f"Run {numbers} is deleted" if len(self.ids) == 1 else f"Runs {numbers} are deleted"
        kept = (
            f" {amount_of_file(self.left)} in the run store's file are reserved for later runs."
            if self.left
            else ""
        )
        return f"{gone}; {amount_of_file(self.freed)} of disk space are free again.{kept}"


def amount_of_file(n_bytes: int) -> str:
    """The size of a file, which may be small: `12 KiB`, else as `amount`."""
    return f"{n_bytes / 1024:,.0f} KiB" if n_bytes < 1 << 20 else amount(n_bytes)
