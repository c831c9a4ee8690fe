"""What reading the second order only in doubt would keep of a run's labels, as a matplotlib figure.

Knows: what the figure shows, of which runs there is one. Does not know: how it is measured, files, windows.
"""

from contextlib import suppress

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from engine.calibrate.order_margin import MarginReport, groups_by_instruction, margin_report
from engine.core.errors import SetupError
from engine.decisions.second_order import KEEP, learned_from
from engine.measure.matching import Matched
from engine.report.figure_style import Theme, add_legend, drawable, drawing, drawn_words, finish, new_figure

_LINES = (":", "--", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))


def order_report_of(matched: Matched) -> MarginReport | None:
    """The curve of a run that read all its items in both orders, before any calibration; else None."""
    results = matched.system.results
    if results is None or results.run.submitted:
        return None
    with suppress(SetupError):  # it cannot tell
        read = learned_from(results.run, results.judged)
        instructions = {item.id: item.instruction for item in matched.dataset}
        return margin_report(read, groups_by_instruction(read.ids, instructions), KEEP)
    return None


def order_figure(report: MarginReport, name: str = "", dark: bool = False) -> Figure:
    """Labels that stay equal, in percent, by the share of items that are read in both orders, for margins
    from 0 to 1: together and by criterion; and the least margin that keeps enough of each criterion's labels.
    """
    with drawing(dark) as theme:
        figure = new_figure(3.4)
        axes = figure.subplots()
        points = sorted(report.points, key=lambda point: point.read)
        read = [100 * point.read for point in points]
        for criterion, line in zip(report.criteria, _LINES * len(report.criteria), strict=False):
            kept = [100 * point.kept[criterion] for point in points]
            axes.plot(
                read, kept, linestyle=line, color=theme.muted, linewidth=1, label=drawn_words(criterion)
            )
        equal = [100 * point.equal for point in points]
        axes.plot(read, equal, color=theme.judge, linewidth=2, marker=".", label="all criteria together")
        axes.axhline(
            100 * report.keep, color=theme.text, linestyle=":", linewidth=1, label=f"{report.keep:.0%} kept"
        )
        _mark_least(axes, report, theme)
        axes.set_xlim(0, 100)
        axes.set_xlabel("items read in both orders (%)")
        axes.set_ylabel("labels equal to those of both orders (%)")
        axes.grid()
        title = "The second order only in doubt: what would be kept"
        finish(figure, [axes], f"{title}\n{drawable(name)}, {report.least.items:,} items", theme)
        add_legend(figure, axes, 4)
    return figure


def _mark_least(axes: Axes, report: MarginReport, theme: Theme) -> None:
    if not report.reached:
        return
    least = report.least
    spot = (100 * least.read, 100 * least.equal)
    axes.plot(*spot, linestyle="none", marker="D", color=theme.marked, label=f"margin {least.below:g}")
