"""What a control has to tell those who do not see it: rules for a test on a desktop and for one without."""

import re

_TAG = re.compile(r"</?[a-z][^<>]*>|&(lt|gt|amp|nbsp);", re.IGNORECASE)
_MNEMONIC = re.compile(r"(^|\s)&\w|\w&\w")
_LONGEST_NAME = 300


def wrong_words(name: str, description: str = "") -> list[str]:
    """What is wrong with what a control is called and what is said of it, a line each."""
    wrong = []
    if not name.strip():
        wrong.append("no name")
    elif not any(letter.isalnum() for letter in name):
        wrong.append("a name without a letter")
    if len(name) > _LONGEST_NAME:
        wrong.append(f"a name of {len(name)} letters")
    for what, text in (("name", name), ("description", description)):
        if found := _TAG.search(text):
            wrong.append(f"markup in its {what}: {found[0]!r}")
        if found := _MNEMONIC.search(text):
            wrong.append(f"the mark of a letter in its {what}: {found[0]!r}")
    if name and description.strip() == name.strip():
        wrong.append("a description that says its name again")
    return wrong
