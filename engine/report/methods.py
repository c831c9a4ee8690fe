"""How results were made, as a paragraph for a paper: each sentence with the source of what it says.

The works that paragraphs of methods name: as a sentence names them, and as BibTeX.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.core import AUTHORS, RELEASED, VERSION
from engine.core.formatting import counted, visible, words
from engine.core.tables import escaped
from engine.metrics.matching import System
from engine.report.run import judged_model, run_facts
from engine.results.run_results import RunResults
from engine.settings.identity import CERTAINTY, JUDGES
from engine.settings.rows import DEFAULT_METHODS, methods_in_words


@dataclass(frozen=True)
class Reference:
    """`names`: its authors in a sentence. `kind`, `fields`: of its entry in BibTeX, besides the year."""

    key: str
    names: str
    year: int
    kind: str
    fields: tuple[tuple[str, str], ...]

    @property
    def said(self) -> str:
        """As a sentence names it: `Korn and Graubard (1998)`."""
        return f"{self.names} ({self.year})"

    @property
    def short(self) -> str:
        """The same where it stands in brackets: `Davidson 1970`."""
        return f"{self.names} {self.year}"

    @property
    def entry(self) -> str:
        """Its entry in BibTeX."""
        fields = (*self.fields, ("year", str(self.year)))
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields)
        return f"@{self.kind}{{{self.key},\n{lines}\n}}\n"


def bibliography(works: Iterable[Reference]) -> str:
    """The entries of some works, each once, by their keys."""
    return "\n".join(work.entry for work in sorted(set(works), key=lambda work: work.key))


TIEBREAK = Reference(
    "tiebreak",
    AUTHORS,
    int(RELEASED[:4]),
    "misc",
    (
        ("author", f"{{{AUTHORS}}}"),
        ("title", "{Tiebreak}"),
        ("howpublished", "Computer software"),
        ("note", f"Version {VERSION}"),
    ),
)
KORN_GRAUBARD = Reference(
    "korn1998confidence",
    "Korn and Graubard",
    1998,
    "article",
    (
        ("author", "Korn, Edward L. and Graubard, Barry I."),
        (
            "title",
            "Confidence Intervals for Proportions with Small Expected Number of Positive Counts Estimated"
            " from Survey Data",
        ),
        ("journal", "Survey Methodology"),
        ("volume", "24"),
        ("number", "2"),
        ("pages", "193--201"),
    ),
)
BRADLEY_TERRY = Reference(
    "bradley1952rank",
    "Bradley and Terry",
    1952,
    "article",
    (
        ("author", "Bradley, Ralph Allan and Terry, Milton E."),
        ("title", "Rank Analysis of Incomplete Block Designs: {I}. The Method of Paired Comparisons"),
        ("journal", "Biometrika"),
        ("volume", "39"),
        ("number", "3/4"),
        ("pages", "324--345"),
        ("doi", "10.1093/biomet/39.3-4.324"),
    ),
)
DAVIDSON = Reference(
    "davidson1970extending",
    "Davidson",
    1970,
    "article",
    (
        ("author", "Davidson, Roger R."),
        (
            "title",
            "On Extending the {Bradley-Terry} Model to Accommodate Ties in Paired Comparison Experiments",
        ),
        ("journal", "Journal of the American Statistical Association"),
        ("volume", "65"),
        ("number", "329"),
        ("pages", "317--328"),
        ("doi", "10.1080/01621459.1970.10481082"),
    ),
)
HESTERBERG = Reference(
    "hesterberg2015teachers",
    "Hesterberg",
    2015,
    "article",
    (
        ("author", "Hesterberg, Tim C."),
        (
            "title",
            "What Teachers Should Know About the Bootstrap: Resampling in the Undergraduate Statistics"
            " Curriculum",
        ),
        ("journal", "The American Statistician"),
        ("volume", "69"),
        ("number", "4"),
        ("pages", "371--386"),
        ("doi", "10.1080/00031305.2015.1089789"),
    ),
)
HOLM = Reference(
    "holm1979simple",
    "Holm",
    1979,
    "article",
    (
        ("author", "Holm, Sture"),
        ("title", "A Simple Sequentially Rejective Multiple Test Procedure"),
        ("journal", "Scandinavian Journal of Statistics"),
        ("volume", "6"),
        ("number", "2"),
        ("pages", "65--70"),
    ),
)
DUBOIS = Reference(
    "dubois2024length",
    "Dubois and others",
    2024,
    "misc",
    (
        (
            "author",
            "Dubois, Yann and Galambosi, Bal{\\'a}zs and Liang, Percy and Hashimoto, Tatsunori B.",
        ),
        ("title", "Length-Controlled {AlpacaEval}: A Simple Way to Debias Automatic Evaluators"),
        ("eprint", "2404.04475"),
        ("archiveprefix", "arXiv"),
    ),
)
ANGELOPOULOS = Reference(
    "angelopoulos2023ppi",
    "Angelopoulos and others",
    2023,
    "misc",
    (
        ("author", "Angelopoulos, Anastasios N. and Duchi, John C. and Zrnic, Tijana"),
        ("title", "{PPI++}: Efficient Prediction-Powered Inference"),
        ("eprint", "2311.01453"),
        ("archiveprefix", "arXiv"),
    ),
)
WILSON = Reference(
    "wilson1927probable",
    "Wilson",
    1927,
    "article",
    (
        ("author", "Wilson, Edwin B."),
        ("title", "Probable Inference, the Law of Succession, and Statistical Inference"),
        ("journal", "Journal of the American Statistical Association"),
        ("volume", "22"),
        ("number", "158"),
        ("pages", "209--212"),
        ("doi", "10.1080/01621459.1927.10502953"),
    ),
)
ALEXANDARI = Reference(
    "alexandari2020maximum",
    "Alexandari, Kundaje and Shrikumar",
    2020,
    "inproceedings",
    (
        ("author", "Alexandari, Amr M. and Kundaje, Anshul and Shrikumar, Avanti"),
        (
            "title",
            "Maximum Likelihood with Bias-Corrected Calibration is Hard-To-Beat at Label Shift Adaptation",
        ),
        ("booktitle", "Proceedings of the 37th International Conference on Machine Learning"),
        ("series", "Proceedings of Machine Learning Research"),
        ("volume", "119"),
        ("pages", "222--232"),
    ),
)
COHEN = Reference(
    "cohen1960coefficient",
    "Cohen",
    1960,
    "article",
    (
        ("author", "Cohen, Jacob"),
        ("title", "A Coefficient of Agreement for Nominal Scales"),
        ("journal", "Educational and Psychological Measurement"),
        ("volume", "20"),
        ("number", "1"),
        ("pages", "37--46"),
        ("doi", "10.1177/001316446002000104"),
    ),
)
BERGER = Reference(
    "berger1982multiparameter",
    "Berger",
    1982,
    "article",
    (
        ("author", "Berger, Roger L."),
        ("title", "Multiparameter Hypothesis Testing and Acceptance Sampling"),
        ("journal", "Technometrics"),
        ("volume", "24"),
        ("number", "4"),
        ("pages", "295--300"),
    ),
)
LIN = Reference(
    "lin2004rouge",
    "Lin",
    2004,
    "inproceedings",
    (
        ("author", "Lin, Chin-Yew"),
        ("title", "{ROUGE}: A Package for Automatic Evaluation of Summaries"),
        ("booktitle", "Text Summarization Branches Out"),
        ("pages", "74--81"),
    ),
)
ZHANG = Reference(
    "zhang2020bertscore",
    "Zhang and others",
    2020,
    "inproceedings",
    (
        (
            "author",
            "Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and Artzi, Yoav",
        ),
        ("title", "{BERTScore}: Evaluating Text Generation with {BERT}"),
        ("booktitle", "International Conference on Learning Representations"),
    ),
)


_EXAMPLES = "labelled examples, SHA-256"
"""Among the facts of a run."""


@dataclass(frozen=True)
class Statement:
    """A sentence of a paragraph of methods, where what it says is written down, and the works that it names,
    each by its `said` or `short`.
    """

    text: str
    source: str
    works: tuple[Reference, ...] = ()


COMPUTED = Statement(
    f"All numbers were computed with Tiebreak {VERSION} ({TIEBREAK.short}).", "CITATION.cff", (TIEBREAK,)
)
"""What a paragraph ends with."""


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
        lines += [f"% {source}", _citing(each)]
    return "\n".join([*lines, ""])


def _citing(statement: Statement) -> str:
    text = escaped(statement.text)
    for work in statement.works:
        cited = rf"{escaped(work.names)}~\cite{{{work.key}}}"
        text = text.replace(escaped(work.said), cited).replace(escaped(work.short), cited)
    return text


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
