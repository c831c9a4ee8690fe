"""Chat templates are rendered in child processes: what one does cannot hang or vary the program."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.core.errors import EngineBug, NoRoomError
from engine.core.events import Cancelled, CancelToken
from engine.llama.model import LlamaModel, Vocabulary
from engine.models.model_file import read_model_file, template_source
from engine.models.opening import open_template
from engine.models.templates import chat_template, model_memory
from engine.prompt.conversation import Frame
from engine.system.paths import cache_folder, self_command
from tests.able import has_other_places
from tests.random_models import byte_level_bpe, write_random_model
from tests.small_models import HEADER_TOKENS

FrameOf = Callable[[str | None], Frame]
ChildThat = Callable[[str], None]
NO_CHILD = "raise SystemExit('no child was expected')"
TURNS = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"


@pytest.fixture
def vocabulary(small_model: Callable[[str], Path]) -> Iterator[Vocabulary]:
    with LlamaModel(small_model("headers"), vocabulary_only=True) as model:
        yield Vocabulary(model)


@pytest.fixture
def frame_of(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> FrameOf:
    """The frame of a template, as a process gets it that has rendered none before."""

    def frame_of(source: str | None) -> Frame:
        monkeypatch.setattr("engine.models.templates._rendered", {})
        return chat_template(source, vocabulary, CancelToken()).frame

    return frame_of


def kept() -> int:
    """How many frames the cache holds."""
    with model_memory() as memory:
        (count,) = memory._db.execute("SELECT count(*) FROM frame").fetchone()
        return int(count)


@pytest.mark.parametrize(
    ("source", "said"), [(TURNS, ""), ("{{ raise_exception('never') }}", "never")], ids=["sound", "refused"]
)
def test_a_template_is_rendered_once_and_remembered_also_a_refusal_with_its_reason(
    frame_of: FrameOf, child_that: ChildThat, source: str, said: str
) -> None:
    first = frame_of(source)
    assert (said in first.note, bool(first.note)) == (True, bool(said))
    child_that(NO_CHILD)
    assert frame_of(source) == first
    assert frame_of(None).note == "The model has no chat template: plain text is used."


TOOLS = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]"
DOCUMENTS = TURNS + "{% if add_generation_prompt %}Use the documents.{% endif %}"
NEVER = "{{ raise_exception('never') }}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("templates", "begins", "said"),
    [
        (
            {"rag": TURNS, "tool_use": TOOLS},
            "[assistant]",
            "only templates called tool_use, rag: tool_use is used.",
        ),
        (
            {"rag": TURNS, "tool_use": NEVER},
            "<assistant>",
            "only templates called tool_use, rag: rag is used.",
        ),
        ({"rag": DOCUMENTS}, "<assistant>", "rag is used. The model's chat template lets replies begin with"),
        (
            {"rag": DOCUMENTS, "short": TURNS},
            "<assistant>",
            "only templates called rag, short: short is used.",
        ),
        (
            {"rag": NEVER},
            "\n\n",
            "only templates called rag. The model's chat template cannot be used (never)",
        ),
        ({"default": TURNS, "rag": TOOLS}, "<assistant>", ""),
    ],
    ids=[
        "as llama.cpp takes them",
        "the one that works",
        "with its own note",
        "the plainest",
        "none",
        "default",
    ],
)
def test_a_model_without_a_default_template_is_asked_by_one_of_those_with_names(
    tmp_path: Path, templates: dict[str, str], begins: str, said: str
) -> None:
    named = [{"name": name, "template": source} for name, source in templates.items()]
    path = write_random_model(tmp_path / "m.gguf", byte_level_bpe(HEADER_TOKENS), named)
    assert read_model_file(path).remarks == ()
    assert set(template_source(path).split("\n")) <= set(templates.values())
    with open_template(path, CancelToken()) as (_, template):
        assert template.frame.pieces[-2].endswith(begins)
        assert said in template.frame.note
        assert bool(template.frame.note) is bool(said)


@pytest.mark.slow
def test_a_damaged_memory_is_not_believed(frame_of: FrameOf) -> None:
    first = frame_of(TURNS)
    for damage in ("nonsense", '{"pieces": ["x"], "slots": [], "note": ""}'):
        with model_memory() as memory:
            memory._db.execute("UPDATE frame SET frame = ?", (damage,))
        assert frame_of(TURNS) == first


def test_a_template_is_rendered_where_nothing_can_be_remembered(frame_of: FrameOf) -> None:
    cache_folder().parent.mkdir(parents=True, exist_ok=True)
    cache_folder().write_text("a file where the folder should be", encoding="utf-8")
    assert not frame_of(TURNS).note


@pytest.mark.slow
def test_a_loop_without_an_end_is_ended(frame_of: FrameOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.prompt.conversation.RENDER_SECONDS", 0.6)
    loops = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    assert "it takes more than 1 seconds" in frame_of(loops + TURNS).note
    assert kept() == 1  # it was tried twice


@pytest.mark.slow
@pytest.mark.parametrize("text", ['"x".center(10**10)', '"%10000000000d" % 1'])
def test_a_text_larger_than_the_memory_is_refused(frame_of: FrameOf, text: str) -> None:
    frame = frame_of(f"{{{{ {text} }}}}" + TURNS)
    assert "cannot be used" in frame.note
    assert frame.note.endswith("plain text is used.")


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages[0].content | length }}" + TURNS,  # the length of a message
        "{{ raise_exception }}" + TURNS,  # a place in memory
        "{{ messages | map('upper') }}" + TURNS,
    ],
)
def test_what_cannot_be_repeated_is_refused(frame_of: FrameOf, source: str) -> None:
    if "raise_exception" in source and not has_other_places():
        pytest.skip("here an object has the same place in the memory of each process")
    assert "its output changes each time" in frame_of(source).note
    assert kept() == 1


KILLED = "import os, signal; os.kill(os.getpid(), getattr(signal, 'SIGKILL', signal.SIGTERM))"


@pytest.mark.parametrize(
    ("program", "kind", "said"),
    [
        (KILLED, NoRoomError, "could not be rendered now: its process was ended from outside"),
        ("raise SystemExit(3)", EngineBug, "exit code 3"),
    ],
    ids=["ended from outside", "a fault of ours"],
)
def test_a_child_that_did_not_fail_of_the_template_says_nothing_of_it(
    frame_of: FrameOf, child_that: ChildThat, program: str, kind: type[Exception], said: str
) -> None:
    child_that(program)
    with pytest.raises(kind, match=said):
        frame_of(TURNS)
    assert kept() == 0


def test_a_child_that_breaks_speaks_against_the_template(frame_of: FrameOf, child_that: ChildThat) -> None:
    child_that("import os; os.abort()")
    assert "crashes" in frame_of(TURNS).note


def test_a_limit_that_was_reached_once_only_is_no_limit(
    frame_of: FrameOf, child_that: ChildThat, tmp_path: Path
) -> None:
    first = frame_of(TURNS)
    (cache_folder() / "models.sqlite").unlink()
    met = tmp_path / "met"
    main = self_command()[-1]
    program = (
        f"import os, pathlib, runpy, sys; met = pathlib.Path({str(met)!r})\n"
        "if not met.exists(): met.touch(); os.abort()\n"
        f"sys.argv[0] = {main!r}; sys.path.insert(0, {str(Path(main).parent)!r})\n"
        f"runpy.run_path({main!r}, run_name='__main__')"
    )
    child_that(program)
    assert frame_of(TURNS) == first


def test_stop_ends_the_child(vocabulary: Vocabulary, child_that: ChildThat) -> None:
    child_that("import time; time.sleep(60)")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        chat_template(TURNS + "stopped", vocabulary, cancel)
