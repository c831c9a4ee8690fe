"""How results were made, as a paragraph for a paper, each sentence with its source. Works: `works.bib`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.core import AUTHORS, RELEASED, VERSION
from engine.core.formatting import counted, visible, words
from engine.core.tables import escaped
from engine.metrics.matching import System
from engine.report.run import judged_model, run_facts
from engine.results.run_results import RunResults
from engine.settings.identity import CERTAINTY, JUDGES
from engine.settings.rows import DEFAULT_METHODS, methods_in_words

_FILE = Path(__file__).resolve().with_name("works.bib")
_ENTRIES = {
    found[1]: found[0]
    for found in re.finditer(r"^@\w+\{(.+),\n(?:  .+\n)+\}\n", _FILE.read_text("utf-8"), re.MULTILINE)
}
_ENTRIES["tiebreak"] = f"""\
@misc{{tiebreak,
  author = {{{{{AUTHORS}}}}},
  title = {{{{Tiebreak}}}},
  howpublished = {{Computer software}},
  note = {{Version {VERSION}}},
  year = {{{RELEASED[:4]}}}
}}
"""


@dataclass(frozen=True)
class Reference:
    """A work, by its key in `works.bib`. `names`: its authors in a sentence."""

    key: str
    names: str

    @property
    def entry(self) -> str:
        return _ENTRIES[self.key]

    @property
    def _year(self) -> str:
        return self.entry.rpartition("year = {")[2].partition("}")[0]

    @property
    def said(self) -> str:
        """As a sentence names it: `Korn and Graubard (1998)`."""
        return f"{self.names} ({self._year})"

    @property
    def short(self) -> str:
        """The same where it stands in brackets: `Davidson 1970`."""
        return f"{self.names} {self._year}"


def bibliography(works: Iterable[Reference]) -> str:
    """The entries of some works, each once, by their keys."""
    return "\n".join(work.entry for work in sorted(set(works), key=lambda work: work.key))


TIEBREAK = Reference("tiebreak", AUTHORS)
KORN_GRAUBARD = Reference("korn1998confidence", "Korn and Graubard")
BRADLEY_TERRY = Reference("bradley1952rank", "Bradley and Terry")
DAVIDSON = Reference("davidson1970extending", "Davidson")
HESTERBERG = Reference("hesterberg2015teachers", "Hesterberg")
HOLM = Reference("holm1979simple", "Holm")
DUBOIS = Reference("dubois2024length", "Dubois and others")
ANGELOPOULOS = Reference("angelopoulos2023ppi", "Angelopoulos and others")
WILSON = Reference("wilson1927probable", "Wilson")
ALEXANDARI = Reference("alexandari2020maximum", "Alexandari, Kundaje and Shrikumar")
COHEN = Reference("cohen1960coefficient", "Cohen")
GWET = Reference("gwet2014handbook", "Gwet")
BERGER = Reference("berger1982multiparameter", "Berger")
LIN = Reference("lin2004rouge", "Lin")
JUNG = Reference("jung2024trust", "Jung, Brahman and Choi")
WAUDBY_SMITH = Reference("waudbysmith2024estimating", "Waudby-Smith and Ramdas")
WIENS = Reference("wiens2005fallback", "Wiens and Dmitrienko")
ZHANG = Reference("zhang2020bertscore", "Zhang and others")

_EXAMPLES = "labelled examples, SHA-256"
"""Among the facts of a run."""


@dataclass(frozen=True)
class Statement:
    """A sentence for a paper, where what it says is written down, and the works that it names."""

    text: str
    source: str
    works: tuple[Reference, ...] = ()


# What a paragraph ends with.
COMPUTED = Statement(
    f"All numbers were computed with Tiebreak {VERSION} ({TIEBREAK.short}).", "CITATION.cff", (TIEBREAK,)
)


def methods_text(said: Sequence[Statement]) -> str:
    """The paragraph, with numbers of sources in brackets, and the sources below it."""
    sources = list(dict.fromkeys(each.source for each in said))
    paragraph = " ".join(f"{each.text} [{sources.index(each.source) + 1}]" for each in said)
    lines = [f"[{number}] {source}" for number, source in enumerate(sources, 1)]
    return visible("\n".join([paragraph, "", "Where the numbers come from:", *lines, ""]))


def methods_latex(said: Sequence[Statement], made_by: str) -> str:
    r"""The paragraph in LaTeX, with `\cite` for each work; the source of a sentence is a comment above it."""
    lines = [f"% {made_by}"]
    for each in said:
        source = " ".join(visible(each.source).split())
        text = escaped(each.text)
        for work in each.works:
            cited = rf"{escaped(work.names)}~\cite{{{work.key}}}"
            text = text.replace(escaped(work.said), cited).replace(escaped(work.short), cited)
        lines += [f"% {source}", text]
    return "\n".join([*lines, ""])


def labels_of_system(system: System, criterion: str | None) -> Iterator[Statement]:
    """Whose the labels are, and how they were made; `criterion`: the one that counts, None for all."""
    results = system.results
    if results is None or results.run.submitted:
        on = "" if criterion is None else f" on {words(criterion)}"
        yield Statement(
            f"The labels{on} are those of {system.name}; how they were made is not recorded.",
            f"the submission file {system.path or system.name}",
        )
    else:
        yield from _judge(results, criterion)


def _panel(results: RunResults) -> Iterator[Statement]:
    run = results.run
    judges = "; ".join(
        f"{number}, {each.get('what', '')}" for number, each in enumerate(run.manifest[JUDGES], start=1)
    )
    how = "by a calibration" if results.calibration else "by the mean"
    certainty = run.manifest.get(CERTAINTY)
    if run.cascade_in_words:
        yield Statement(
            f"Two judges decide in turn: {judges}. By its confidence, the probability of its label, the first"
            f" one's label stands, else the second decides: {run.cascade_in_words}.",
            f"Tiebreak's store, run {run.id}",
        )
        yield _by_annotators(dict(run_facts(results).pairs), f"Tiebreak's store, run {run.id}")
        return
    alone = "" if certainty is None else f"; a label of a submission counts as a probability of {certainty}"
    yield Statement(
        f"{counted(len(run.judges), 'judge decides', 'judges decide')} as a jury: {judges}. The label is the"
        f" likeliest of four (A, B, both good, both bad) {how} of their log-probabilities{alone}.",
        f"Tiebreak's store, run {run.id}; docs/measures.md, Juries",
    )
    facts = dict(run_facts(results).pairs)
    yield _calibrated(results, facts)
    yield _by_annotators(facts, f"Tiebreak's store, run {facts['run']}")


def _by_annotators(facts: Mapping[str, str], source: str) -> Statement:
    annotators = facts["human overrides"]
    return Statement(
        "All labels are the judge's."
        if annotators == "nothing"
        else f"Human labels override labels of the judge: {annotators}.",
        f"{source}, its annotations",
    )


def _calibrated(results: RunResults, facts: Mapping[str, str]) -> Statement:
    calibration = results.calibration
    source = f"Tiebreak's store, run {facts['run']}; calibration {facts['calibration']}"
    if calibration is None:
        return Statement("Its probabilities were not calibrated.", source)
    looks_at = f" {calibration.looks_at}" if calibration.parts else ""
    return Statement(
        f"Its probabilities were calibrated {results.calibrated_in_words}, by temperature scaling with biases"
        f" ({ALEXANDARI.short}).{looks_at}",
        source,
        (ALEXANDARI,),
    )


def _judge(results: RunResults, criterion: str | None) -> Iterator[Statement]:
    run = results.run
    if run.panel:
        yield from _panel(results)
        return
    identity, facts = run.identity, dict(run_facts(results).pairs)
    model = judged_model(run)
    quantisation = model.quantisation if model else "quantisation not known, the file is gone or another"
    source = f"Tiebreak's store, run {facts['run']}"
    yield Statement(
        f"The judge is {identity.model_name} ({quantisation}), run with"
        f" {facts.get('llama.cpp', 'a build of llama.cpp that is not known')}.",
        f"{source}; model file {identity.model_path.name}, SHA-256 {identity.model_hash}; quantisation: the"
        " header of that file",
    )
    asked = [each for each in identity.asked.criteria if criterion in (None, each.name)]
    questions = "; ".join(f"{words(each.name)}, “{' '.join(each.question.split())}”" for each in asked)
    methods = identity.methods_in_words or methods_in_words(DEFAULT_METHODS)
    examples = ", with labelled examples" if facts.get(_EXAMPLES) else ""
    examples += "".join(f", shown the {name} of each item" for name in identity.shows)
    yield Statement(
        f"It was prompted with prompt version {identity.prompt_version} of Tiebreak, by {methods}{examples}:"
        f" {questions}. Items were read in {facts['read in']}; a label is the likeliest of four (A, B, both"
        " good, both bad) by the model's token probabilities.",
        f"{source}: prompt version, rubric, settings; docs/how-it-judges.md",
    )
    if run.stopped_early:
        asked_for = f", {run.until.in_words}," if run.until is not None else ""
        yield Statement(
            f"Instructions were judged in a random order{asked_for} and {run.judged:,} of"
            f" {counted(identity.items, 'item', 'items')} were read: since the stopping time depends on"
            " the results, rates and their intervals may be too far from 50 %.",
            f"{source}: its random order",
        )
    yield _calibrated(results, facts)
    yield _by_annotators(facts, source)
