"""A job on the ways of asking: whether a model can be asked to think.

Knows: where a chat template is read. Does not know: windows, how templates are rendered.
"""

from pathlib import Path

from engine.core.errors import SetupError
from gui.work.lanes import Job, JobControl


def knows_thoughts(path: Path) -> Job[bool | None]:
    """Whether the chat template of a model names thoughts; None where the file is no model.

    Nothing is rendered: the plan has the last word.
    """

    def work(_control: JobControl) -> bool | None:
        from engine.gguf.judge_file import template_source
        from engine.prompt.reply_start import may_think

        try:
            return may_think(template_source(path))
        except SetupError:
            return None  # the list of models says what is wrong with it

    return work
