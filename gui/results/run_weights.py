"""The weights and the tie threshold of each run, and those saved under a name, with their buttons: the
window's memory, not the run's, as nothing that judges or exports by command may follow a slider.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from engine.core.codec import plain, record_of
from engine.core.formatting import without_middle
from engine.core.items import digest
from engine.core.judgments import KeptFit, short_hash
from engine.core.rubric import ELOQUENT, Rubric
from engine.settings.identity import StoredRun
from gui.widgets.actions import MenuButton, add_entry
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.labels import Dialog, button, cancel_or, hint, in_column, label, name
from gui.workspace.state import State

DEFAULT = "default"
BY_HAND = "set by hand"
# Where the state keeps them, and the fits that they come from: work, which is not forgotten with the layout.
OF_RUNS, SAVED, FITS = "weights/runs", "weights/saved", "weights/fits"
HIGHEST_WEIGHT = 10.0  # that a slider reaches
MOST_DIGITS = 6  # of a weight or a threshold, behind the point
_DEFAULT_DIGITS = 2
_ROUNDED_OFF = 0.01  # of a number, at most
_HIGHEST_THRESHOLD = 10.0  # points: more lie between no two scores
_DEFAULT_WEIGHT = 1.0
_MOST_RUNS = 500


@dataclass(frozen=True)
class WeightsChoice:
    """Weights (not negative, any scale) by criterion, and a tie threshold in score points.

    `source`: whence, for display: DEFAULT, BY_HAND, `saved as “…”`, `as fitted on …`. `fit`: what is kept of
    the fit that they come from, also where the user changed or saved them since.
    """

    weights: Mapping[str, float]
    tie_threshold: float
    source: str = DEFAULT
    fit: KeptFit | None = None

    @property
    def in_words(self) -> str:
        return f"{self.source}; tie threshold {self.tie_threshold:g} points"


def default_request(rubric: Rubric) -> WeightsChoice:
    # A rubric may weigh on any scale: what the sliders do not reach is brought to theirs, all alike.
    weights = rubric.weights(rubric.names)
    highest = max(weights.values())
    scale = 1.0 if highest == 0 or _DEFAULT_WEIGHT <= highest <= HIGHEST_WEIGHT else HIGHEST_WEIGHT / highest
    reached = {name: scale * weight for name, weight in weights.items()}
    return WeightsChoice(reached, min(rubric.tie_threshold, _HIGHEST_THRESHOLD))


def digits_of(value: float) -> int:
    """How many digits behind the point a number needs: two, or more where these would not show it."""
    digits = range(_DEFAULT_DIGITS, MOST_DIGITS)
    near = (each for each in digits if abs(round(value, each) - value) <= _ROUNDED_OFF * value)
    return next(near, MOST_DIGITS)


class RunWeights:
    """What is damaged in the memory counts as not remembered."""

    def __init__(self, state: State) -> None:
        self._state = state

    def of(self, run: StoredRun) -> WeightsChoice:
        kept = self._state.record(OF_RUNS).get(_key(run))
        default = default_request(run.identity.asked)
        return self._request(kept, default) if isinstance(kept, dict) else default

    def keep(self, run: StoredRun, request: WeightsChoice) -> None:
        key, own, runs = _key(run), self._state.record(OF_RUNS), self._state.record_of_all(OF_RUNS)
        before = own.get(key)
        for kept in (own, runs):
            kept.pop(key, None)
            if request.source != DEFAULT:
                kept[key] = {**_values(request), "source": request.source}
        own, runs = (dict(list(kept.items())[-_MOST_RUNS:]) for kept in (own, runs))
        self._state.set_record(OF_RUNS, runs, own)
        if _fit_in(before) != _fit_in(runs.get(key)):  # not with each step of a slider
            self._keep_fit(request.fit)

    @property
    def saved(self) -> Mapping[str, WeightsChoice]:
        kept = self._state.record_of_all(SAVED)
        none = WeightsChoice({}, ELOQUENT.tie_threshold)
        return {
            name: self._request({**kept[name], "source": saved_as(name)}, none)
            for name in sorted(kept, key=str.casefold)
            if isinstance(kept[name], dict)
        }

    def save(self, name: str, request: WeightsChoice) -> WeightsChoice:
        """Keep a copy under a name, in the place of what had this name; the same request, from there now."""
        self._state.set_record(SAVED, {**self._state.record_of_all(SAVED), name: _values(request)})
        self._keep_fit(request.fit)
        self._state.save()
        return replace(request, source=saved_as(name))

    def remove(self, name: str) -> None:
        others = {other: kept for other, kept in self._state.record_of_all(SAVED).items() if other != name}
        self._state.set_record(SAVED, others)
        self._keep_fit(None)
        self._state.save()

    def _request(self, kept: Mapping[str, Any], default: WeightsChoice) -> WeightsChoice:
        # Another version, or a hand, may have written them: what is missing or damaged is as by default.
        own, source = kept.get("weights"), kept.get("source")
        own = own if isinstance(own, dict) else {}
        names = dict.fromkeys([*default.weights, *own])
        weights = {name: _number(own.get(name), default.weights.get(name, _DEFAULT_WEIGHT)) for name in names}
        threshold = _number(kept.get("tie_threshold"), default.tie_threshold)
        request = WeightsChoice(weights, threshold, source if source and isinstance(source, str) else BY_HAND)
        fit = self._state.record_of_all(FITS).get(_fit_in(kept))
        try:
            return request if fit is None else replace(request, fit=record_of(fit, KeptFit))
        except ValueError:
            return request

    def _keep_fit(self, fit: KeptFit | None) -> None:
        # Once, however many runs have it; those that nothing has any more are forgotten.
        state = self._state
        fits = state.record_of_all(FITS) | ({_fit_key(fit): plain(fit)} if fit else {})
        users = (*state.record_of_all(OF_RUNS).values(), *state.record_of_all(SAVED).values())
        used = set(map(_fit_in, users))
        state.set_record(FITS, {key: kept for key, kept in fits.items() if key in used})


def saved_as(name: str) -> str:
    return f"saved as “{name}”"


def _key(run: StoredRun) -> str:
    # Also the moment it was made: a store that was thrown away begins at 1 again.
    return f"{run.id} {run.created.isoformat()}"


def _values(request: WeightsChoice) -> dict[str, Any]:
    fit = {"fit": _fit_key(request.fit)} if request.fit else {}
    return {"weights": dict(request.weights), "tie_threshold": request.tie_threshold, **fit}


def _fit_in(kept: object) -> str:
    key = kept.get("fit") if isinstance(kept, dict) else None
    return key if isinstance(key, str) else ""


def _fit_key(fit: KeptFit) -> str:
    return short_hash(digest(plain(fit)))


def _number(value: object, default: float) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        return float(value)
    return default


_LONGEST_NAME = 80
_LONGEST_ENTRY = 48  # characters in the menu


class SavedWeights(QObject):
    """Two buttons, laid out by whoever shows them; `save` and `apply` take a name."""

    def __init__(
        self, weights: RunWeights, save: Callable[[str], None], apply: Callable[[str], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._weights, self._save, self._apply, self._window = weights, save, apply, parent
        named, other = "Save these weights under a name", "To apply them to other runs"
        self.save_button = button("Save &as…", self._ask_for_name, named, other)
        self.apply_button = MenuButton("A&pply", tips=True)
        self.menu = self.apply_button.menu()
        self.menu.aboutToShow.connect(self.fill)
        name(self.apply_button, "Apply saved weights to this run", "Weights that were saved under a name")

    def fill(self) -> None:
        self.menu.clear()
        saved = tuple(self._weights.saved)
        if not saved:
            self.menu.addAction("Nothing is saved yet").setEnabled(False)
            return
        remove = QMenu("&Remove saved weights", self.menu, toolTipsVisible=True)
        for menu, do in ((self.menu, self._apply), (remove, self._weights.remove)):
            for known in saved:
                text = without_middle(one_line(known), _LONGEST_ENTRY).replace("&", "&&")
                add_entry(menu, text, partial(do, known)).setToolTip(tip(known))
        self.menu.addSeparator()
        self.menu.addMenu(remove)

    def _ask_for_name(self) -> None:
        self.dialog = NameDialog(tuple(self._weights.saved), self._window)
        self.dialog.named.connect(self._save)
        self.dialog.open()


class NameDialog(Dialog):
    named = Signal(str)

    def __init__(self, taken: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__("Save weights", parent, 50)
        self._taken = taken
        self.field, self.warning = QLineEdit(maxLength=_LONGEST_NAME), label("", "warning")
        name(self.field, "Name of these weights")
        self.field.textChanged.connect(self._follow)
        buttons, self.save = cancel_or(self, "Save", self._accept)
        asked = hint("A name for these weights and this tie threshold:")
        in_column(asked, self.field, self.warning, buttons, on=self, margins=None)
        self.save.setDefault(True)  # here: Qt must know of which dialog
        self._follow("")

    def _follow(self, _text: str) -> None:
        taken = self._name in self._taken
        self.warning.setText("This name is taken: its weights will be replaced." if taken else "")
        self.save.setText("Replace" if taken else "Save")

    @property
    def _name(self) -> str:
        return " ".join(self.field.text().split())

    def _accept(self) -> None:
        if not self._name:
            self.warning.setText("Give the weights a name.")
            return
        self.named.emit(self._name)
        self.accept()
