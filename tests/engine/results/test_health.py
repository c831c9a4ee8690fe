"""The health of a judge: planted signs are found, each by its limit, and sound judges are left alone."""

import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from engine.core.errors import Hint
from engine.core.events import CancelToken, HealthSeen, ItemJudged, RunEnded
from engine.core.health import Health, HealthVerdict, Sign
from engine.core.items import PREFERENCES, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, Judgment, RawPrediction
from engine.core.methods import raw_prediction_of
from engine.core.numeric import clopper_pearson, worth_of
from engine.core.rubric import ELOQUENT, PromptWording
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import open_model
from engine.judging.run import run_judging
from engine.results import health as measured
from engine.results.exports import as_json
from engine.results.health import LEAST_ITEMS, LIMITS, MOST_ITEMS, Answer, answers_health
from engine.results.run_results import load_results
from engine.settings.rows import JudgeSettings, Mode
from engine.store.run_store import RunStore
from tests.commands import ROOT
from tests.judged import system
from tests.steps import plan_with, results_of

SOUND = "Response A names the capital, while response B does not."
COUNT, LETTERS = 400, Method.LABEL_TOKENS
JUDGES, LOOK, DOES_NOT_JUDGE = HealthVerdict.JUDGES, HealthVerdict.LOOK, HealthVerdict.DOES_NOT_JUDGE


def sound(place: int) -> Answer:
    """What a good judge gives: every label in turn."""
    return Answer(PREFERENCES[place % 4], SOUND, cut=False, answer_mass=0.99, flipped=False)


def health(change: Callable[[int, Answer], Answer], criteria: int = 5, count: int = COUNT) -> Health:
    """The health of a sound judge with changed answers."""
    names = ELOQUENT.names[:criteria]
    return answers_health(
        {name: [change(place, sound(place)) for place in range(count)] for name in names}, explains=True
    )


def some(share: float, **changes: object) -> Callable[[int, Answer], Answer]:
    """Changes a share of the answers."""
    return lambda place, answer: replace(answer, **changes) if place < share * COUNT else answer  # type: ignore[arg-type]


def test_labels_that_were_read_in_one_order_are_no_proof_for_or_against() -> None:
    half = health(lambda place, answer: replace(answer, flipped=True if place < COUNT / 2 else None))
    (found,) = half.symptoms
    assert (found.sign, set(found.values.values())) == (Sign.FLIPPED, {0.5})
    assert found.text.startswith("At least 50.0 % of the labels on all criteria are position-inconsistent")
    assert "1,000 of 2,000 labels were read in both orders" in found.text
    # Of those few that were read all are flipped; of all labels that is too small a share to say anything.
    few = health(lambda place, answer: replace(answer, flipped=True if place < 10 else None))
    assert few.verdict is JUDGES
    whole = health(some(0.5, flipped=True)).symptoms[0]
    assert whole.text.startswith("50.0 % of the labels")
    assert "read in both orders" not in whole.text


def test_a_sound_judge_has_no_signs() -> None:
    found = health(lambda _place, answer: answer)
    assert (found.verdict, found.symptoms, found.doubted) == (JUDGES, (), False)
    assert found.sentences() == ["No technical problem in the 400 answers."]


def test_of_more_answers_than_are_looked_at_it_says_how_many_were() -> None:
    labels = [PREFERENCES[place % 4] for place in range(3000)]
    given = system(dict.fromkeys(ELOQUENT.names, labels))
    said = "No technical problem in the 2,000 of 3,000 answers checked."
    assert measured.submission_health(given.submission).headline == said


@pytest.mark.parametrize(
    ("change", "sign", "verdict"),
    [
        (some(1, answer_mass=0.6), Sign.ANSWER_MASS, LOOK),
        (some(1, answer_mass=0.3), Sign.ANSWER_MASS, DOES_NOT_JUDGE),
        (some(1, method_masses={LETTERS: 0.99, Method.POINTWISE_YES_NO: 0.1}), Sign.METHOD_MASS, LOOK),
        (some(0.4, flipped=True), Sign.FLIPPED, LOOK),
        (some(0.6, flipped=True), Sign.FLIPPED, DOES_NOT_JUDGE),
        (some(0.2, label=None, unscored=True), Sign.UNSCORED, LOOK),
        (some(0.6, label=None, unscored=True), Sign.UNSCORED, DOES_NOT_JUDGE),
        (some(0.93, label=PREFERENCES[2]), Sign.ONE_LABEL, LOOK),
        (some(1, label=PREFERENCES[2]), Sign.ONE_LABEL, DOES_NOT_JUDGE),
        (some(1, seen=(PREFERENCES[0],) * 2), Sign.ONE_LABEL, DOES_NOT_JUDGE),  # but for places all is well
        (some(0.2, text=None), Sign.UNEXPLAINED, LOOK),
        (some(0.2, text="It is a good answer. It is a good answer. B."), Sign.REPEATED, LOOK),
        (some(0.3, cut=True), Sign.CUT, LOOK),
        (some(0.4, text="The verdict is one letter:"), Sign.NAMELESS, LOOK),
    ],
)
def test_a_planted_sign_is_found_alone(
    change: Callable[[int, Answer], Answer], sign: Sign, verdict: HealthVerdict
) -> None:
    found = health(change)
    (symptom,) = found.symptoms
    assert (symptom.sign, found.verdict, symptom.limit) == (sign, verdict, LIMITS[sign].look)
    assert set(symptom.values) <= {*ELOQUENT.names, *PREFERENCES, Method.POINTWISE_YES_NO}
    assert str(symptom.hint) in found.sentences()[-1]
    assert found.as_json()["signs"][0]["values"] == symptom.values


@pytest.mark.parametrize("sign", LIMITS)
def test_what_is_just_within_a_limit_is_no_sign(sign: Sign) -> None:
    share = LIMITS[sign].look
    changes: dict[Sign, Callable[[int, Answer], Answer]] = {
        Sign.UNSCORED: some(share, label=None, unscored=True),
        Sign.ANSWER_MASS: some(1, answer_mass=share),
        Sign.METHOD_MASS: some(1, method_masses={LETTERS: 1.0, Method.POINTWISE_GRADE: share}),
        Sign.FLIPPED: some(share, flipped=True),
        Sign.ONE_LABEL: lambda place, answer: replace(answer, label=PREFERENCES[place >= share * COUNT]),
        Sign.UNEXPLAINED: some(share, text=None),
        Sign.REPEATED: some(share, text="So it is good, B. So it is good, B."),
        Sign.CUT: some(share, cut=True),
        Sign.NAMELESS: some(share, text="Well."),
    }
    assert health(changes[sign]).verdict is JUDGES


def test_explanations_in_another_language_are_not_searched_for_english_names() -> None:
    said = [replace(sound(place), text="Die erste ist besser.") for place in range(COUNT)]
    answers = dict.fromkeys(ELOQUENT.names, said)
    assert [symptom.sign for symptom in answers_health(answers, explains=True).symptoms] == [Sign.NAMELESS]
    assert answers_health(answers, explains=True, english=False).verdict is JUDGES
    assert measured.in_english(ELOQUENT)
    german = PromptWording(explanation="Begründung:")
    assert not measured.in_english(replace(ELOQUENT, wording=german))


def test_one_bad_criterion_of_five_does_not_condemn_a_judge() -> None:
    answers = {name: [sound(place) for place in range(COUNT)] for name in ELOQUENT.names}
    answers["safety"] = [replace(answer, answer_mass=0.1) for answer in answers["safety"]]
    found = answers_health(answers, explains=True)
    assert found.verdict is LOOK
    assert list(found.symptoms[0].values) == ["safety"]


@pytest.mark.parametrize(("criteria", "verdict"), [(1, LOOK), (2, LOOK), (3, DOES_NOT_JUDGE)])
def test_one_label_on_one_or_two_criteria_is_to_be_looked_at(criteria: int, verdict: HealthVerdict) -> None:
    assert health(some(1, label=PREFERENCES[2]), criteria=criteria).verdict is verdict


def test_a_file_where_one_response_is_always_better_speaks_against_no_judge() -> None:
    assert health(some(1, label=PREFERENCES[0], seen=PREFERENCES[:2])).verdict is JUDGES
    # By labels alone, or in one order, nobody knows whether the place or the text decided.
    (symptom,) = health(some(1, label=PREFERENCES[0])).symptoms
    assert (symptom.sign, symptom.serious) == (Sign.ONE_LABEL, False)
    assert "Both orders would show whether this is position bias" in symptom.text


@pytest.mark.parametrize(("place", "shown"), [(0, "first"), (1, "second")])
def test_a_judge_that_goes_by_the_place_does_not_judge(place: int, shown: str) -> None:
    found = health(some(1, seen=(PREFERENCES[place],) * 2, flipped=True))
    assert found.verdict is DOES_NOT_JUDGE
    assert f"100.0 % of all answers prefer the response shown {shown}" in found.symptoms[1].text


def test_what_may_be_chance_is_neither_a_sign_nor_nothing() -> None:
    found = health(lambda place, answer: replace(answer, flipped=place < 4), count=10)
    assert (found.verdict, found.doubted, found.in_short) == (HealthVerdict.TOO_FEW, False, "")
    headline, said = found.sentences()
    assert headline == "Too few items to tell whether the model judges: 10 items."
    assert said.startswith("- This may be chance: 40.0 % of the labels on all criteria are position-incons")
    assert [(each["sign"], each["sure"]) for each in found.as_json()["signs"]] == [("flipped", False)]
    assert health(lambda place, answer: replace(answer, flipped=place < 160)).verdict is LOOK


def test_a_run_whose_items_nearly_all_have_no_label_does_not_judge() -> None:
    unscored = Answer(None, None, unscored=True)
    some_labels = health(lambda place, answer: answer if place < LEAST_ITEMS else unscored, count=2000)
    no_label = health(lambda _place, _answer: unscored, count=2000)
    for found in (some_labels, no_label):
        assert (found.verdict, found.items) == (DOES_NOT_JUDGE, 2000)
    assert "99.5 % of the judgments on all criteria have no label." in some_labels.symptoms[0].text
    assert health(lambda _place, _answer: unscored, count=9).verdict is HealthVerdict.TOO_FEW


UNSCORED = Answer(None, None)


def test_items_of_which_no_label_was_asked_are_not_looked_at() -> None:
    found = health(lambda _place, _answer: UNSCORED)
    assert (found.verdict, found.items) == (HealthVerdict.TOO_FEW, 0)
    few = health(lambda place, answer: answer if place < LEAST_ITEMS - 1 else UNSCORED)
    assert (few.verdict, few.items) == (HealthVerdict.TOO_FEW, LEAST_ITEMS - 1)
    assert answers_health({}, explains=True) == Health(0, enough=False)


def test_a_criterion_with_few_judgments_says_nothing() -> None:
    answers = {name: [sound(place) for place in range(COUNT)] for name in ELOQUENT.names}
    answers["safety"] = [Answer(PREFERENCES[0], SOUND, flipped=True), *[UNSCORED] * (COUNT - 1)]
    assert answers_health(answers, explains=True).verdict is JUDGES


@pytest.mark.parametrize(
    ("change", "count", "said"),
    [
        (some(1, flipped=True), 8, "100.0 % of the labels on all criteria are position-inconsistent"),
        (some(1, flipped=True), 6, None),
        (lambda place, answer: replace(answer, flipped=place < 6), 8, None),  # by chance perhaps
        (some(1, answer_mass=0.01), 9, "The answer mass on all criteria is 1.0 %"),
        (some(1, answer_mass=0.6), 9, None),
        (some(1, label=PREFERENCES[0]), 9, None),
        (some(1, text=None), 9, None),
    ],
)
def test_few_items_say_only_what_is_plain_already(
    change: Callable[[int, Answer], Answer], count: int, said: str | None
) -> None:
    found = health(change, count=count)
    assert (found.verdict, found.doubted) == (HealthVerdict.TOO_FEW, said is not None)
    assert f"Too few items to tell whether the model judges: {count} items." in found.headline
    if said is not None:
        assert said in found.symptoms[0].text
        assert found.headline.endswith("But its answers already show:")
        assert "too few items to assess the model, but they already show problems" in found.in_short


def test_labels_alone_are_not_asked_for_explanations() -> None:
    answers = {"safety": [replace(sound(place), text=None) for place in range(COUNT)]}
    assert answers_health(answers, explains=False).verdict is JUDGES
    assert answers_health(answers, explains=True).verdict is LOOK


@pytest.mark.parametrize("count", [MOST_ITEMS + 500, 3 * MOST_ITEMS])
def test_of_very_many_items_some_are_looked_at_spread_over_all(count: int) -> None:
    labels = [PREFERENCES[place // 7 % 4] for place in range(count)]
    texts = [SOUND if place < count / 2 else None for place in range(count)]
    found = measured.submission_health(system({"safety": labels}, {"safety": texts}).submission)
    assert found.items == MOST_ITEMS
    assert found.symptoms[0].values["safety"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Response A is better.", True),
        ("A is polite.", True),
        ("Only B answers the question.", True),
        ("Both are safe.", True),
        ("Neither does what was asked.", True),
        ("The first response is shorter.", True),
        ("A provides a clear answer.", True),
        ("Here only A gave the number.", True),
        ("Model A provides more detail.", True),
        ("The former is more detailed than the latter.", True),
        ("Response 1 is better.", True),
        ("A good answer.", False),
        ("The answer a person needs is here.", False),
        ("The response D is the correct answer.", False),
        ("The verdict is one letter:", False),
    ],
)
def test_what_names_a_response(text: str, names: bool) -> None:
    assert measured.names_a_response(text) is names


# Real judges


def human_answers(dataset: Dataset) -> dict[str, list[Answer]]:
    """What people gave, as if a judge had."""
    return {
        name: [
            Answer(label, item.gold[name].explanation)
            for item in dataset
            if name in item.gold and isinstance(label := item.gold[name].label, Preference | None)
        ]
        for name in dataset.criteria
    }


def test_people_judge(shared_data: Path) -> None:
    examples = ROOT / "examples"
    task = shared_data / "eloquent" / "validation.tsv"
    for path in (examples / "demo.tsv", examples / "sample.tsv", task):
        answers = human_answers(load_dataset(path))
        assert answers_health(answers, explains=True).verdict is JUDGES


@pytest.mark.slow
def test_the_demo_judge_judges_its_world(demo_store: Path) -> None:
    results = results_of(demo_store)
    assert measured.run_health(results).verdict is JUDGES
    assert as_json(results)["health"]["verdict"] == "judges"


@pytest.mark.slow
def test_a_model_with_random_weights_does_not_and_the_run_says_so_early(
    small_model: Callable[[str], Path], tmp_path: Path
) -> None:
    items = load_dataset(ROOT / "examples" / "sample.tsv").head(LEAST_ITEMS + 2)
    plan = plan_with(small_model("headers"), items, JudgeSettings(mode=Mode.LABELS, context=4096))
    plan = replace(plan, rubric=ELOQUENT.only(("relevance", "safety")))
    with RunStore(tmp_path / "runs.sqlite") as store:
        events = list(run_judging(plan, store, lambda: open_model(plan, CancelToken())))
        results = load_results(store, 1)
    kinds = [type(event) for event in events if isinstance(event, ItemJudged | HealthSeen | RunEnded)]
    early = kinds.index(HealthSeen)
    assert kinds[:early] == [ItemJudged] * LEAST_ITEMS
    assert kinds[early + 1 :] == [ItemJudged, ItemJudged, HealthSeen, RunEnded]
    *_, seen = (event.health for event in events if isinstance(event, HealthSeen))
    assert seen == measured.run_health(results)
    assert seen.verdict is DOES_NOT_JUDGE
    assert Sign.ANSWER_MASS in {symptom.sign for symptom in seen.symptoms}


def test_the_documented_limits_are_those_that_count() -> None:
    page = (ROOT / "docs" / "how-it-judges.md").read_text(encoding="utf-8")
    table = page.split("## Does the model judge?")[1].split("\n\n")[2]
    cells = [[cell.strip() for cell in line.split("|")[2:4]] for line in table.splitlines()[2:]]
    for sign, (look, serious) in zip(Sign, cells, strict=True):
        method = "below" if sign in {Sign.ANSWER_MASS, Sign.METHOD_MASS} else "above"
        limit = LIMITS[sign]
        assert look == f"{method} {100 * limit.look:.0f} %"
        assert serious == (f"{method} {100 * limit.serious:.0f} %" if limit.serious else "")


def test_of_several_ways_the_one_that_is_understood_counts_and_the_others_are_named() -> None:
    watch = measured.HealthWatch(ELOQUENT, explains=False)
    for place in range(COUNT):
        label = PREFERENCES[place % 4]
        sure = tuple(math.log(0.97 if each is label else 0.01) for each in PREFERENCES)
        raw_predictions = (
            RawPrediction(Order.AB, sure),  # type: ignore[arg-type]
            raw_prediction_of(
                Method.POINTWISE_YES_NO, Order.AB, [AnswerLogProbs(each, (-9.0, -9.0)) for each in "AB"]
            ),
        )
        facts = (label, (0.25, 0.25, 0.25, 0.25), None, 0.5, raw_predictions)
        watch.add(Judgment(str(place), name, *facts) for name in ELOQUENT.names)
    found = watch.health
    assert [symptom.sign for symptom in found.symptoms] == [Sign.METHOD_MASS]
    assert found.verdict is LOOK
    assert "is low: absolute (0.0 %)" in found.symptoms[0].text


# When a limit is surely passed: exactly as seldom by chance as is said, however often it is looked at.


LOOKS = (10, 20, 40, 80, 160, 320, 640, 1280, MOST_ITEMS)


def alarms(limit: float, uncertainty: float) -> float:
    """How probable an alarm is at any of the looks, where the true share is the limit itself."""
    still, said = np.ones(1), 0.0  # of each count that was found so far, and no alarm
    for seen, items in pairwise((0, *LOOKS)):
        more = items - seen
        still = np.convolve(still, binom.pmf(np.arange(more + 1), more, limit))
        found = [measured.Mean(count / items, items) for count in range(items + 1)]
        beyond = [one.is_significantly_beyond(limit, below=False, uncertainty=uncertainty) for one in found]
        said += float(still[beyond].sum())
        still[beyond] = 0
    return said


@pytest.mark.parametrize(
    ("limit", "criteria"), [(LIMITS[Sign.FLIPPED].look, 1), (LIMITS[Sign.FLIPPED].look, 5), (0.05, 5)]
)
def test_in_few_runs_chance_alone_makes_a_sign_at_any_look(limit: float, criteria: int) -> None:
    of_one = alarms(limit, measured.UNCERTAINTY / criteria)
    assert 0.02 < 1 - (1 - of_one) ** criteria < 0.05


def test_a_watch_is_due_at_these_looks_alone() -> None:
    watch, due = measured.HealthWatch(ELOQUENT, explains=False), []
    for item in range(1, MOST_ITEMS):
        watch.items = item
        if watch.is_due:
            due.append(item)
    assert (*due, MOST_ITEMS) == LOOKS
    assert due[0] == LEAST_ITEMS


def test_a_limit_is_passed_where_the_whole_interval_has_passed_it() -> None:
    # Of Clopper and Pearson's table: 8 of 10 with a tail of 2.5 %.
    assert clopper_pearson(0.8, 10) == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert clopper_pearson(1.0, 10) == pytest.approx((0.025**0.1, 1.0))
    assert clopper_pearson(0.0, 10) == pytest.approx((0.0, 1 - 0.025**0.1))
    (sure,) = measured.looked_for(Sign.FLIPPED, {"a": measured.Mean(0.8, 10)}, str, Hint(""))
    (unsure,) = measured.looked_for(Sign.FLIPPED, {"a": measured.Mean(0.7, 10)}, str, Hint(""))
    assert (sure.sure, unsure.sure, unsure.serious) == (True, False, False)
    assert not list(measured.looked_for(Sign.FLIPPED, {"a": measured.Mean(0.3, 10)}, str, Hint("")))


def test_means_that_vary_little_are_worth_more_than_shares() -> None:
    assert worth_of([0.0, 1.0, 1.0, 1.0]) == pytest.approx(4)
    assert worth_of([1.0] * 10) == 10
    assert worth_of([0.8] * 10) == pytest.approx(60)


def test_in_few_runs_chance_alone_makes_a_format_mass_low() -> None:
    random, low = np.random.default_rng(30), 0
    limit = LIMITS[Sign.ANSWER_MASS].look
    for _ in range(400):
        masses = random.beta(10 * limit, 10 * (1 - limit), 80)
        means = [measured.mean_of(masses[:items].tolist()) for items in (10, 20, 40, 80)]
        how = {"below": True, "uncertainty": measured.UNCERTAINTY}
        low += any(mean.is_significantly_beyond(limit, **how) for mean in means)  # type: ignore[arg-type]
    assert low < 0.05 * 400


# How well a model kept to the format, by its newest run.


HASH = "d" * 64


def test_the_mean_over_the_criteria_of_the_newest_run_is_told(demo_store: Path) -> None:
    results = results_of(demo_store)
    scored = [each for column in results.judgments.values() for each in column if isinstance(each, Judgment)]
    masses = [each.answer_mass for each in scored if each.answer_mass is not None]
    (found,) = measured.newest_masses(demo_store, {HASH, "e" * 64}).values()
    assert (found.run_id, found.items) == (1, len(results.judged))
    assert found.mass == pytest.approx(sum(masses) / len(masses))


def test_a_run_that_has_judged_nothing_does_not_count(demo_store: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    shutil.copy(demo_store, path)
    with RunStore(path) as store:
        identity = store.run(1).identity
        with store.begin(identity, fresh=True) as later:
            assert later.id == 2
    assert measured.newest_masses(path, {HASH})[HASH].run_id == 1


def test_without_a_store_or_a_run_nothing_is_known(demo_store: Path, tmp_path: Path) -> None:
    assert measured.newest_masses(tmp_path / "none.sqlite", {HASH}) == {}
    assert not (tmp_path / "none.sqlite").exists()
    assert measured.newest_masses(demo_store, {"e" * 64}) == {}


# Where a text repeats itself, and where it has said enough.


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("It is natural. It is natural!", True),
        ("The answer is not a lie.\nThe answer is not a lie.", True),
        ("Response A is clear. Response B is clear.", False),
        ("Yes. Yes. Yes.", False),
        ("", False),
    ],
)
def test_repeated_sentences(text: str, repeats: bool) -> None:
    assert measured.repeats_a_sentence(text) is repeats


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("A is polite. B is rude", None),
        ("A is polite. B is rude. A is", None),
        ("One is short. Two is long. Three is fine. Four", "One is short. Two is long. Three is fine."),
        ("It is very clear. It is very clear. It", "It is very clear."),
        ("It is very clear. It is very", None),  # it may become another one
        ("It is better than A. It is better than B. It", None),
        ("B names Paris, e.g. the city, i.e. the capital, vs. Rome, etc. and that is right", None),
        ("日本の首都は東京です。日本の首都は東京です。二", None),  # a sentence without spaces is one word
        ("1. A is good. 2. B is bad. 3. So A wins. It", "1. A is good. 2. B is bad. 3. So A wins."),
        ("It names St. Petersburg, the U.S. capital, and Dr. Who. So", None),
        ("", None),
    ],
)
def test_a_growing_text_ends_before_it_repeats_itself_or_says_too_much(text: str, kept: str | None) -> None:
    length = measured.complete_length(text, most_sentences=3)
    assert (None if length is None else text[:length]) == kept


def test_of_a_text_that_has_ended_the_last_sentence_counts_too() -> None:
    text = "It is very clear. It is very clear."
    assert measured.complete_length(text, 3) is None
    assert measured.complete_length(text, 3, ended=True) == len("It is very clear.")
    assert measured.complete_length("A is fine. B is not.", 3, ended=True) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("A is fine. B is", "A is fine."),
        ("A is fine. B is not.", "A is fine. B is not."),
        ('A says "yes". B', 'A says "yes".'),
        ("A lives in St. Petersburg and", "A lives in St. Petersburg and"),
        ("", ""),
    ],
)
def test_a_cut_text_loses_its_half_sentence(text: str, kept: str) -> None:
    assert measured.without_half_sentence(text) == kept
