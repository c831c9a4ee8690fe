"""Frames: what a template writes around the messages, where a reply begins, what is refused."""

import pytest

from engine.core.codec import plain, record_of
from engine.prompt.conversation import REPLY, SYSTEM, USER, Frame, UnusableTemplateError, plain_frame
from engine.prompt.rendering import LONGEST_FRAME, render_frame

TURNS = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


def asking(text: str = "") -> str:
    """Turns, and what the template lets a reply go on from."""
    return TURNS + "{% if add_generation_prompt %}<assistant>" + text + "{% endif %}"


def rendered(source: str) -> Frame:
    return render_frame(source, "<s>", "</s>")


def begins(source: str) -> str:
    """What stands between the user's message and the first word of a reply."""
    return rendered(source).pieces[-2]


def test_a_frame_holds_the_text_around_the_messages_in_their_order() -> None:
    frame = rendered(asking())
    turns = ("<assistant>", "<user>")
    assert frame == Frame(("<system>", "<user>", "<assistant>", ""), (SYSTEM, USER, REPLY), turns=turns)


def test_turns_are_what_stands_around_the_messages_of_any_conversation() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'user' %}[{{ loop.index }}] {{ m.content }}{% else %}"
        "{{ m.content | upper if m.role == 'system' else m.content }}</s>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}>{% endif %}"
    )
    assert rendered(source).turns == ("</s>", "</s>[3] ", "</s>[4] ", "</s>[5] ", "</s>[6] ", ">")


def test_a_template_that_takes_no_replies_shows_no_turns_of_theirs() -> None:
    source = (
        "{% if messages[-1].role != 'user' or messages | length > 2 %}{{ raise_exception('no') }}{% endif %}"
    )
    assert rendered(source + asking()).turns == ()


def test_a_template_that_refuses_a_system_message_gets_none() -> None:
    source = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}"
    assert rendered(source + asking()).slots == (USER, REPLY)


def test_a_space_before_a_finished_reply_belongs_to_its_start() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'assistant' %} {{ m.content }}"
        "{% else %}[INST]{{ m.content }}[/INST]{% endif %}{% endfor %}"
    )
    assert begins(source) == "[/INST] "


@pytest.mark.parametrize("name", ["enable_thinking", "thinking", "reasoning", "enable_reasoning", "think"])
def test_every_known_switch_turns_thinking_off(name: str) -> None:
    source = asking(f"<t>{{% if not {name} | default(true) %}}</t>{{% endif %}}")
    frame = rendered(source)
    assert (frame.pieces[-2], frame.note) == ("<assistant><t></t>", "")


def test_a_switched_off_thought_is_followed_by_what_begins_a_finished_reply() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'assistant' %}<|BOT|><|START_TEXT|>{{ m.content }}"
        "{% else %}<|USER|>{{ m.content }}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|BOT|><|START_THINKING|>"
        "{% if not reasoning | default(true) %}<|END_THINKING|>{% endif %}{% endif %}"
    )
    frame = rendered(source)
    assert frame.pieces[-2] == "<|BOT|><|START_THINKING|><|END_THINKING|><|START_TEXT|>"
    assert not frame.note


def test_a_thought_in_words_without_a_switch_is_left_out_and_said_so() -> None:
    frame = rendered(asking("\nHere are my steps:\n"))
    assert frame.pieces[-2] == "<assistant>"
    assert "“Here are my steps:”" in frame.note
    assert "where finished replies begin" in frame.note


@pytest.mark.parametrize("tag", ["think", "seed:think", "mm:think", "thinking", "reasoning"])
def test_an_open_thought_is_closed_empty_and_said_so(tag: str) -> None:
    frame = rendered(asking(f"<{tag}>\n"))
    assert frame.pieces[-2] == f"<assistant><{tag}>\n\n</{tag}>\n\n"
    assert f"opens a reasoning block (<{tag}>)" in frame.note


def test_a_switched_off_thought_is_not_closed_twice() -> None:
    source = (
        "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}</think>{% endif %}"
        "{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant><think>"
        "{% if not thinking | default(true) %}</think>{% endif %}{% endif %}"
    )
    frame = rendered(source)
    assert (frame.pieces[-2], frame.note) == ("<assistant><think></think>", "")


def test_a_thought_that_is_closed_in_finished_replies_alone_is_said() -> None:
    source = (
        "{% for m in messages %}<{{ m.role }}>"
        "{% if m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}"
        "{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant><think>\n{% endif %}"
    )
    frame = rendered(source)
    assert frame.pieces[-2] == "<assistant><think>\n\n</think>\n\n"
    assert "opens a reasoning block (<think>), and no switch for it is known" in frame.note


def test_words_in_the_system_message_are_a_switch_too() -> None:
    source = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content | replace('/no_think', '') }}{% endfor %}"
        "{% if add_generation_prompt %}<assistant>"
        "{% if '/no_think' in messages[0].content %}<think></think>{% else %}<think>\n{% endif %}{% endif %}"
    )
    frame = rendered(source)
    assert (frame.pieces, frame.note) == (("<system>", "<user>", "<assistant><think></think>", ""), "")


def test_a_model_that_may_choose_to_think_is_said() -> None:
    source = (
        "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}<|final|>{% endif %}"
        "{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    frame = rendered(source)
    assert frame.pieces[-2] == "<assistant><|final|>"
    assert "lets the model begin with reasoning" in frame.note


def test_tojson_takes_what_templates_give_it() -> None:
    source = "{{ {'b': 'é', 'a': 1} | tojson(ensure_ascii=False, separators=(',', ':'), sort_keys=True) }}"
    assert rendered(source + TURNS).pieces[0] == '{"a":1,"b":"é"}<system>'


def test_a_thought_that_finished_replies_close_is_closed_for_a_verdict() -> None:
    source = (
        "{% for m in messages %}<{{ m.role }}>"
        "{% if m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}"
        "{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    frame = rendered(source)
    assert frame.pieces[-2] == "<assistant><think>\n\n</think>\n\n"
    assert "lets the model begin with reasoning" in frame.note


def test_where_finished_replies_are_not_written_the_prompt_for_one_counts() -> None:
    source = "{% for m in messages if m.role != 'assistant' %}{{ m.content }}{% endfor %}<bot>"
    frame = rendered(source)
    assert (frame.pieces[-2], frame.note) == ("<bot>", "")


@pytest.mark.parametrize("char", "aq7Z")
def test_a_template_that_changes_any_letter_is_noticed(char: str) -> None:
    with pytest.raises(UnusableTemplateError, match="0 times"):
        rendered(TURNS.replace("m.content", f"m.content | replace('{char}', '')"))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{% if %}", "Expected an expression"),
        ("{{ raise_exception('never') }}", "never"),
        ("{{ raise_exception() }}", "gives no reason"),
        ("{{ raise_exception('x' * 5000) }}", "x…"),
        ("no messages at all", "0 times"),
        ("{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", "2 times"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ 'a' * 999999999999 }}", "MemoryError"),
        ("{{ cycler().next() }}", "at least one item"),
        ("{% macro m(x, x) %}{% endmacro %}" + TURNS, "duplicate argument"),
        ("{% break %}" + TURNS, "'break' outside loop"),
        ("{% for i in [1] %}" * 25 + TURNS + "{% endfor %}" * 25, "nested"),
        ("{{ [1, 2] | random }}" + TURNS, "something else each time"),
        ("{{ lipsum() }}" + TURNS, "something else each time"),
        ('{{ "\\ud800" }}' + TURNS, "lone surrogate"),
        (f"{{{{ 'x' * {LONGEST_FRAME + 1} }}}}" + TURNS, "characters around two messages"),
        ("{{ messages.append(1) }}" + TURNS, "append"),
        ("{{ ''.__class__.__mro__ }}" + TURNS, "unsafe"),
        ("{% include 'other' %}" + TURNS, "loader"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_reason(source: str, reason: str) -> None:
    with pytest.raises(UnusableTemplateError) as refused:
        rendered(source)
    assert reason in str(refused.value)
    assert len(str(refused.value)) <= 201


def test_a_date_does_not_change_from_day_to_day() -> None:
    assert rendered("{{ strftime_now('%Y-%m-%d') }}" + TURNS).pieces[0] == "2024-07-26<system>"


def test_a_frame_is_written_down_and_read_again() -> None:
    frame = rendered(asking("Steps:\n"))
    assert record_of(plain(frame), Frame) == frame


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"pieces": ["a"], "slots": ["user", "reply"], "note": ""},
        {"pieces": ["a", "b", 3], "slots": ["user", "reply"], "note": ""},
        {"pieces": ["a", "b", "c"], "slots": ["user", "user"], "note": ""},
        {"pieces": None, "slots": None, "note": None},
    ],
)
def test_what_is_no_frame_is_not_read_as_one(value: dict[str, object]) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        record_of(value, Frame)


def test_plain_text_holds_both_messages_and_says_why() -> None:
    frame = plain_frame("The model has no chat template")
    assert frame.slots == (SYSTEM, USER, REPLY)
    assert frame.note == "The model has no chat template: plain text is used."
