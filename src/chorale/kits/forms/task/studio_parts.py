"""Tables of ratings, rankings, best–worst choices and turns of dialogues as Label Studio controls."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chorale.contract.fields import StudioControl
from chorale.kits.forms.task.studio import Options, Results, element
from chorale.kits.forms.task.tokens import characters, excerpt, tokens_at
from chorale.model import Payload

Texts = Callable[[Payload], Mapping[str, str]]
"""From an item to its texts, by ID."""


def ratings(name: str, rows: Mapping[str, str], levels: int) -> StudioControl:
    """A `Rating` control for every row of a table."""
    # Rows may have any text, but the names of controls may not.
    controls = {row: f"{name}-{number}" for number, row in enumerate(rows, 1)}

    def tag(to: str) -> str:
        return "\n  ".join(
            element("Header", value=label, size=5) + element("Rating", name=controls[row], toName=to, maxRating=levels)
            for row, label in rows.items()
        )

    def results(value: Mapping[str, int], _item: Payload) -> Results:
        return [
            {"from_name": controls[row], "type": "rating", "value": {"rating": level}} for row, level in value.items()
        ]

    def read(given: Results, _item: Payload) -> dict[str, int]:
        levels_given = {each["from_name"]: each["value"]["rating"] for each in given}
        return {row: levels_given[control] for row, control in controls.items() if control in levels_given}

    return StudioControl(tag, results, read)


def ranker(name: str, texts: Texts) -> StudioControl:
    """A `Ranker` control with a `List` of its own."""
    shown, column = f"{name}-list", f"chorale_{name}"

    def tag(_to: str) -> str:
        return element("List", name=shown, value=f"${column}") + element("Ranker", name=name, toName=shown)

    return StudioControl(
        tag,
        lambda value, _: [{"to_name": shown, "type": "ranker", "value": {"ranker": {name: list(value)}}}],
        lambda given, _: list(given[0]["value"]["ranker"][name]),
        lambda item: {column: [{"id": each, "title": text} for each, text in texts(item).items()]},
    )


def best_and_worst(name: str, headings: Mapping[str, str], texts: Texts) -> StudioControl:
    """Two `Choices` of the texts of the item: one for each heading."""
    column = f"chorale_{name}"

    def tag(to: str) -> str:
        return "\n  ".join(
            element("Header", value=heading, size=5)
            + element("Choices", name=f"{name}-{role}", toName=to, value=f"${column}", choice="single")
            for role, heading in headings.items()
        )

    def results(value: Mapping[str, str], _item: Payload) -> Results:
        return [
            {"from_name": f"{name}-{role}", "type": "choices", "value": {"choices": [value[role]]}} for role in headings
        ]

    def read(given: Results, item: Payload) -> dict[str, str]:
        # Label Studio writes the alias of a choice, or its text if somebody removed the aliases.
        ids = {text: each for each, text in texts(item).items()}
        chosen = {each["from_name"].removeprefix(f"{name}-"): each["value"]["choices"][0] for each in given}
        return {role: ids.get(chosen[role], chosen[role]) for role in headings if role in chosen}

    return StudioControl(
        tag,
        results,
        read,
        lambda item: {column: [{"value": text, "alias": each} for each, text in texts(item).items()]},
    )


def turn_spans(name: str, column: str, options: Options) -> StudioControl:
    """`ParagraphLabels` on words of turns. Spans without labels are labelled with the field's name."""

    def results(value: Sequence[Mapping[str, Any]], item: Payload) -> Results:
        regions = []
        for span in value:
            text = item[column][span["turn"]]["text"]
            first, last = characters(text, span["start"], span["end"])
            words = excerpt(text, span["start"], span["end"])
            regions.append(_region(span["turn"], (first, last), words, span.get("label", name)))
        return regions

    def read(given: Results, item: Payload) -> list[dict[str, Any]]:
        spans = []
        for region in (each["value"] for each in given):
            # A region may go from one turn into the next, but a span is part of one turn.
            first_turn, last_turn = int(region["start"]), int(region["end"])
            for turn in range(first_turn, last_turn + 1):
                text = item[column][turn]["text"]
                first = region["startOffset"] if turn == first_turn else 0
                last = region["endOffset"] if turn == last_turn else len(text)
                place = tokens_at(text, first, last)
                if place is not None:
                    labelled = {"label": region["paragraphlabels"][0]} if options else {}
                    spans.append({"turn": turn, "start": place[0], "end": place[1], **labelled})
        return sorted(spans, key=lambda span: (span["turn"], span["start"], span["end"], span.get("label", "")))

    return StudioControl(lambda to: _labels(name, to, options or ((name, name),)), results, read)


def turn_labels(name: str, column: str, options: Options) -> StudioControl:
    """`ParagraphLabels` on whole turns."""

    def results(value: Sequence[Mapping[str, Any]], item: Payload) -> Results:
        texts = [turn["text"] for turn in item[column]]
        return [
            _region(each["turn"], (0, len(texts[each["turn"]])), texts[each["turn"]], each["value"]) for each in value
        ]

    def read(given: Results, _item: Payload) -> list[dict[str, Any]]:
        by_turn = {int(each["value"]["start"]): each["value"]["paragraphlabels"][0] for each in given}
        return [{"turn": turn, "value": value} for turn, value in sorted(by_turn.items())]

    return StudioControl(lambda to: _labels(name, to, options), results, read)


def _labels(name: str, to: str, options: Options) -> str:
    inner = "".join(element("Label", value=value) for value, _ in options)
    return element("ParagraphLabels", inner, name=name, toName=to)


def _region(turn: int, place: tuple[int, int], text: str, label: str) -> dict[str, Any]:
    """A part of a turn; Label Studio writes numbers of turns as text."""
    where = {"start": str(turn), "end": str(turn), "startOffset": place[0], "endOffset": place[1], "text": text}
    return {"type": "paragraphlabels", "value": {**where, "paragraphlabels": [label]}}
