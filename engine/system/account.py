"""The account under which this program runs.

Knows: what the system calls it. Does not know: who a person says that he is.
"""

import getpass


def account_name() -> str:
    """The name of the user's account on this computer."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
