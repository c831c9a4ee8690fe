"""A GGUF model file: what it is, by its header; one in several files, with their headers as one. Users call
it by the name of the file: headers name a base model, a training run, a folder of whoever converted it, or
nothing (`LLaMA v2`, `.`, `Models`).
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.core.errors import ModelFileError
from engine.core.formatting import short_count, without_middle
from engine.models.checks import precheck
from engine.models.header import DOWNLOAD_AGAIN, TENSOR_TYPES, GgufHeader, TensorInfo, read_header
from engine.models.ollama import is_blob, ollama_models
from engine.settings.rows import KvType
from engine.system.paths import PathKind, home, seen_at

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<parts>\d{5})(?P<suffix>\.gguf)", re.IGNORECASE)


class PartName(NamedTuple):
    """What the name of a file says: `stem`-00002-of-00003.gguf. `number`: from 1 to `parts`."""

    stem: str
    number: int
    parts: int
    suffix: str


class WholeModel(NamedTuple):
    """The header of a whole model, and its files: one, or its parts in order."""

    header: GgufHeader
    files: tuple[Path, ...]


def part_name(path: Path) -> PartName | None:
    found = _PART.fullmatch(path.name)
    if found is None:
        return None
    return PartName(found["stem"], int(found["number"]), int(found["parts"]), found["suffix"])


def first_part(path: Path) -> Path:
    """The first part of the model that a file is part of, by its name; the file itself where it is none."""
    name = part_name(path)
    return _part(path, name, 1) if name else path


def _part(path: Path, name: PartName, number: int) -> Path:
    return path.with_name(f"{name.stem}-{number:05}-of-{name.parts:05}{name.suffix}")


def read_whole(path: Path) -> WholeModel:
    """The header of a model by any of its parts: tensors and size of all, the rest of the first.
    ModelFileError as of `read_header`, and where a part is missing, has another name, or is another model's.
    """
    header = read_header(path)
    parts = header.integer("split.count") or 0
    if parts <= 1:
        return WholeModel(header, (path,))
    name = part_name(path)
    if name is None or name.parts != parts:
        part = (header.integer("split.no") or 0) + 1
        raise header.refused(
            f"this is part {part} of a model that was split into {parts} files, which are identified by their"
            " names",
            f"Restore the published names of the parts: NAME-00001-of-{parts:05}.gguf and so on, in one"
            " folder.",
        )
    files = tuple(_part(path, name, number) for number in range(1, parts + 1))
    for file in files:
        if seen_at(file) is PathKind.NOTHING:
            raise ModelFileError(
                f"{file.name}: this part of a model of {parts} parts is missing in {file.parent}.",
                "Download all parts into one folder.",
            )
    headers = [header if file == path else read_header(file) for file in files]
    for number, one in enumerate(headers, start=1):
        if ((one.integer("split.no") or 0) + 1, one.integer("split.count")) != (number, parts):
            raise one.refused(
                f"this is not part {number} of {parts}, although its name says so", DOWNLOAD_AGAIN
            )
    return WholeModel(_joined(headers), files)


def _joined(headers: Sequence[GgufHeader]) -> GgufHeader:
    first = headers[0]
    tensors = tuple(tensor for header in headers for tensor in header.tensors)
    expected, different = first.integer("split.tensors.count"), len({tensor.name for tensor in tensors})
    if different < len(tensors):
        raise first.refused(
            f"its parts do not belong together: {len(tensors) - different:,} tensors are in two of them",
            DOWNLOAD_AGAIN,
        )
    if expected not in (None, len(tensors)):
        raise first.refused(
            f"its parts do not belong together: they hold {len(tensors):,} tensors, and the header says"
            f" {expected:,}",
            DOWNLOAD_AGAIN,
        )
    # What is joined is one model: what follows must not refuse it as a part.
    metadata = {key: value for key, value in first.metadata.items() if not key.startswith("split.")}
    size = sum(header.file_size for header in headers)
    return dataclasses.replace(first, metadata=metadata, tensors=tensors, file_size=size)


SUFFIX = ".gguf"

_SAYS_NOTHING = re.compile(
    r"|(ggml[-_.]?)?models?|ggml[-_.]?model[-_.].*|unsloth|weights|gguf", re.IGNORECASE
)
_NO_NAME_OF_A_FOLDER = re.compile(r"[0-9a-f]{16,}|snapshots|blobs", re.IGNORECASE)
# Deep enough for the cache of Hugging Face, whose folders in between say nothing.
_FOLDERS_UP = 4
_HUGGING_FACE = "models--"  # models--PUBLISHER--MODEL/snapshots/REVISION/FILE


def called(path: Path) -> str:
    """What users know a model file by: the file's name without `.gguf` and the number of a part; Ollama's own
    name for its blobs; with the folder's name where the file's says nothing (`Qwen3-8B/model`).
    """
    if is_blob(path):
        models = ollama_models(path.parent) or []
        return next((model.name for model in models if model.path == path), path.name)
    part = part_name(path)
    stem = part.stem if part else path.stem if path.suffix.lower() == SUFFIX else path.name
    if _says_something(stem):
        return stem
    folder = _telling_folder(path)
    return f"{folder}/{stem}" if folder else stem


def says_more(title: str, name: str) -> bool:
    """Whether a header's name for a model tells something that the name of its file does not."""
    words = _letters(title)
    # A path of whoever converted it, or nearly nothing.
    if len(words) < 3 or "/" in title or "\\" in title or not _says_something(title):
        return False
    return words not in _letters(name)


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _says_something(name: str) -> bool:
    return _SAYS_NOTHING.fullmatch(LABEL.sub("", name).strip("-_. ")) is None


def _telling_folder(path: Path) -> str:
    """The name of the nearest folder that says what is in it; empty where none near does."""
    for folder in path.absolute().parents[:_FOLDERS_UP]:
        if folder == home():
            break
        if folder.name.startswith(_HUGGING_FACE):
            return folder.name.rpartition("--")[2]
        if not _NO_NAME_OF_A_FOLDER.fullmatch(folder.name) and _says_something(folder.name):
            return folder.name
    return ""


# How the weights are stored, in the word that users have for it: `Q4_K_M`. A file's name claims one, the file
# type in its header another. Publishers have kinds of their own, for which there is no file type (`Q4_K_L` is
# `Q4_K_M` there); some file types are those of the model before it was quantised. So the name is asked first,
# and what the tensors do not bear out is not believed.

LABEL = re.compile(
    r"(?<![A-Z0-9])(?:IQ[1-4]_(?:XXS|XS|S|M|NL)|Q[2-8]_K(?:_(?:XXL|XL|L|M|S|P))?|Q[1-8]_[01]|TQ[12]_0"
    r"|MXFP4|NVFP4|BF16|FP?16|FP?32)(?![A-Z0-9])",
    re.IGNORECASE,
)
"""How the name of a file tells the quantisation."""

_FILE_TYPE_NAMES = """
0 F32      1 F16      2 Q4_0     3 Q4_1     7 Q8_0     8 Q5_0     9 Q5_1     10 Q2_K    11 Q3_K_S  12 Q3_K_M
13 Q3_K_L  14 Q4_K_S  15 Q4_K_M  16 Q5_K_S  17 Q5_K_M  18 Q6_K    19 IQ2_XXS  20 IQ2_XS  21 Q2_K_S
22 IQ3_XS  23 IQ3_XXS  24 IQ1_S  25 IQ4_NL  26 IQ3_S   27 IQ3_M   28 IQ2_S   29 IQ2_M   30 IQ4_XS
31 IQ1_M   32 BF16    36 TQ1_0   37 TQ2_0   38 MXFP4   39 NVFP4   40 Q1_0    41 Q2_0
"""
_FILE_TYPES: dict[int, str] = {int(one): name for one, name in re.findall(r"(\d+) (\w+)", _FILE_TYPE_NAMES)}
"""Names of llama.cpp's `llama_ftype` as users write them."""

# llama_ftype_get_default_type and tensor_type_fallback in llama.cpp's src/llama-quant.cpp.
_STORED_AS = {
    "IQ2_S": ("IQ2_XS", "IQ2_S"),
    "IQ2_M": ("IQ2_S",),
    "IQ3_XS": ("IQ3_S", "IQ3_XXS"),
    "IQ3_M": ("IQ3_S",),
    "Q8_K": ("Q8_0",),
}
_WITHOUT_WHOLE_BLOCKS = {
    **dict.fromkeys(("Q2_K", "Q3_K", "TQ1_0", "TQ2_0"), "Q4_0"),
    **dict.fromkeys(("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS"), "IQ4_NL"),
    "Q4_K": "Q5_0",
    "Q5_K": "Q5_1",
    "Q6_K": "Q8_0",
}
_LEAST_SHARE = 0.2  # of the bytes: mixtures have more of what they are called by


def quantisation(tensors: Sequence[TensorInfo], file_type: int | None, name: str) -> str:
    """The quantisation of a model called `name`; the type of most bytes where no claim is borne out."""
    # The matrices of the layers are what the format of weights is about; all tensors where there are none.
    weights = [tensor for tensor in tensors if tensor.name.startswith("blk.") and len(tensor.shape) > 1]
    weights = weights or list(tensors)
    in_name = LABEL.findall(name)
    claims = (
        re.sub("^FP", "F", in_name[-1].upper()) if in_name else "",
        "" if file_type is None else _FILE_TYPES.get(file_type, ""),
    )
    n_bytes: Counter[str] = Counter()
    for tensor in weights:
        n_bytes[tensor.type_name] += tensor.n_bytes
    borne_out: list[str] = []
    for claim in filter(None, claims):
        family = re.sub("(_K)_.*", r"\1", claim)
        types = _STORED_AS.get(family, (family,))
        there = sum(tensor.n_bytes for tensor in weights if _is_stored_as(tensor, types))
        if there >= _LEAST_SHARE * max(n_bytes.total(), 1):
            borne_out.append(claim)
    if not borne_out:
        return n_bytes.most_common(1)[0][0]
    first, last = borne_out[0], borne_out[-1]
    return last if last.startswith(first) else first  # Q4_K in the name, Q4_K_M in the header


def _is_stored_as(tensor: TensorInfo, types: Sequence[str]) -> bool:
    if tensor.type_name in types:
        return True
    substitutes = {
        _WITHOUT_WHOLE_BLOCKS.get(stored.name)
        for stored in TENSOR_TYPES.values()
        if stored.name in types and tensor.shape[0] % stored.block
    }
    return tensor.type_name in substitutes


NOTICE_KEY = "tiebreak.notice"

NO_TEMPLATE = "plain text is used. It may be a base model, which is not trained to follow instructions."
_NO_PRE_TOKENIZER = (
    "its header does not say how text is split before it is tokenized (tokenizer.ggml.pre), and llama.cpp's"
    " default may be wrong for it: answers are worse then. Choose a file converted after April 2024."
)
_TEMPLATE = "tokenizer.chat_template"

_LONGEST_NOTICE = 600  # characters
_BYTES_PER_F16 = 2
Q8_0_BLOCK = 32  # numbers in a block of the Q8_0 format, kept in 34 bytes


@dataclass(frozen=True)
class ModelFile:
    path: Path  # the first part where it is split
    size_bytes: int  # of all parts
    name: str  # what users call it, by its file
    architecture: str
    quantisation: str
    parameters: int  # numbers in all tensors
    trained_context: int  # tokens
    kv_bytes_per_token: int  # of KV cache in f16
    vocabulary_size: int  # tokens
    has_chat_template: bool
    tokenizer_warning: str = ""
    notice: str = ""  # what a model made for this program has to tell its users
    kv_types: tuple[KvType, ...] = tuple(KvType)
    title: str = ""  # what its header calls it
    more_files: tuple[Path, ...] = ()  # the other parts, in order
    experts: tuple[int, int] = (0, 0)  # how many a mixture has, and how many of them read a token
    layers: int = 0  # how many a GPU could take some of

    @property
    def size_in_words(self) -> str:
        """Its parameters, `46.7 B (2 of 8 experts at a time)`."""
        every, used = self.experts
        at_a_time = f" ({used} of {every} experts at a time)" if every else ""
        return f"{short_count(self.parameters)}{at_a_time}"

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path, *self.more_files)

    @property
    def other_name(self) -> str:
        """The name in its header where that tells more than the name of the file, else empty."""
        return self.title if says_more(self.title, self.name) else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its file lacks, to be read after its name."""
        template = "" if self.has_chat_template else f"no chat template: {NO_TEMPLATE}"
        return tuple(filter(None, (template, self.tokenizer_warning)))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know before a run with it, to be read after its name."""
        return tuple(filter(None, (*self.warnings, self.notice)))


def read_model_file(path: Path) -> ModelFile:
    """Read, check and describe a model by its file or any part; ModelFileError where it cannot judge."""
    whole = read_whole(path)
    precheck(whole.header)
    return describe(whole.header, *whole.files)


def template_source(path: Path) -> str:
    """The chat template of a model as its file has it, or all named ones; empty for none. ModelFileError."""
    whole = read_whole(path)
    precheck(whole.header)
    return "\n".join(_template_sources(whole.header))


def _template_sources(values: GgufHeader) -> list[str]:
    if default := values.text(_TEMPLATE):
        return [default]
    return [values.text(key) or "" for key in values.metadata if key.startswith(f"{_TEMPLATE}.")]


def describe(values: GgufHeader, path: Path, *more_files: Path) -> ModelFile:
    """What a header that passed `precheck` says of its model; `more_files`: further parts of it."""

    def most(name: str) -> int:
        return max(values.per_layer(values.key(name)), default=0)

    unsplit = values.text("tokenizer.ggml.model") == "gpt2" and not values.text("tokenizer.ggml.pre")
    # A row of a cache in q8_0 must be whole blocks; llama.cpp refuses others, once all is loaded.
    whole_blocks = all(length % Q8_0_BLOCK == 0 for length in _head_lengths(values))
    # Of keys and values over the layers. Sliding windows take less; recurrent states do not grow with the
    # context.
    kv_heads = values.per_layer(values.key("attention.head_count_kv")) or _heads(values)
    # One number stands for all layers.
    if len(kv_heads) == 1:
        kv_heads *= values.integer(values.key("block_count")) or 0
    return ModelFile(
        path=path,
        size_bytes=values.file_size,
        name=called(path),
        architecture=values.architecture,
        quantisation=quantisation(values.tensors, values.file_type, called(path)),
        parameters=sum(tensor.n_elements for tensor in values.tensors),
        trained_context=values.integer(values.key("context_length")) or 0,
        kv_bytes_per_token=sum(kv_heads) * sum(_head_lengths(values)) * _BYTES_PER_F16,
        vocabulary_size=len(values.tokens),
        has_chat_template=any(_template_sources(values)),
        tokenizer_warning=_NO_PRE_TOKENIZER if unsplit else "",
        notice=without_middle((values.text(NOTICE_KEY) or "").strip(), _LONGEST_NOTICE),
        kv_types=tuple(KvType) if whole_blocks or not any(_heads(values)) else (KvType.F16,),
        title=values.title,
        more_files=more_files,
        experts=(most("expert_count"), most("expert_used_count")),
        layers=values.integer(values.key("block_count")) or 0,
    )


def _heads(values: GgufHeader) -> list[int]:
    return values.per_layer(values.key("attention.head_count"))


def _head_lengths(values: GgufHeader) -> tuple[int, int]:
    """Numbers in the key and in the value of one head."""
    head_size = (values.integer(values.key("embedding_length")) or 0) // max([*_heads(values), 1])
    key_length = values.integer(values.key("attention.key_length")) or head_size
    value_length = values.integer(values.key("attention.value_length")) or head_size
    return key_length, value_length
