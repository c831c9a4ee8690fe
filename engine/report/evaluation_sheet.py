"""All that is shown of a run or a submission: which sections there are, in which order.

Knows: the sections. Does not know: what these say, terminals, HTML, windows.
"""

from collections.abc import Callable, Iterable

from engine.core.remedies import Remedy
from engine.core.sheets import Section, Sheet
from engine.measure.evaluation import Evaluation
from engine.measure.people_agreement import people_agreement
from engine.measure.systems import System
from engine.report.findings import caveats, in_short, in_short_section
from engine.report.measure_tables import accuracy_section, explanation_section, label_section
from engine.report.people_tables import people_sections
from engine.report.run_tables import labels_given_section, way_sections


def evaluation_sheet(
    evaluation: Evaluation, word: Callable[[Remedy], str] = str, more: Iterable[Section] = ()
) -> Sheet:
    """What a judge is worth against human labels; `more`: what is known of it besides."""
    matched = evaluation.matched
    system = matched.system
    sections = [
        in_short_section(system, caveats(matched), in_short(evaluation), word),
        accuracy_section(evaluation),
        label_section(evaluation),
        *way_sections(system.results, matched.dataset),
        *people_sections(evaluation.people),
        *([explanation_section(evaluation)] if evaluation.explanations else ()),
        *more,
    ]
    title = f"{evaluation.name} against the human labels of {matched.dataset.name}: {matched.items:,} items"
    return Sheet(title, sections)


def run_sheet(
    system: System, doubts: Iterable[str], said: Iterable[str], word: Callable[[Remedy], str] = str
) -> Sheet:
    """What a run says by itself, without human labels."""
    results = system.results
    assert results is not None
    sections = [
        in_short_section(system, doubts, said, word),
        labels_given_section(results),
        *way_sections(results),
        *people_sections(people_agreement(results)),
    ]
    return Sheet(results.run.title, sections)
