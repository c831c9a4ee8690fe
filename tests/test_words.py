"""The field's terms, not words of our own: in texts that a user sees, in the pages, in names.

A reader from LLM evaluation never saw the words below; each has a standard term. Stored keys and values are
older than the terms and stay: they are no texts.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from main import COMMANDS
from tests.test_docs import PAGES, options_of
from tests.test_layout import ROOT

TERMS = {
    r"ways? of asking": "elicitation method",
    r"format mass": "answer mass",
    r"surely|sureness": "significantly, confident",
    r"settle[sd]?|settling": "adjudicate",
    r"trivial judges?": "baseline",
    r"held? against|holds against": "compared with",
    r"in force": "effective",
    r"hand(?:s|ed|ing)?[- ]over": "export and import annotations",
    r"outdated": "stale",
    r"as usual|usual(?:ly)?": "default",
    r"at hand": "current, loaded",
    r"leans?|leaning": "position bias, label-token bias",
    r"so many": "the number itself",
    r"in doubt|doubtful|doubt(?:ed|s)?": "uncertain, uncertainty",
    r"labels right|more right|more often right": "accuracy, accuracy gain",
    r"came along|comes? along": "bundled",
    r"go(?:es|ne|ing)? on with": "resume",
    r"mend(?:s|ed|ing)?": "fix",
    r"put aside": "held out, moved away",
    r"judge'?s? alone|alone judge": "judge only",
    r"fortune": "wealth",
    r"contests?": "comparison",
    r"anchors?": "regression check, items of the earlier run",
    r"(?<!chain of )thoughts?": "reasoning, reasoning sample",
    r"(?:a|the) panel(?:'s)?|panels": "jury",
    r"taught": "training labels",
    r"carried(?! out)": "informative",
    r"padded|injected": "filler, prompt injection",
    r"he|his|him": "they, of any person",
}
"""What a text must not say, as regular expressions of whole words, each with the field's term."""

_WRONG = re.compile(rf"(?<![\w`-])(?:{'|'.join(TERMS)})(?![\w-])", re.IGNORECASE)
_STORED = re.compile(
    r"^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|PRAGMA|WITH)\b|\bNOT NULL\b|\bFROM \w+ WHERE\b"
)
"""SQL: its columns keep their names."""

FOREIGN = {
    "engine/llama/speed.py": "a text to measure with, which a model reads",
    "gui/judge/prompt_jobs.py": "an example item, which a model reads",
    "engine/judging/forecast.py": "a text to measure with, which a model reads",
    "engine/results/calibration.py": "a stored sentence that identifies a judge",
    "engine/system/crash_reports.py": "sentences of the log that are searched for",
    "engine/prompt/judge_prompt.py": "what a model is shown",
    "engine/store/annotation_rows.py": "names of columns",
    "engine/annotations/records.py": "stored names of orders of a list",
}
"""Modules that hold texts which are not ours to change, with the reason."""

NAMES = frozenset(
    (
        *("heard", "carried", "said", "means", "keeping", "pace", "inquiry", "parts", "tried", "tuned"),
        *("how_many", "works", "hands", "outbox", "gate", "lanes", "kit", "interior", "hand_over"),
        *("said_rows", "usual_setup", "At", "By", "Drawn", "Gap", "Here", "Kept", "Lead", "Over", "Seen"),
        *("Shown", "Sight", "Soon", "Spot", "Standing", "Tally", "Told", "Turned", "Wanted", "Whose"),
        *("Without", "Way", "Wish", "Heard", "Lane", "Apart", "Outbox", "Panel", "HandOver", "Strengths"),
        *("Contests", "Probe", "Reading", "Remedy"),
    )
)
"""Names of modules and classes that say nothing to a stranger."""

_OLD_OPTIONS = re.compile(
    r"--(?:ways?|thoughts|anchors|shots|choose|margin-from|model-alone|person|with-outdated)$"
)


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The strings of a module that hold a sentence: no docstrings, no SQL; of an f-string its own words."""
    ignored: set[int] = set()
    for node in ast.walk(tree):
        for inner in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant):
                ignored.add(id(inner.value))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in ignored:
            continue
        if " " in node.value.strip() and not _STORED.search(node.value):
            yield node.lineno, node.value


def wrong_texts(path: Path) -> list[str]:
    """Where a module's texts use a word of our own, with what they say."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = ((line, text, _WRONG.search(text)) for line, text in texts(tree))
    return [f"{path}:{line}: {wrong[0]!r} in {text!r}" for line, text, wrong in found if wrong]


def program() -> list[Path]:
    """The modules whose texts a user may see."""
    paths = [
        ROOT / "main.py",
        ROOT / "tiebreak.py",
        *(ROOT / "engine").rglob("*.py"),
        *(ROOT / "gui").rglob("*.py"),
    ]
    return [path for path in paths if path.relative_to(ROOT).as_posix() not in FOREIGN]


def test_what_a_user_reads_is_in_the_fields_terms() -> None:
    assert not [problem for path in program() for problem in wrong_texts(path)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_is_in_the_fields_terms(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return  # it names what was renamed
    prose = re.sub(r"```.*?```|`[^`]*`|“[^”]*”", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not [found[0] for found in _WRONG.finditer(" ".join(prose.split()))]


def test_no_module_or_class_has_a_name_that_says_nothing() -> None:
    paths = [*(ROOT / "engine").rglob("*.py"), *(ROOT / "gui").rglob("*.py")]
    names = {path.stem: path for path in paths}
    for path in paths:
        classes = re.findall(r"^class _*(\w+)", path.read_text("utf-8"), re.MULTILINE)
        names |= dict.fromkeys(classes, path)
    assert not {name: str(path.relative_to(ROOT)) for name, path in names.items() if name in NAMES}


def test_no_option_has_a_word_of_our_own() -> None:
    assert not [
        option for command in COMMANDS for option in options_of(command) if _OLD_OPTIONS.search(option)
    ]
