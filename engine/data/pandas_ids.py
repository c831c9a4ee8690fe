"""Which ids of a submission pandas gives back otherwise than they are written.

A module of its own, so that what reads and writes submissions need not wait for pandas.
"""

import io
from collections.abc import Sequence

import pandas as pd

from engine.core.items import unwritable_ids
from engine.data.submission import quoted_cell


def rewritten_ids(ids: Sequence[str]) -> list[str]:
    """The writable ids that a plain pandas.read_csv of the whole column gives back otherwise: 007 becomes 7.

    Whoever reads the dataset in the same way gets the same, so that such ids are no fault of a submission.
    """
    lost = set(unwritable_ids(ids))
    written = [item_id for item_id in ids if item_id not in lost]
    # The second column keeps pandas from skipping an id of spaces as a blank line.
    text = "id\trest\n" + "".join(f"{quoted_cell(item_id)}\t\n" for item_id in written)
    read = pd.read_csv(io.StringIO(text), sep="\t", low_memory=False)["id"].astype(str)
    return [item_id for item_id, back in zip(written, read, strict=True) if item_id != back]
