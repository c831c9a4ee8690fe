"""The demo judge as a GGUF file, and the vocabulary alone as one."""

from pathlib import Path

import gguf
import numpy as np
import torch

from engine.models.model_file import NOTICE_KEY
from engine.prompt.judge_prompt import PROMPT_VERSION
from models.demo.gguf_files import TokenTable, add_llama_shape, add_vocabulary, written
from models.demo.network import DemoJudge, NetworkShape
from models.demo.trained_prompt import PROMPT_DIGEST_KEY, PROMPT_VERSION_KEY, prompt_digest
from models.demo.vocabulary import TEMPLATE

NAME = "Tiebreak demo judge"

_NOTICE = (
    "a model for trying Tiebreak. It knows only the small world of examples/demo.tsv;"
    " its judgments of other data mean nothing."
)
_LAYER_TENSORS = {
    "attention_norm.gain": "attn_norm",
    "query.weight": "attn_q",
    "key.weight": "attn_k",
    "value.weight": "attn_v",
    "attention_output.weight": "attn_output",
    "feed_forward_norm.gain": "ffn_norm",
    "gate.weight": "ffn_gate",
    "up.weight": "ffn_up",
    "down.weight": "ffn_down",
}


def write_vocabulary(path: Path, table: TokenTable) -> Path:
    """Write a file that holds the tokenizer only, with which llama.cpp tokenizes training texts; the path."""
    writer = gguf.GGUFWriter(path, "llama")
    add_vocabulary(writer, table, TEMPLATE)
    writer.add_vocab_size(len(table.tokens))
    return written(writer, path)


def write_judge(path: Path, network: DemoJudge, table: TokenTable, *, half: bool = True) -> Path:
    """Write the trained network, its matrices in 16 bits or (`half` false) in 32; the path."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(NAME)
    writer.add_description(_NOTICE)
    writer.add_string(NOTICE_KEY, _NOTICE)
    writer.add_license("MIT")
    writer.add_string(PROMPT_VERSION_KEY, PROMPT_VERSION)
    writer.add_string(PROMPT_DIGEST_KEY, prompt_digest())
    add_vocabulary(writer, table, TEMPLATE)
    shape = network.shape
    add_llama_shape(
        writer,
        layers=shape.layers,
        context=shape.context,
        width=shape.width,
        feed_forward=shape.feed_forward,
        heads=shape.heads,
        kv_heads=shape.heads,
        vocabulary=shape.vocabulary,
        file_type=gguf.LlamaFileType.MOSTLY_F16 if half else gguf.LlamaFileType.ALL_F32,
    )
    matrices = np.float16 if half else np.float32
    for name, weight in network.state_dict().items():
        tensor = _tensor_name(name)
        if tensor:
            values = weight.detach().float().numpy()
            writer.add_tensor(tensor, values.astype(matrices if values.ndim > 1 else np.float32))
    return written(writer, path)


def read_network(path: Path) -> DemoJudge:
    """The network back from its file, in 32 bits; the heads that only training needs are not in it."""
    reader = gguf.GGUFReader(path)
    tensors = {tensor.name: torch.from_numpy(tensor.data.astype(np.float32)) for tensor in reader.tensors}

    def size(key: str) -> int:
        return int(reader.fields[f"llama.{key}"].contents())

    shape = NetworkShape(
        vocabulary=size("vocab_size"),
        layers=size("block_count"),
        width=size("embedding_length"),
        heads=size("attention.head_count"),
        feed_forward=size("feed_forward_length"),
        context=size("context_length"),
    )
    network = DemoJudge(shape, qualities=1, topics=1)
    names = ((name, _tensor_name(name)) for name in network.state_dict())
    network.load_state_dict({name: tensors[tensor] for name, tensor in names if tensor}, strict=False)
    return network


def _tensor_name(name: str) -> str | None:
    """What GGUF calls a weight; None for what only training needs. The embedding is the output matrix too."""
    if name == "embedding.weight":
        return "token_embd.weight"
    if name == "norm.gain":
        return "output_norm.weight"
    kind, _, rest = name.partition(".")
    number, _, part = rest.partition(".")
    return f"blk.{number}.{_LAYER_TENSORS[part]}.weight" if kind == "layers" else None
