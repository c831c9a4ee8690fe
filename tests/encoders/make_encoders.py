"""Makes the two small encoders of the tests, and what the package bert-score says with them. Run on demand:

    python -m tests.encoders.make_encoders

It needs what requirements-bertscore.txt names. The weights are random, and the vocabularies come from the
sentences below: the files hold nobody's work. The same packages write the same files again.
"""

import contextlib
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from bert_score import score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizer,
    RobertaConfig,
    RobertaModel,
    RobertaTokenizer,
    logging,
)

from models.demo.gguf_files import CONTROL, NORMAL, written

FOLDER = Path(__file__).resolve().parent
LAYERS, SCORED_LAYERS = 3, 2
WIDTH, HEADS, INNER, CONTEXT = 32, 4, 64, 512
LEARNED_TOKENS = 120
ENDINGS = ("s", "ed", "er", "ing", "ism", "ly", "ment", "tion")

SENTENCES = (
    "Response A answers the question directly, while Response B does not address what was asked.",
    "Both responses are relevant and well written, but the second one contains a factual error.",
    "The first response is more natural: it reads as a fluent speaker would write it.",
    "Neither response is safe, because both give instructions that could harm someone.",
    "Overall the quality of Response B is better, since its explanation is complete and truthful.",
)
PAIRS = (
    ("Both responses are relevant.", "Both responses are relevant to the question."),
    ("Response A is better.", "Response B does not address the question, so A is better."),
    ("The second one contains a factual error.", "The second one contains a factual error."),
    ("", "Both are good."),
    ("Both are good.", ""),
    ("", " \n\t "),
    ("  Neither is safe.\n", "Neither is safe."),
    ("First line.\nSecond line.\n\nThird\tline.", "First line. Second line. Third line."),
    ("good good good good good", "good"),
    ("better", "worse"),
    (".", "?"),
    ("RESPONSE A IS BETTER", "response a is better"),
    ("It doesn't answer; I'd say they've failed, we'll see.", "It does not answer, so it failed."),
    ("A scored 3.14 of 10,000 (99 %), B 2/3.", "A got 3.1; B got 0.67!"),
    ("Le café était très bon, señor.", "Le cafe etait tres bon, senor."),
    ("Die Antwort ist schön, aber zu groß.", "Die Antwort ist gut."),
    ("回答一更好。", "回答二更好,因为它正确。"),
    ("الإجابة الأولى أفضل", "Ответ Б лучше"),
    ("I like it 👍🏽 very much 😀", "I like it very much"),
    ("x = {'a': [1, 2]}; print(x['a'])", 'y = {"b": 3}\nprint(y)'),
    ("see https://example.org/a?b=c&d=e#f", "see the page"),
    ("- **first** point\n- _second_ point", "first point, second point"),
    ("much    space   between", "much space between"),
    ("a\u00a0b\u200bc\u3000d", "a b c d"),
    ("∑ x² ≤ ½ → ∞", "the sum of x squared is at most one half"),
    ("“Quoted” – and so on…", '"Quoted" - and so on...'),
    ("antidisestablishmentarianism", "anti dis establishment"),
    ("A. " * 40, "B. " * 15),
    (" ".join(f"Sentence {n} is about topic {n % 7}." for n in range(150)), "A short summary of the topics."),
    (" ".join(SENTENCES * 12), " ".join(reversed(SENTENCES * 12))),
)
"""What both encoders are tried with. The last two have texts of far more than 512 tokens."""
SPECIAL_PAIRS = (
    ("It ends here.</s>", "It ends here."),
    ("</s>", "It ends here."),
    ("It [SEP] ends [CLS] here.", "It ends here."),
)
"""Texts that name special tokens."""

State = Mapping[str, torch.Tensor]


def main() -> None:
    """Write both encoders and what bert-score says of the pairs."""
    logging.set_verbosity_error()
    expected: dict[str, Any] = {"layers": SCORED_LAYERS, "pairs": PAIRS, "special_pairs": SPECIAL_PAIRS}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for make in (make_roberta, make_bert):
            name, model, tokenizer = make()
            # bert-score guesses from the name what a model is: it must not see the folder's.
            model.save_pretrained(name)
            tokenizer.save_pretrained(name)
            expected[name] = scores(name, PAIRS)
            expected[f"{name}_special"] = scores(name, SPECIAL_PAIRS)
    entries = [f"{json.dumps(key)}: {_in_lines(value)}" for key, value in expected.items()]
    (FOLDER / "expected.json").write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")


def _in_lines(value: Any) -> str:
    """JSON with a line for each element of a list."""
    if isinstance(value, int):
        return str(value)
    return "[\n" + ",\n".join(json.dumps(element, ensure_ascii=False) for element in value) + "\n]"


def scores(name: str, pairs: tuple[tuple[str, str], ...]) -> list[list[float]]:
    """Precision, recall and F1 of each pair, as the official evaluation computes them."""
    candidates, references = zip(*pairs, strict=True)
    # One text at a time: what shares a batch, and so the last digit, would differ from run to run.
    numbers = score(
        list(candidates), list(references), model_type=name, num_layers=SCORED_LAYERS, batch_size=1
    )
    return [[round(value, 6) for value in row] for row in torch.stack(numbers, dim=1).tolist()]


def make_roberta() -> tuple[str, Any, Any]:
    """A RoBERTa and its byte-level BPE; writes the GGUF file."""
    vocabulary, merges = learn_bytes()
    Path("vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    Path("merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    tokenizer = RobertaTokenizer("vocab.json", "merges.txt", model_max_length=CONTEXT)
    offset = tokenizer.pad_token_id + 1
    config = RobertaConfig(
        **_shape(len(vocabulary)), max_position_embeddings=CONTEXT + offset, type_vocab_size=1
    )
    model = with_random_weights(RobertaModel(config, add_pooling_layer=False))
    writer = gguf.GGUFWriter(FOLDER / "roberta.gguf", "bert")
    add_shape(writer, "small random RoBERTa", config)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("roberta-bpe")
    writer.add_token_merges(merges)
    add_tokens(writer, vocabulary, tokenizer, lambda text: text)
    add_tensors(writer, model.state_dict(), offset)
    written(writer, FOLDER / "roberta.gguf")
    return "roberta", model, tokenizer


def make_bert() -> tuple[str, Any, Any]:
    """A BERT and its word pieces; writes the GGUF file."""
    vocabulary = word_pieces()
    Path("vocab.txt").write_text("\n".join([*vocabulary, ""]), encoding="utf-8")
    tokenizer = BertTokenizer("vocab.txt", model_max_length=CONTEXT)
    config = BertConfig(**_shape(len(vocabulary)), max_position_embeddings=CONTEXT, type_vocab_size=2)
    model = with_random_weights(BertModel(config, add_pooling_layer=False))
    writer = gguf.GGUFWriter(FOLDER / "bert.gguf", "bert")
    add_shape(writer, "small random BERT", config)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("bert-bge")
    # llama.cpp marks where a word begins, BERT where it goes on.
    add_tokens(
        writer, vocabulary, tokenizer, lambda text: text[2:] if text.startswith("##") else f"\u2581{text}"
    )
    add_tensors(writer, model.state_dict(), offset=0)
    written(writer, FOLDER / "bert.gguf")
    return "bert", model, tokenizer


def _shape(vocabulary: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "layer_norm_eps": 1e-5,
    }


def learn_bytes() -> tuple[dict[str, int], list[str]]:
    """RoBERTa's kind of vocabulary, token to id, and its merges in order."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=len(alphabet) + LEARNED_TOKENS, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    learned = json.loads(tokenizer.to_str())["model"]
    texts = [*special, *sorted(learned["vocab"], key=learned["vocab"].get), "<mask>"]
    return {text: index for index, text in enumerate(texts)}, [" ".join(pair) for pair in learned["merges"]]


def word_pieces() -> dict[str, int]:
    """BERT's kind of vocabulary, token to id: words, and `##` pieces that go on with a word."""
    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    words = sorted({word for sentence in SENTENCES for word in re.findall(r"[a-z]+", sentence.lower())})
    pieces = [f"##{text}" for text in [*filter(str.isalnum, letters), "²", "ß", *ENDINGS]]
    texts = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *pieces, *words]
    return {text: index for index, text in enumerate(dict.fromkeys(texts))}


def with_random_weights(model: Any) -> Any:
    """Weights large enough that every part of the network shows in what comes out."""
    torch.manual_seed(7)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            noise = torch.randn_like(weights)
            if name.endswith("LayerNorm.weight"):
                weights.copy_(1 + 0.1 * noise)
            elif weights.dim() == 1:
                weights.copy_(0.1 * noise)
            else:
                weights.copy_(noise if "embeddings" in name else noise / weights.shape[1] ** 0.5)
    return model.eval()


def add_shape(writer: gguf.GGUFWriter, name: str, config: Any) -> None:
    """What llama.cpp must know of the network."""
    writer.add_name(name)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.NONE)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_token_type_count(config.type_vocab_size)


def add_tokens(writer: gguf.GGUFWriter, vocabulary: Mapping[str, int], tokenizer: Any, text_of: Any) -> None:
    """The vocabulary, and which tokens are special; `text_of` writes an ordinary token as llama.cpp does."""
    special = set(tokenizer.all_special_tokens)
    writer.add_token_list([text if text in special else text_of(text) for text in vocabulary])
    writer.add_token_types([CONTROL if text in special else NORMAL for text in vocabulary])
    writer.add_bos_token_id(tokenizer.cls_token_id)
    writer.add_eos_token_id(tokenizer.sep_token_id)
    writer.add_sep_token_id(tokenizer.sep_token_id)
    writer.add_unk_token_id(tokenizer.unk_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_mask_token_id(tokenizer.mask_token_id)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)


NAMES = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
"""A module of transformers and llama.cpp's name for it."""


def add_tensors(writer: gguf.GGUFWriter, state: State, offset: int) -> None:
    """All weights; of the embeddings of positions those from `offset` on, where RoBERTa's begin."""
    for name, values in named(state):
        kept = values[offset:] if name.startswith("position_embd") else values
        writer.add_tensor(name, np.ascontiguousarray(kept))


def named(state: State) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The weights under llama.cpp's names."""
    for name, weights in state.items():
        module, _, kind = name.rpartition(".")
        in_layer = re.fullmatch(r"encoder\.layer\.(\d+)\.(.+)", module)
        if in_layer:
            yield f"blk.{in_layer[1]}.{NAMES[in_layer[2]]}.{kind}", weights.numpy()
        else:
            yield f"{NAMES[module]}.{kind}", weights.numpy()


if __name__ == "__main__":
    main()
