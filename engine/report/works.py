"""The works that paragraphs of methods name: as a sentence names them, and as BibTeX.

Knows: authors, titles, where and when they were published. Does not know: what they are used for.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.core import AUTHORS, RELEASED, VERSION


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
