"""What kind of model a file holds, by its header: only text generators can judge.

Knows: which architectures write text, how other files are marked: encoders, embedding models, adapters,
projectors, drafts. Does not know: which headers are sound, llama.cpp itself.
"""

from engine.gguf.values import CONVERT_AGAIN, HeaderValues

CHOOSE_CHAT_MODEL = "Choose a chat or instruct model in GGUF format."

# Asked of the library itself: architectures that it runs and that write text word by word.
_TEXT_GENERATORS = """
afmoe apertus arcee arctic arwkv7 baichuan bailingmoe bailingmoe2 bailingmoe3 bitnet bloom chameleon
chatglm codeshell cogvlm cohere2 cohere2moe command-r dbrx deci deepseek deepseek2 deepseek2-ocr
deepseek32 deepseek4 dots1 dots3note ernie4_5 ernie4_5-moe exaone exaone-moe exaone4 falcon
falcon-h1 gemma gemma2 gemma3 gemma3n gemma4 glm-dsa glm4 glm4moe glm5-next gpt-oss gpt2 gptj
gptneox granite granite_swa granitehybrid granitemoe graniteswitch grok grovemoe hrm_text
hunyuan-dense hunyuan-moe hunyuan_vl hy_v3 hy_v4 internlm2 jais jais2 jamba kimi-k3 kimi-linear
laguna lfm2 lfm2moe llama llama4 maincoder mamba mamba2 maple mellum mimo2 minicpm minicpm3
minimax-01 minimax-m2 minimax-m3 mistral3 mistral4 mpt muse-glimmer nanbeige nemotron nemotron_h
nemotron_h_moe olmo olmo2 olmoe openelm orion paddleocr pangu-embedded phi2 phi3 phimoe plamo plamo2
plamo3 plm qwen qwen2 qwen2moe qwen2vl qwen3 qwen35 qwen35moe qwen3moe qwen3next qwen3vl qwen3vlmoe
qwen4exp refact rwkv6 rwkv6qwen2 rwkv7 seed_oss smallthinker smollm3 spark2_5 stablelm starcoder
starcoder2 step35 talkie xverse
"""
_TEXT_GENERATOR_NAMES = frozenset(_TEXT_GENERATORS.split())

_POOLING = {1: "an embedding model", 2: "an embedding model", 3: "an embedding model", 4: "a reranker"}
_ENCODERS = frozenset({"gemma-embedding", "llama-embed", "t5encoder"})  # and all whose name has "bert" in it
_OTHER_ARCHITECTURES = {
    name: what
    for what, names in {
        "an encoder-decoder model: it cannot continue a prompt": ("t5",),
        "the image projector of another model": ("clip",),
        "a draft model, the helper of another model": ("eagle3", "dflash", "gemma4-assistant"),
        "a speech model": ("wavtokenizer-dec", "qwen3tts", "pockettts"),
        "a diffusion model: it does not generate token by token": ("dream", "llada", "llada-moe", "rnd1"),
        # As those name them who make these files for ComfyUI and stable-diffusion.cpp.
        "a generator of images": ("aura", "flux", "hidream", "lumina2", "qwen_image", "sd1", "sd3", "sdxl"),
        "a generator of video": ("cosmos", "hyvid", "ltxv", "wan"),
    }.items()
    for name in names
}
_OTHER_KINDS = {
    "adapter": "an adapter (LoRA) for another model",
    "lora": "an adapter (LoRA) for another model",
    "mmproj": "the image projector of another model",
    "projector": "the image projector of another model",
    "imatrix": "an importance matrix, used when models are quantised",
}


def check_kind(model: HeaderValues, hint: str) -> None:
    """Refuse what is part of other models, adapters for instance; `hint` says what to choose instead."""
    kind = (model.text("general.type") or "model").lower()
    if kind in _OTHER_KINDS:
        raise model.refused(f"this is {_OTHER_KINDS[kind]}, not a model", hint)


def check_not_split(model: HeaderValues) -> None:
    """Refuse one of several files that make up a model."""
    parts = model.integer("split.count") or 0
    if parts > 1:
        part = (model.integer("split.no") or 0) + 1
        raise model.refused(
            f"this is part {part} of a model that was split into {parts} files",
            "Download all parts and join them: `llama-gguf-split --merge FIRST-PART WHOLE.gguf`.",
        )


def check_architecture(model: HeaderValues) -> None:
    """Refuse architectures that do not write text, or that this llama.cpp does not know."""
    name = model.architecture
    if not name:
        raise model.refused("key 'general.architecture' is missing", CONVERT_AGAIN)
    if name in _OTHER_ARCHITECTURES:
        raise model.refused(f"its architecture {name!r} is {_OTHER_ARCHITECTURES[name]}", CHOOSE_CHAT_MODEL)
    if name in _ENCODERS or "bert" in name:
        raise model.refused(
            f"its architecture {name!r} is an encoder, which cannot generate text",
            f"{CHOOSE_CHAT_MODEL} This one may be used as the encoder for BERTScore."
            if name == "bert"
            else CHOOSE_CHAT_MODEL,
        )
    if name not in _TEXT_GENERATOR_NAMES:
        raise model.refused(
            f"its architecture {name!r} is not supported for text generation by this version of llama.cpp",
            "Choose another model, or a newer version of Tiebreak.",
        )


def check_writes(model: HeaderValues) -> None:
    """Refuse what has the architecture of a text generator, but was trained to read only."""
    pooled = _POOLING.get(model.integer(model.key("pooling_type")) or 0)
    if pooled or model.get(model.key("attention.causal")) is False:
        raise model.refused(
            f"this is {pooled or 'a bidirectional model'}: it was not made to generate text",
            CHOOSE_CHAT_MODEL,
        )


def check_has_tensors(model: HeaderValues, hint: str) -> None:
    """Refuse a vocabulary without a model; `hint` says what to choose instead."""
    if not model.tensors:
        raise model.refused("this file holds a vocabulary only, no model", hint)
