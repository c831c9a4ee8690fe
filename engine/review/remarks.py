"""What is said of the items of a run next to their own texts: explanations, notes and tags, for a search.

Knows: whose words may be seen by whom. Does not know: how words are looked for, windows.
"""

from collections.abc import Container, Iterator, Sequence

from engine.core.judgments import AnyJudgment, Judgment, JudgmentKey, Override
from engine.decisions.run_results import RunResults

NOTE, TAG = "note", "tag"


class Remarks:
    """What `author` may see of what is said of each item.

    `seen`: the judgments of which they may see everything, None for all. Of the others they see only their
    own annotations, and only their own notes until they may see all judgments of the item.
    """

    def __init__(
        self, results: RunResults, author: str = "", seen: Container[JudgmentKey] | None = None
    ) -> None:
        self._results, self._author, self._seen = results, author, seen
        self._by_annotators: dict[str, list[Override]] = {}
        for override in reversed(results.reviews.overrides):
            if override.explanation:
                self._by_annotators.setdefault(override.item_id, []).append(override)

    def of(self, place: int) -> Sequence[tuple[str, str]]:
        """Of an item, by its place among the judged: what each text is, and the text.

        What it is: the criterion of an explanation, NOTE or TAG. Of each judgment all explanations, whether
        effective or not: annotators' first, then the judge's, each the latest first.
        """
        judgments = [column[place] for column in self._results.judgments.values()]
        found = [(each.criterion, text) for each in judgments for text in self._explanations(each)]
        return list(dict.fromkeys([*found, *self._noted(place, judgments)]))

    def _sees(self, judgment: AnyJudgment) -> bool:
        return self._seen is None or judgment.key in self._seen

    def _explanations(self, judgment: AnyJudgment) -> Sequence[str]:
        sees = self._sees(judgment)
        by_annotators = [
            override.explanation or ""
            for override in self._by_annotators.get(judgment.item_id, ())
            if override.criterion == judgment.criterion and (sees or override.author == self._author)
        ]
        if not sees:
            return by_annotators
        if isinstance(judgment, Judgment):
            return [*by_annotators, *(written.text for written in reversed(judgment.explanations))]
        return [*by_annotators, judgment.text] if judgment.text else by_annotators

    def _noted(self, place: int, judgments: Sequence[AnyJudgment]) -> Iterator[tuple[str, str]]:
        sees_all = all(map(self._sees, judgments))
        for note in self._results.notes_on(self._results.judged[place].content_hash):
            if sees_all or note.author == self._author:
                yield from ((NOTE, text) for text in (note.text,) if text)
                yield from ((TAG, tag) for tag in note.tags)
