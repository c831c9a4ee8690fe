"""An earlier run whose items are judged again: its setup is the default. Does not know: what for."""

from dataclasses import dataclass, replace

from engine.core.errors import Given, Hint, SetupError
from engine.core.events import CancelToken
from engine.core.rubric import Rubric
from engine.data.dataset import Dataset
from engine.data.rubrics.files import find_rubric
from engine.operations.judge_request import JudgeRequest, Orders
from engine.operations.opening import check_store
from engine.results.run_dataset import dataset_of_run
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import StoredRun, refuse_unasked
from engine.settings.rows import CPU
from engine.settings.run_setup import RunSetup
from engine.store.opening import has_store
from engine.store.run_store import RunStore


@dataclass(frozen=True)
class EarlierRun:
    """Some `items` of a run, whose results are `then`."""

    then: RunResults
    items: Dataset

    @property
    def run(self) -> StoredRun:
        return self.then.run

    @property
    def default(self) -> RunSetup:
        """The setup of the run, for these items."""
        return replace(
            RunSetup.as_in(self.run),
            dataset_path=self.items.path,
            columns=self.items.columns,
            items=None,
            sample=None,
            ids=tuple(self.items.ids),
            device=self.run.identity.device or CPU,
        )

    @property
    def orders(self) -> Orders:
        default = self.default
        return Orders(default.both_orders, default.second_order_below)

    def criteria_of(self, rubric: Rubric) -> tuple[str, ...]:
        """The criteria of a rubric that the earlier run has, too. SetupError if there are none."""
        known = self.run.identity.criteria
        if shared := tuple(name for name in rubric.names if name in known):
            return shared
        other = ", or a rubric that has criteria of these names."
        raise SetupError(
            f"{self.run.title} has the criteria {', '.join(known)}, and none of them is requested now"
            f" ({', '.join(rubric.names)}).",
            Hint("Name one of its criteria with ", Given("criteria"), other),
        )


def earlier_run(
    request: JudgeRequest, named: str, run_id: int, cancel: CancelToken
) -> tuple[RunResults, Dataset]:
    """The run that the value `named` of a request names, and all items that it judged. SetupError for a run
    of no model, without items, or whose dataset is gone or another.
    """
    with RunStore(check_store(request.store)) as store:
        run = store.run(run_id)
        refuse_unasked(run, "be judged again")
        then = load_results(store, run.id)
    path = request.dataset or run.identity.dataset_path
    if request.dataset is None and not has_store(path):
        raise SetupError(
            f"{run.title}: its dataset {path} is missing.",
            Hint("Put it back, or name its file together with ", Given(named, run.id)),
        )
    if request.columns is not None and request.rubric is not None:
        request.columns_for(find_rubric(request.rubric))
    judged = dataset_of_run(run, path, cancel, request.columns).only(then.content_hashes)
    if not len(judged):
        raise SetupError(f"{run.title} has judged no item yet.", "Name another run.")
    return then, judged
