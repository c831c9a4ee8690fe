"""Shared prefixes, label scores, generation and Stop, on real llama.cpp with small random models."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import NoRoomError
from engine.core.events import Cancelled, CancelToken
from engine.core.items import Item, Order, Preference
from engine.core.numeric import FloatArray
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.llama.context import SMALLER_CONTEXT, SessionShape
from engine.llama.model import BranchTokens, LlamaModel, PromptTokens, cannot_compute
from engine.llama.session import Continuation, LlamaSession, Sampling
from engine.models.templates import chat_template
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import build_prompt
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import stem_tokens, tokenize_explanation, tokenize_prompt
from engine.settings.rows import KvType
from engine.system.paths import demo_dataset, demo_model
from tests.engine.llama.stopping import CountingToken, refused_to_others
from tests.steps import refused

SmallModel = Callable[[str], Path]

ITEM = Item("1", "Name a prime number above 90.", "97 is prime: nothing divides it.", "91, of course!")
OF_DEMO = load_dataset(demo_dataset())[0]
"""Of the demo model's world: of anything else it is unsure, and rounding moves it far."""
# F16 logits differ by up to 4e-3 between batch shapes, so the log-probability of a token by twice that.
TOLERANCE = 8e-3


@contextmanager
def session_of(
    path: Path,
    branches: int = 5,
    context: int = 4096,
    cancel: CancelToken | None = None,
    kv_type: KvType = KvType.F16,
) -> Iterator[tuple[LlamaSession, ChatTemplate]]:
    with LlamaModel(path) as model:
        shape = SessionShape(context, 1, branches, kv_type)
        with LlamaSession(model, shape, threads=1, cancel=cancel or CancelToken()) as session:
            yield session, chat_template(model.chat_template, session.vocabulary, CancelToken())


def prompt_for(template: ChatTemplate, order: Order = Order.AB, item: Item = ITEM) -> PromptTokens:
    return tokenize_prompt(build_prompt(item, order, ELOQUENT), template)


def shared_scores(session: LlamaSession, template: ChatTemplate, item: Item = ITEM) -> FloatArray:
    prompt = prompt_for(template, item=item)
    session.hold_stem(stem_tokens(ELOQUENT, ExamplePool(), template))
    session.read_trunk(0, prompt.trunk)
    scores = session.score(0, prompt.branches)
    session.release([0])
    return scores


def separate_scores(session: LlamaSession, branch: BranchTokens) -> FloatArray:
    """One prompt read whole, in a cache that holds nothing else."""
    session.hold_stem([])
    session.read_trunk(0, [])
    (scores,) = session.score(0, [branch])
    session.release([0])
    return np.array(scores)


@pytest.mark.parametrize(
    "family", ["headers", "chatml", "instructions", "no_system", "split_letters", "mamba"]
)
def test_shared_prefixes_give_the_scores_of_separate_prompts(small_model: SmallModel, family: str) -> None:
    with session_of(small_model(family)) as (session, template):
        shared = shared_scores(session, template)
        for row, branch in zip(shared, prompt_for(template).branches, strict=True):
            difference = np.abs(row - separate_scores(session, branch))
            assert (difference < [TOLERANCE * len(label) for label in branch.labels]).all()


def test_sharing_reads_far_fewer_tokens(small_model: SmallModel) -> None:
    with session_of(small_model("headers")) as (session, template):
        shared_scores(session, template)
        separate = sum(len(branch.prompt) for branch in prompt_for(template).branches)
        assert session.tokens_read < 0.4 * separate


def test_neither_a_new_session_nor_what_was_judged_changes_a_score_a_bit(small_model: SmallModel) -> None:
    with session_of(small_model("headers")) as (session, template):
        first = shared_scores(session, template)
    with session_of(small_model("headers")) as (session, template):
        prompt = prompt_for(template, Order.BA)
        session.read_trunk(0, prompt.trunk)
        session.score(0, prompt.branches)
        session.release([0])
        assert np.array_equal(first, shared_scores(session, template))


def test_labels_of_several_tokens_are_scored_whole(small_model: SmallModel) -> None:
    """P(token) x P(next token), checked against the two steps taken one by one."""
    with session_of(small_model("split_letters"), branches=1) as (session, template):
        branch = prompt_for(template).branches[0]
        assert [len(label) for label in branch.labels] == [1, 2, 2, 2]
        whole = separate_scores(session, branch)
        for index in (1, 2, 3):
            first, second = branch.labels[index]
            one = separate_scores(session, BranchTokens(branch.prompt, ((first,),)))
            two = separate_scores(session, BranchTokens((*branch.prompt, first), ((second,),)))
            assert whole[index] == pytest.approx(one[0] + two[0], abs=2 * TOLERANCE)


def test_probabilities_are_of_the_whole_vocabulary(small_model: SmallModel) -> None:
    with session_of(small_model("headers"), branches=1) as (session, template):
        prompt = prompt_for(template).branches[0].prompt
        every_token = tuple((token,) for token in range(session.vocabulary.size))
        scores = separate_scores(session, BranchTokens(prompt, every_token))
    assert np.exp(scores).sum() == pytest.approx(1.0)


def explain(session: LlamaSession, template: ChatTemplate, sampling: Sampling, seed: int = 0) -> list[bytes]:
    tree = build_prompt(ITEM, Order.AB, ELOQUENT)
    prompt = tokenize_prompt(tree, template)
    session.hold_stem(stem_tokens(ELOQUENT, ExamplePool(), template))
    session.read_trunk(0, prompt.trunk)
    session.score(0, prompt.branches)
    jobs = [
        Continuation(
            0, branch, tokenize_explanation(tree, branch, Preference.BOTH_GOOD, template), seed + branch
        )
        for branch in range(5)
    ]
    written = [generated.data for generated in session.generate(jobs, sampling)]
    session.release([0])
    return written


def test_explanations_written_together_are_those_written_alone(small_model: SmallModel) -> None:
    with session_of(small_model("headers")) as (session, template):
        together = explain(session, template, Sampling(max_tokens=24))
        tree = build_prompt(ITEM, Order.AB, ELOQUENT)
        for branch, expected in enumerate(together):
            prompt = tokenize_explanation(tree, branch, Preference.BOTH_GOOD, template)
            session.hold_stem([])
            (alone,) = session.generate([Continuation(0, branch, prompt)], Sampling(max_tokens=24))
            session.release([0])
            assert alone.data == expected


def test_a_limit_cuts_and_says_so_and_a_text_ends_where_it_is_complete(small_model: SmallModel) -> None:
    with session_of(small_model("headers")) as (session, template):
        prompt = tokenize_explanation(build_prompt(ITEM, Order.AB, ELOQUENT), 0, Preference.A, template)
        written, counts = [], [0]
        ending = Sampling(24, complete=lambda text: 5 if len(text) > 8 else None)
        for sampling in (Sampling(max_tokens=3), Sampling(max_tokens=24), ending):
            written += session.generate([Continuation(0, 0, prompt)], sampling)
            session.release([0])
            counts.append(session.tokens_generated)
    short, whole, ended = written
    assert (short.cut, counts[1]) == (True, 3)
    assert ended.data.decode() == whole.data.decode("utf-8", "ignore")[:5]
    assert (ended.cut, counts[3] - counts[2] < 24) == (False, True)


def test_sampling_repeats_with_its_seed_and_varies_with_another(small_model: SmallModel) -> None:
    warm = Sampling(max_tokens=16, temperature=1.0)
    with session_of(small_model("headers")) as (session, template):
        once, again, other = (explain(session, template, warm, seed) for seed in (1, 1, 100))
    assert once == again
    assert once != other


def test_stop_works_while_a_prompt_is_read_and_the_session_is_as_good_as_new(small_model: SmallModel) -> None:
    path = small_model("headers")
    with session_of(path, context=8192) as (session, template):
        expected = shared_scores(session, template)
    cancel = CancelToken()
    with session_of(path, context=8192, cancel=cancel) as (session, template):
        threading.Timer(0.05, cancel.cancel).start()
        with pytest.raises(Cancelled):  # noqa: PT012 - which read it is does not matter
            while True:
                session.hold_stem([5] * 8000)
        cancel._requested = False
        assert np.array_equal(shared_scores(session, template), expected)


def test_a_stop_in_the_middle_of_a_batch_ends_it(small_model: SmallModel) -> None:
    cancel = CountingToken()
    with session_of(small_model("headers"), cancel=cancel) as (session, _):
        before = cancel.asked
        session.hold_stem([5] * 100)
        assert cancel.asked - before > 10  # llama.cpp asks many times within one batch
        cancel.patience = cancel.asked + 10
        with pytest.raises(Cancelled):
            session.hold_stem([5] * 100)


def test_a_context_smaller_than_a_batch_works_and_no_other_thread_may_use_it(small_model: SmallModel) -> None:
    with session_of(small_model("headers"), context=256) as (session, _):
        session.hold_stem([5] * 250)
        assert session.tokens_read == 250
    with session_of(small_model("headers")) as (session, _):
        assert refused_to_others(lambda: session.hold_stem([1, 2]))


def test_a_context_that_llama_cpp_refuses_is_an_error_with_its_reason(small_model: SmallModel) -> None:
    # More sequences than llama.cpp knows: refused at once, as a cache without memory would be.
    shape, reason = SessionShape(4096, 60, 5), r"context of 4,096 tokens \(.*n_seq_max"
    with LlamaModel(small_model("headers")) as model:
        error = refused(lambda: LlamaSession(model, shape, threads=1, cancel=CancelToken()), reason)
    assert "--context" in OPTIONS.of(error.hint)


def test_a_cache_in_q8_0_gives_nearly_the_scores_of_one_in_f16_and_shares_prefixes_too() -> None:
    with session_of(demo_model()) as (session, template):
        exact = shared_scores(session, template, OF_DEMO)
    with session_of(demo_model(), kv_type=KvType.Q8_0) as (session, template):
        shared = shared_scores(session, template, OF_DEMO)
        alone = [separate_scores(session, each) for each in prompt_for(template, item=OF_DEMO).branches]
    assert not np.array_equal(exact, shared)
    assert np.allclose(np.exp(exact), np.exp(shared), atol=0.05)
    assert np.allclose(np.exp(shared), np.exp(alone), atol=0.05)


def test_a_model_whose_heads_do_not_fill_blocks_keeps_no_cache_in_q8_0(small_model: SmallModel) -> None:
    shape = SessionShape(1024, 1, 1, KvType.Q8_0)
    reason = r"does not support the KV-cache type q8_0 \(.*n_embd_head_k=8\)"
    with LlamaModel(small_model("headers")) as model:
        error = refused(lambda: LlamaSession(model, shape, threads=1, cancel=CancelToken()), reason)
    assert not isinstance(error, NoRoomError)
    assert "--kv-type f16" in OPTIONS.of(error.hint)


@pytest.mark.parametrize("family", ["headers", "mamba"])
def test_a_vocabulary_alone_knows_what_planning_asks(small_model: SmallModel, family: str) -> None:
    with (
        LlamaModel(small_model(family)) as whole,
        LlamaModel(small_model(family), vocabulary_only=True) as alone,
    ):
        assert alone.trained_context == whole.trained_context == 8192
        assert alone.chat_template == whole.chat_template
        assert alone.keeps_state == whole.keeps_state == (family == "mamba")


def test_loading_can_be_stopped_and_a_file_that_llama_cpp_refuses_is_an_error_with_its_reason(
    small_model: SmallModel, tmp_path: Path
) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        LlamaModel(small_model("headers"), cancel=cancel)
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF" + bytes(60))
    refused(lambda: LlamaModel(path), r"bad\.gguf: llama\.cpp cannot load this model: .+")


def test_what_llama_cpp_will_not_compute_speaks_against_the_file(small_model: SmallModel) -> None:
    with session_of(small_model("headers")) as (session, _):
        beyond, reason = session.vocabulary.size, r"headers\.gguf: llama\.cpp cannot compute .*invalid token"
        refused(lambda: session.read_trunk(0, [1, beyond]), reason)
        session.read_trunk(0, [1, 2])


def test_want_of_memory_says_nothing_of_the_file(small_model: SmallModel) -> None:
    with LlamaModel(small_model("headers")) as model:
        error = cannot_compute(model, -2, SMALLER_CONTEXT)
        assert isinstance(error, NoRoomError)
        assert "no memory" in error.problem
        assert "smaller --context, or close" in OPTIONS.of(error.hint)
        assert not isinstance(cannot_compute(model, -3, SMALLER_CONTEXT), NoRoomError)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone lists what is mapped in a file")
@pytest.mark.parametrize("vocabulary_only", [True, False])
def test_a_vocabulary_alone_maps_no_file(small_model: SmallModel, vocabulary_only: bool) -> None:
    """Where it is opened, a file that is cut short later can end nothing; with the weights it would."""
    path = small_model("headers")
    with LlamaModel(path, vocabulary_only=vocabulary_only):
        mapped = str(path) in Path("/proc/self/maps").read_text("utf-8")
    assert mapped is not vocabulary_only
