"""What a window imports once it works, imported before its process is forked."""

import gui.window.main_content  # noqa: F401
from bench.durability import windows  # noqa: F401
