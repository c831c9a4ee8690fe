"""What goes with runs that are deleted, and what that frees, for people.

Knows: plain values. Does not know: SQL, how a run is deleted.
"""

from dataclasses import dataclass

from engine.core.formatting import amount, counted, listed
from engine.core.run_records import AnyRun


@dataclass(frozen=True)
class RunContents:
    """What goes with a run that is deleted, and about how many bytes of the store's file that is.

    `overrides`, `confirmed`, `marked`: labels and explanations that people changed, labels that they
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
        """True where people have decided something that nobody can make again."""
        return bool(self.overrides or self.confirmed or self.marked or self.begun)

    @property
    def decisions(self) -> str:
        """What people decided, and who: `3 overrides and 12 confirmed labels, by Ada`; empty for nothing."""
        parts = [
            counted(number, one, more)
            for number, one, more in (
                (self.overrides, "override", "overrides"),
                (self.confirmed, "confirmed label", "confirmed labels"),
                (self.marked, "item marked as done or skipped", "items marked as done or skipped"),
                (self.begun, "text that was begun and not saved", "texts that were begun and not saved"),
            )
            if number
        ]
        last = " and ".join(parts[-2:])
        return f"{', '.join([*parts[:-2], last])}, by {listed(self.authors)}" if parts else ""

    @property
    def in_words(self) -> str:
        """What would be deleted, in a sentence."""
        judged = counted(self.run.judged, "judged item", "judged items")
        people = f", {self.decisions}" if self.decided else "; nobody has decided anything in it"
        return f"{self.run.title}: {judged}, about {amount_of_file(self.n_bytes)}{people}."


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
            f" {amount_of_file(self.left)} in the file of the run store wait for later runs."
            if self.left
            else ""
        )
        return f"{gone}; {amount_of_file(self.freed)} of the disk are free again.{kept}"


def amount_of_file(n_bytes: int) -> str:
    """The size of a file, which may be small: `12 KiB`, else as `amount`."""
    return f"{n_bytes / 1024:,.0f} KiB" if n_bytes < 1 << 20 else amount(n_bytes)
