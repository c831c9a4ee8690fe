"""Names of columns: their words, what each of them says, pairs that differ in one word alone."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((one, other) for one, other in (pair.split("/") for pair in text.split()))


SIDES = _pairs("a/b 1/2 0/1 left/right first/second one/two")
FURTHER_SIDES = dict(_pairs("b/c 2/3 1/2 second/third two/three"))
RANKS = _pairs(
    "chosen/rejected preferred/dispreferred better/worse winner/loser win/lose good/bad accepted/rejected"
)
WEAK_RANKS = frozenset(_words("good bad win lose accepted"))
INSTRUCTIONS = _words(
    "instruction prompt question query input user_prompt request task user context history post source"
    " message messages text"
)
INPUTS = _words("input context inputs")
CONTEXTS = _words("context contexts retrieved_contexts retrieval_context knowledge passage")
REFERENCES = _words("reference reference_answer orig_reference_answer ground_truth expected_output")
IDS = _words(
    "id uid uuid item_id example_id sample_id prompt_id question_id conversation_id instruction_id pair_id"
    " idx index key qid row_id"
)
LABELS = _words(
    "winner preference preferred label choice verdict vote gold human_preference better overall"
    " overall_preference annotator1 annotation answer rating comparison judgment judgement decision selected"
    " sentiment pref result"
)
SURE_LABELS = 6  # of the names in LABELS
EXPLANATIONS = _words("explanation rationale reason reasoning justification feedback comment")
RESPONSES = frozenset(
    _words("response output answer completion reply conversation generation summary chosen assistant message")
)
BESIDE_RESPONSES = frozenset(
    _words(
        "model models generator score scores rating id name source length len tokens token logprob logprobs"
        " reward annotator judge rank safe reason critique feedback sha sha256 hash md5 quotes refusal"
        " category original raw rationale explanation comment note metadata system prompt severity url"
    )
)
OUTPUTS = _words("output response completion generation answer reply prediction")
BESIDE_OUTPUTS = frozenset(
    _words(
        "id uid uuid index idx key generator model system dataset source subset split datasplit category task"
        " topic type language name input reference raw time date tokens length"
    )
)
SCORES = frozenset(_words("score scores rating reward overall quality"))
LESS_IS_BETTER = frozenset(_words("rank loss perplexity ppl error errors distance"))
WINNING = frozenset(_words("winner win wins won better preferred preference chosen best"))
NO_VERDICT = frozenset(_words("annotator annotation human answer rating overall result"))
VERDICTS = frozenset(
    _words(
        "winner preference preferences preferred pref better verdict choice label labels vote comparison"
        " judgment judgement decision selected gold"
    )
)
ANNOTATORS = frozenset(_words("annotator annotation annotators rater evaluator expert worker"))
PEOPLE = _words("annotator worker workerid rater evaluator labeler labeller judge user")
SUGGESTED = frozenset(_words("suggestion suggestions prediction predictions predicted confidence"))
NAMES_CANDIDATES = frozenset(_words("model generator system candidate llm name id"))
LONGEST_NAME = 100  # characters, on average
TELLING = frozenset(_words("model generator judge annotator turn system"))
SYSTEMS = _words("system system_prompt system_message")
MOST_OF_AN_ID = 4
NAMED = 2.0  # the merit of an instruction whose name says what it is
AHEAD = 1.0  # of the merit of a second reading, so that the first one is certain
MOST_STEPS = 11  # of a scale from one response to the other
_TOKEN = re.compile(r"[a-z]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class ColumnPair:
    """Two columns whose names differ in one word alone; `tokens`: the words that they share."""

    columns: tuple[str, str]
    tokens: tuple[str, ...]
    ranked: bool


def column_pairs(columns: Sequence[str], sides: Sequence[tuple[str, str]]) -> Iterator[ColumnPair]:
    """The pairs among some columns, in their order."""
    by_tokens: dict[tuple[str, ...], str] = {}
    for column in columns:
        by_tokens.setdefault(tuple(tokens_of(column)), column)
    others = dict(reversed(sides))
    for tokens, column in by_tokens.items():
        for place, token in enumerate(tokens):
            other = others.get(token)
            partner = by_tokens.get((*tokens[:place], other, *tokens[place + 1 :])) if other else None
            if partner is not None:
                shared = (*tokens[:place], *tokens[place + 1 :])
                yield ColumnPair((column, partner), shared, (token, other) in RANKS)


def tokens_of(name: str) -> list[str]:
    return _TOKEN.findall(_CAMEL.sub("_", name).lower())


def plain_name(name: str) -> str:
    return "_".join(tokens_of(name)) if re.search(r"[A-Z\s.-]", name) else name


def is_id(name: str) -> bool:
    return plain_name(name) in IDS or tokens_of(name)[-1:] == ["id"]


def first_named(columns: Sequence[str], words: Sequence[str], fits: Callable[[str], bool]) -> str | None:
    return next((c for word in words for c in columns if plain_name(c) == word and fits(c)), None)
