"""What the build of llama.cpp found on this computer.

Knows: llama.cpp's own description of it. Does not know: models, whether the features are enough.
"""

import llama_cpp

from engine.llama_library import start_library


def processor_features() -> str:
    """The features in use, such as `CPU: SSE3, AVX, AVX2`; empty where llama.cpp names none.

    What has another value than 1, such as the architectures of a GPU, is given with it.
    """
    start_library()
    text = llama_cpp.llama_print_system_info().decode("utf-8", "replace")
    parts = [part.strip() for part in text.split("|")]
    features = (part.removesuffix(" = 1") for part in parts if part and not part.endswith(" = 0"))
    return ", ".join(features).replace(" : ", ": ")
