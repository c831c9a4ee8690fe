"""`prompt`: the exact prompt of one item, and the likeliest next tokens."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from engine.cli.shared import arguments as shared
from engine.cli.shared import console
from engine.core.errors import SetupError
from engine.core.events import CancelToken, followed
from engine.core.formatting import listed
from engine.core.items import Item, Method, Order
from engine.core.methods import parse_method
from engine.core.prompt_text import Preview
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset
from engine.judging import item_prompt
from engine.operations.judge_request import given_settings
from engine.settings.identity import refuse_unasked
from engine.settings.rows import DEFAULT_METHODS, JUDGED_BY, Group, Surface, rows_on
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore


def prompt() -> console.Parser:
    arguments = console.command_parser(
        prompt,
        _print_prompt,
        "Print the exact prompt of one item, up to where the label is read.\n"
        "prompt DATASET --model MODEL   the prompt of `judge` with the same options\n"
        "prompt RUN                     the prompt of this run of the store",
    )
    arguments.add_argument(
        "what", metavar="DATASET|RUN", help="a dataset (./3 for a file named 3), or the id of a run"
    )
    arguments.text("--model", "MODEL", f"{shared.MODEL_WORDS}; with RUN: its model, if it was moved")
    arguments.text("--id", "ID", "the item (the first one)")
    arguments.text("--criterion", "NAME", "the criterion (the first one)")
    arguments.choice("--order", [order.value for order in Order], "AB (default), or BA", Order.AB.value)
    words = f"the elicitation method ({shared.option_names(DEFAULT_METHODS)}, or the run's first)"
    arguments.choice("--method", [method.option for method in Method], words)
    arguments.text(
        "--question",
        "NAME",
        "the question of a method that has several (its first): A or B; or BCDA, permuted label tokens",
    )
    arguments.flag("--tokens", "one token per line: part, id, source, text")
    arguments.number("--next", "run the model, and print the N likeliest next tokens")
    judging = arguments.add_argument_group("a dataset, as in judge")
    shared.add_rubric(judging, "the criteria and their questions (the task's)")
    shared.add_settings_of(judging, Surface.PROMPT, Group.OUTPUT, Group.COMPUTER)
    shared.add_settings_of(
        judging, Surface.PROMPT, *(group for group in JUDGED_BY if group is not Group.OUTPUT)
    )
    shared.add_examples(arguments)
    shared.add_columns(arguments, "dataset")
    run_store = arguments.add_argument_group("a run")
    run_store.file("--dataset", "its dataset, if it was moved")
    run_store.store("runs")
    shared.add_settings(arguments.add_argument_group("computer"), "threads")
    return arguments


def _print_prompt(options: argparse.Namespace) -> None:
    if options.next is not None and options.next < 1:
        raise SetupError(f"--next is {options.next}.", "Use 1 or more.")
    with console.interruptible() as cancel:
        question = _question(options, cancel)
        criterion = _criterion(options.criterion, question)
        order = Order(options.order)
        if order not in question.settings.orders:
            raise SetupError(f"This run shows each pair only in the order AB, not in {order}.", "Use AB.")
        made = _prompt(question, (criterion, order), options, cancel)
        shown = made.preview
        if options.tokens:
            for line in _token_lines(shown):
                print(line)
        else:
            print(shown.text)
        if options.next is not None:
            found = followed(
                item_prompt.read_next_tokens(cancel, question, options.next),
                lambda event: console.tell(event.what),
            )
            wanted = criterion, order, made.asked
            one = next(one for one in found if (one.criterion, one.order, one.asked) == wanted)
            table = console.printed(item_prompt.next_table(one))
            print(f"\nNext token ({console.printable(criterion)}, {order}):\n{table}")


def _question(options: argparse.Namespace, cancel: CancelToken) -> item_prompt.ItemQuestion:
    if options.what.isdecimal():
        return _question_of_run(int(options.what), options, cancel)
    if options.model is None:
        raise SetupError("--model is missing: the prompt depends on the model.", "Name one: --model MODEL")
    if options.dataset is not None:
        raise SetupError("--dataset names the moved dataset of a stored run.", "Remove it.")
    setup = _setup(options, Path(options.what), shared.model_file(options.model))
    dataset = shared.read_dataset(options, setup.dataset_path, cancel, setup.rubric)
    return item_prompt.question_of_setup(setup, _item(dataset, options.id), cancel)


def _question_of_run(
    run_id: int, options: argparse.Namespace, cancel: CancelToken
) -> item_prompt.ItemQuestion:
    own = ("rubric", *(row.name for row in rows_on(Surface.PROMPT)))
    if given := [name for name in own if getattr(options, name) is not None]:
        names = ", ".join(map(shared.option_of, given))
        raise SetupError(
            f"Run {run_id} has its own settings: {names} cannot change them.", "Remove these options."
        )
    with RunStore(options.store) as store:
        stored = store.run(run_id)
    refuse_unasked(stored, "be used for a prompt")
    if options.model is not None:
        identity = replace(stored.identity, model_path=shared.model_file(options.model))
        stored = replace(stored, identity=identity)
    item = _item(shared.items_of_run(options, stored, options.dataset, cancel), options.id)
    setup = _setup(options, stored.identity.dataset_path, stored.identity.model_path)
    return item_prompt.question_of_run(stored, setup, item, cancel)


def _setup(options: argparse.Namespace, dataset: Path, model: Path) -> RunSetup:
    rubric = shared.rubric_of(options) or ELOQUENT
    return RunSetup(
        dataset_path=dataset,
        model_path=model,
        rubric=rubric,
        criteria=rubric.names,
        methods=DEFAULT_METHODS if (method := _method(options)) is None else (method,),
        **shared.given_examples(options),
        **given_settings(options),
    )


def _method(options: argparse.Namespace) -> Method | None:
    return None if options.method is None else parse_method(options.method)


def _item(dataset: Dataset, item_id: str | None) -> Item:
    ids = dataset.ids
    if item_id is None:
        return dataset[0]
    if item_id not in ids:
        raise SetupError(
            f"{console.printable(dataset.name)} has no item {console.printable(item_id)}.",
            f"Use another id, for example {listed(ids)}.",
        )
    return dataset[ids.index(item_id)]


def _criterion(name: str | None, question: item_prompt.ItemQuestion) -> str:
    names = question.rubric.names
    if name is not None and name not in names:
        known = "Unknown criterion" if question.run is None else "Not a criterion of this run"
        raise SetupError(f"{known}: {console.printable(name)}.", f"Choose from {', '.join(names)}.")
    return name or names[0]


def _prompt(
    question: item_prompt.ItemQuestion,
    place: tuple[str, Order],
    options: argparse.Namespace,
    cancel: CancelToken,
) -> item_prompt.OnePrompt:
    method = _method(options)
    # The prompt at this place comes first; those of the other criteria are not waited for.
    facts, one = islice(item_prompt.shown_prompts(question, place, cancel, method, options.question), 2)
    assert isinstance(facts, item_prompt.PromptFacts)
    assert isinstance(one, item_prompt.OnePrompt)
    for note in facts.notes:
        console.tell(console.printable(note))
    if facts.shortening is not None:
        console.tell(facts.shortening.in_words)
    if not facts.fits:
        console.tell(
            f"Item {console.printable(question.item.id)} needs {facts.cells:,} tokens, the context holds"
            f" {facts.context:,}: it is not judged."
        )
    shown = one.preview
    console.tell(
        f"{len(shown.tokens):,} tokens: {shown.stem:,} of the stem, {shown.trunk:,} of the item,"
        f" {shown.branch:,} of the question."
    )
    if not shown.exact:
        console.tell("This tokenizer normalises the text: --tokens shows what its tokens decode to.")
    if one.asked.question.reasons:
        console.tell("Here the model writes its reasoning; the answer is read after it.")
    return one


def _token_lines(shown: Preview) -> Iterable[str]:
    """Of each token its position, part of the prompt, id, source, and decoded text as JSON."""
    for place, token in enumerate(shown.tokens):
        part = "stem" if place < shown.stem else "item" if place < shown.stem + shown.trunk else "question"
        whose = "+".join(token.sources)
        yield f"{place:6}  {part:8}  {token.id:7}  {whose:12}  {json.dumps(token.piece, ensure_ascii=False)}"
