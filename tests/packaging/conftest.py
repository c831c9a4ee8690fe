"""What the tests of packaging share: its scripts under their own names, Qt without a screen."""

import os
import sys

from tests.commands import ROOT

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Last, so that none of the scripts shadows a library of its name.
sys.path.append(str(ROOT / "packaging"))
