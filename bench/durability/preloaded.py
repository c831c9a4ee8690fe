"""What a window imports once it works, imported before its process is forked.

Knows: which modules take long. Does not know: what for.
"""

import gui.window.main_content  # noqa: F401
from bench.durability import windows  # noqa: F401
