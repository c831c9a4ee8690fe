"""What README.md and docs/ say of the program: commands and options parse, links and names lead somewhere.

Each check takes the text of a page and returns what is wrong with it.
"""

import argparse
import io
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import pytest
from cogapp import Cog

import main
from engine.core import AUTHORS, VERSION
from tests.generated import GENERATED
from tests.prose import long_share
from tests.test_layout import MAY_IMPORT, ROOT

README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = (
    README,
    *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")),
    *sorted(DOCS.rglob("*.md")),
    ROOT / "bench" / "README.md",
    ROOT / "bench" / "coverage" / "README.md",
    ROOT / "examples" / "README.md",
    ROOT / "models" / "demo-judge.md",
)

READ_ONCE = tuple(
    page
    for page in PAGES
    if page.name in {"README.md", "CONTRIBUTING.md", "SECURITY.md"} or page.is_relative_to(DOCS)
)
MOST_LONG = 0.08
"""The share of a page's sentences that may have over 30 words."""

MOST_LINES, LONGEST_LINE = 150, 120
MOST_ROWS = 25
"""The lines that the map of the code may have."""
ACTIONS = {
    "runs": (
        *("add", "show", "export", "recalibrate", "rewrite"),
        *("find", "diff", "name", "note", "archive", "restore", "delete"),
    ),
    "annotations": ("begin", "assign", "agreement", "sheet", "export", "import"),
    "cluster": ("certificates", "scheduler", "worker"),
    "rubrics": ("show", "draft", "check"),
    "models": ("check", "cut", "devices", "speed"),
}
PLACEHOLDERS = {"COMMAND", "DATASET", "FILE"}
"""What stands for the first word after main.py."""
NUMBERS = {"ID", "N", "K", "T", "RUN"}
MOVED = ("https://eloquent-lab.github.io/task-",)  # to 2025archive/
CLONED = "llama.cpp/"
"""A folder that the pages tell the reader to clone."""

ROOMS = "engine|gui|tests|bench|models|packaging|examples|docs"
_FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
_INDENTED = re.compile(r"^ +```.*?^ +```$", re.M | re.S)
_INLINE = re.compile(r"`([^`\n]+)`")
_COMMENT = re.compile(r"\s+(#\s|\(Windows: ).*$")
_OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+ +(.+)$", re.M)
_DOTTED = re.compile(r"(?:engine|gui|tests|bench|models|packaging)(?:\.\w+)+")
_PATH = re.compile(rf"(?:{ROOMS})/[\w./-]*")
_FILE = re.compile(r"[\w-]+\.(?:py|sh|spec)")
_UNFINISHED = re.compile(r"^[A-Z]{2,}\W*$|\b[A-Z]+_[A-Z_]+\b|@[A-Z_]+@", re.M)
_NAME = re.compile(r"_?[A-Za-z]\w*")

Check = Callable[[str, Path], list[str]]


# The parts of a page


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose_of(text: str) -> str:
    return _FENCE.sub("", text)


def inline_code(text: str) -> list[str]:
    return [code.replace("\\|", "|") for code in _INLINE.findall(prose_of(text))]


def block_lines(text: str) -> list[str]:
    """The lines of blocks of code, without comments."""
    blocks = _FENCE.findall(text)
    return [_COMMENT.sub("", line).strip() for block in blocks for line in block.splitlines()[1:-1]]


def section(text: str, heading: str) -> str:
    """What stands below a heading of the second level, up to the next one."""
    lines = iter(text.splitlines())
    assert any(line == f"## {heading}" for line in lines), f"no section {heading}"
    return "\n".join(takewhile(lambda line: not line.startswith("## "), lines))


# Commands


def command_problems(text: str, _page: Path) -> list[str]:
    """The command lines of a page that would not work."""
    lines = [*block_lines(text), *inline_code(text)]
    return [f"{line}: {problem}" for line in lines if (problem := line_problem(line))]


def line_problem(line: str) -> str:
    """What is wrong with a command line; empty where it is none of ours, or right."""
    words = line.split()
    while words and re.fullmatch(r"[A-Z]+=\S*", words[0]):  # PYTHONPATH=.
        words = words[1:]
    match words:
        case ["make", *targets]:
            unknown = [target for target in targets if "=" not in target and target not in make_targets()]
            return f"no target {', '.join(unknown)}" if unknown else ""
        case ["python" | "python3", "main.py", *rest] | ["tiebreak", *rest]:
            return main_problem(rest)
        case ["python" | "python3" | "py", "-m", module, *rest]:
            return module_problem(module, rest)
        case ["python" | "python3", script, *rest] if script.endswith(".py") and not script.startswith(
            CLONED
        ):
            return script_problem(ROOT / script, rest)
        case [command, _, *_] if command in main.COMMANDS:
            return fragment_problem(words)
    return ""


@cache
def make_targets() -> frozenset[str]:
    """The targets of the Makefile that a person names."""
    return frozenset(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def main_problem(words: list[str]) -> str:
    if not words or words[0] in PLACEHOLDERS or words[0] in {"--help", "--version"}:
        return ""
    if words[0] not in main.COMMANDS:
        return f"no command {words[0]}"
    problems = (parse_problem(words[0], variant) for variant in variants(" ".join(words[1:])))
    return next(filter(None, problems), "")


def variants(arguments: str) -> Iterator[list[str]]:
    """The arguments with and without what stands in brackets, placeholders of numbers filled in."""
    for shown in (re.sub(r"\[[^\]]*\]", "", arguments), re.sub(r"[\[\]]", "", arguments)):
        yield ["1" if word in NUMBERS else word for word in shlex.split(shown) if word != "..."]


def parse_problem(command: str, words: list[str]) -> str:
    printed = io.StringIO()
    try:
        with redirect_stderr(printed), redirect_stdout(io.StringIO()):
            options = main.parser_of(command).parse_args(words)
    except SystemExit as end:
        return printed.getvalue().splitlines()[-1] if end.code else ""
    return judge_problem(command, options)


def judge_problem(command: str, options: argparse.Namespace) -> str:
    """What is wrong where nothing says who judges: one of several arguments can, so no parser asks for it."""
    if command == "judge" and options.model is options.recipe is options.regression_check is None:
        return "it names no model, recipe or run"
    if command == "audit" and options.dataset is None and not options.judge.isdecimal():
        return "it names neither a model with a dataset nor a run"
    return ""


def fragment_problem(words: list[str]) -> str:
    """What is wrong with a part of a command line, such as `runs rewrite` or `judge --plan`."""
    command, action = words[0], words[1]
    known = ACTIONS.get(command, ())
    if not action.startswith("-") and known and action not in known and not action.isupper():
        return f"{command} has no action {action}"
    options = options_of(
        command, action if command in {"runs", "annotations", "cluster"} and action in known else ""
    )
    unknown = set(_OPTION.findall(" ".join(words))) - options
    return f"no option {', '.join(sorted(unknown))}" if unknown else ""


@cache
def options_of(command: str, action: str = "") -> frozenset[str]:
    """The options that the help of a command, or of one of its actions, names."""
    printed = io.StringIO()
    parser = main.parser_of(command)
    with redirect_stdout(printed), suppress(SystemExit):
        parser.parse_args([*([action] if action else []), "--help"])
    return frozenset(_OPTION.findall(printed.getvalue()))


def module_problem(module: str, words: list[str]) -> str:
    """What is wrong with `python -m module ...`."""
    package, _, _ = module.partition(".")
    spec = find_spec(module) if find_spec(package) else None
    if spec is None or spec.origin is None:
        return "" if module == "pip" else f"no module {module}"  # not where another tool set this Python up
    script = Path(spec.origin)
    if script.name == "__init__.py":
        script = script.with_name("__main__.py")
    return script_problem(script, words) if script.is_relative_to(ROOT) else ""


def script_problem(script: Path, words: list[str]) -> str:
    if not script.is_file():
        return f"no file {script.name}"
    if not script.is_relative_to(ROOT) or any(part.startswith(".venv") for part in script.parts):
        return ""
    unknown = set(_OPTION.findall(" ".join(words))) - script_options(script)
    return f"no option {', '.join(sorted(unknown))}" if unknown else ""


@cache
def script_options(script: Path) -> frozenset[str]:
    return frozenset(_OPTION.findall(script.read_text(encoding="utf-8")))


@cache
def all_options() -> frozenset[str]:
    commands = [options_of(command) for command in main.COMMANDS]
    commands += [
        options_of(command, action) for command in ("runs", "annotations") for action in ACTIONS[command]
    ]
    scripts = [*(ROOT / "packaging").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]
    scripts += [ROOT / "packaging" / "linux" / "install.sh", *(ROOT / "models").rglob("*.py")]
    return frozenset().union(*commands, *map(script_options, scripts))


def option_problems(text: str, _page: Path) -> list[str]:
    """The options of a page that no command and no script has."""
    named = (_OPTION.match(code) for code in inline_code(text))
    return sorted({found[0] for found in named if found} - all_options())


# Links


def link_problems(text: str, page: Path) -> list[str]:
    """The links and pictures of a page that lead nowhere."""
    targets = [first or second for first, second in _LINK.findall(prose_of(text))]
    return [target for target in targets if not target.startswith("http") and not leads(page, target)]


def moved_problems(text: str, _page: Path) -> list[str]:
    """The links to pages that are known to have moved to another address."""
    return [first or second for first, second in _LINK.findall(text) if (first or second).startswith(MOVED)]


def leads(page: Path, target: str) -> bool:
    """Whether a link of a page leads to a file, and to a heading of it where it names one."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return False
    return not anchor or (file.suffix == ".md" and anchor in anchors(text_of(file)))


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        for heading in _HEADING.findall(prose_of(text))
    }


# Names of the code


def name_problems(text: str, _page: Path) -> list[str]:
    """The files, modules and their names on a page that are not there."""
    codes = inline_code(text)
    dotted = [code for code in codes if _DOTTED.fullmatch(code) and not resolves(code)]
    paths = [code for code in codes if _PATH.fullmatch(code) and not (ROOT / code).exists()]
    return [*dotted, *paths, *(code for code in codes if _FILE.fullmatch(code) and code not in file_names())]


@cache
def file_names() -> frozenset[str]:
    """The names of all files of the project, without their folders."""
    files = (file for room in ROOMS.split("|") for file in (ROOT / room).rglob("*"))
    return frozenset({file.name for file in files} | {file.name for file in ROOT.iterdir()})


def resolves(dotted: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        try:
            found: object = import_module(module)
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
        return True
    return False


def identifier_problems(text: str) -> list[str]:
    """The identifiers on a page that occur nowhere in the sources."""
    return [code for code in inline_code(text) if _NAME.fullmatch(code) and code not in source_words()]


@cache
def source_words() -> frozenset[str]:
    """Every word of the sources but of this file."""
    files = [
        ROOT / "main.py",
        *(file for room in ("engine", "gui", "tests", "bench") for file in (ROOT / room).rglob("*.py")),
    ]
    texts = (file.read_text(encoding="utf-8") for file in files if file != Path(__file__).resolve())
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))


def unfinished_problems(text: str, _page: Path) -> list[str]:
    """What stands where a number was to be filled in: a line of one word in capitals, or a word like it."""
    prose = _INLINE.sub("", _INDENTED.sub("", prose_of(text)))
    return [found.group() for found in _UNFINISHED.finditer(prose)]


def width_problems(text: str, _page: Path) -> list[str]:
    """Lines of prose of more than 120 characters; rows of tables and blocks of code may be longer."""
    lines = prose_of(text).splitlines()
    return [line for line in lines if len(line) > 120 and not line.lstrip().startswith("|")]


def heading_problems(text: str, _page: Path) -> list[str]:
    """Headings without a blank line before them."""
    return re.findall(r"(?<=[^\n]\n)#+ .+", prose_of(text))


def map_problems(text: str) -> list[str]:
    """What the map of the code names that is not there, and the packages that it lacks."""
    rows = map_rows(text)
    named = [word for row in rows for word in takewhile(lambda word: word.endswith("/"), row.split())]
    gone = [f"{path} does not exist" for path in named if not (ROOT / path).is_dir()]
    packages = {
        f"{room}/{folder.name}/"
        for room in ("engine", "gui")
        for folder in (ROOT / room).iterdir()
        if any(folder.glob("*.py"))
    }
    return gone + [f"{path} is missing" for path in sorted(packages - set(named))]


def map_rows(text: str) -> list[str]:
    return block_lines(section(text, "Map of the code"))


def table_of_imports(text: str) -> dict[str, frozenset[str]]:
    rows = re.findall(r"^\| `((?:engine|gui)\.\w+)` \| (.+) \|$", text, re.M)
    return {package: frozenset(allowed.split(", ")) - {"nothing"} for package, allowed in rows}


# The pages as they are

CHECKS: tuple[Check, ...] = (
    command_problems,
    option_problems,
    link_problems,
    moved_problems,
    name_problems,
    unfinished_problems,
    width_problems,
    heading_problems,
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_a_page_says_is_there(check: Check, page: Path) -> None:
    assert not check(text_of(page), page)


@pytest.mark.parametrize("page", READ_ONCE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_few_sentences_of_a_page_are_long(page: Path) -> None:
    assert long_share(text_of(page)) <= MOST_LONG


def test_the_readme_is_short() -> None:
    lines = text_of(README).splitlines()
    assert len(lines) <= MOST_LINES
    assert not [line for line in lines if len(line) > LONGEST_LINE]


def test_the_map_names_every_package_and_nothing_else() -> None:
    assert not map_problems(text_of(README))
    assert len(map_rows(text_of(README))) <= MOST_ROWS


def test_the_page_for_developers_names_what_is_in_the_sources() -> None:
    assert not identifier_problems(text_of(DOCS / "develop.md"))


def test_the_table_of_imports_is_that_of_the_test() -> None:
    assert table_of_imports(text_of(DOCS / "develop.md")) == MAY_IMPORT


@pytest.mark.parametrize("command", main.COMMANDS)
def test_every_option_of_a_command_is_described(command: str) -> None:
    options = set(options_of(command))
    if command == "runs":
        options.update(*(options_of(command, action) for action in ACTIONS[command]))
    described = set(_OPTION.findall(text_of(DOCS / "commands.md")))
    assert not options - described - {"--help"}


def test_the_table_of_commands_names_each_of_them() -> None:
    text = text_of(DOCS / "commands.md").partition("\n## ")[0]
    assert re.findall(r"^\| \[`([\w-]+)`\]\(", text, re.M) == list(main.COMMANDS)


def test_a_table_of_options_is_of_options_that_the_command_takes() -> None:
    text = text_of(DOCS / "commands.md")
    tables = 0
    for heading in re.findall(r"^##+ ([\w-]+)$", text, re.M):
        if heading not in main.COMMANDS:
            continue
        own = re.split(r"^##+ ", text.partition(f"# {heading}\n")[2], maxsplit=1, flags=re.M)[0]
        rows = re.findall(r"^\| (`--.+?) \|", own, re.M)
        assert not set(_OPTION.findall(" ".join(rows))) - options_of(heading), heading
        tables += bool(rows)
    assert tables == 4


def test_generated_blocks_are_those_that_the_settings_make(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(ROOT / file) for file in GENERATED]
    code = Cog().main(["cog", "--check", "--diff", "-I", str(ROOT), *files])
    said = capsys.readouterr().out
    assert code == 0, f"{said}\nMake them anew: python -m cogapp -r -I . {' '.join(GENERATED)}"


def test_every_picture_is_shown() -> None:
    shown = {target for page in PAGES for found in _LINK.findall(text_of(page)) for target in found}
    assert {picture.name for picture in DOCS.glob("*.png")} <= {Path(target).name for target in shown}


def test_every_page_can_be_reached_from_the_readme() -> None:
    linked = {first.partition("#")[0] for first, _ in _LINK.findall(text_of(README))}
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= linked


def test_every_decision_is_in_their_list() -> None:
    notes = {note.name for note in (DOCS / "decisions").glob("*.md")} - {"README.md"}
    assert {first for first, _ in _LINK.findall(text_of(DOCS / "decisions" / "README.md"))} == notes


def test_a_decision_says_what_would_change_it() -> None:
    asked = ["Question", "Decided", "Why", "Costs", "What would change it"]
    notes = [note for note in (DOCS / "decisions").glob("*.md") if note.name != "README.md"]
    assert not [note.name for note in notes if re.findall(r"^\*\*(.+?)\.\*\*", text_of(note), re.M) != asked]


def test_before_a_commit_runs_what_make_test_runs() -> None:
    made = re.findall(r"^\t\$\(BIN\)/((?:ruff|mypy).*)$", text_of(ROOT / "Makefile"), re.M)
    hooks = re.findall(r"entry: \.venv/bin/(.+)", text_of(ROOT / ".pre-commit-config.yaml"))
    assert hooks[: len(made)] == made


def test_the_version_to_cite_is_that_of_the_program() -> None:
    cited = text_of(ROOT / "CITATION.cff")
    assert f"\nversion: {VERSION}\n" in cited
    assert f"\nauthors:\n  - name: {AUTHORS}\n" in cited


WORDS = DOCS / "words.md"


def other_words() -> list[str]:
    """What is called otherwise here, by the last column of the page on words."""
    lines = WORDS.read_text(encoding="utf-8").splitlines()
    rows = (line.split("|") for line in lines if line.startswith("| "))
    return [word.strip() for row in rows for word in row[3].split(";") if word.strip() not in {"", "not"}]


def test_each_thing_has_one_word() -> None:
    assert len(other_words()) > 4
    shown = [path for folder in ("gui", "engine") for path in sorted((ROOT / folder).rglob("*.py"))]
    pages = [path for path in PAGES if path not in {WORDS, ROOT / "CHANGELOG.md"}]
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in (*shown, *pages)
        for word in other_words()
        if word in path.read_text(encoding="utf-8").replace(f'add_key(self, "{word}"', "")
    ]
    assert found == []
