"""The run that the window offers before anything was chosen: the demo dataset, judged by the demo model.

Knows: which files the demo has. Does not know: widgets, how a run is made of its setup.
"""

from engine.core.run_setup import RunSetup
from engine.system.paths import demo_dataset, demo_model


def default_setup() -> RunSetup:
    """The demo's run with the default of every setting."""
    return RunSetup(demo_dataset(), demo_model())
