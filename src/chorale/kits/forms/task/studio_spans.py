"""Spans as regions of Label Studio: characters of the text, with a label."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.contract.fields import StudioControl
from chorale.kits.forms.task.studio import Options, Results, element
from chorale.kits.forms.task.tokens import characters, excerpt, tokens_at
from chorale.model import Payload


def span_labels(name: str, column: str, options: Options) -> StudioControl:
    """A `Labels` control on a text. Spans without labels are labelled with the field's name."""
    shown = options or ((name, name),)

    def tag(to: str) -> str:
        inner = "".join(element("Label", value=value) for value, _ in shown)
        return element("Labels", inner, name=name, toName=to)

    def results(value: Sequence[Mapping[str, Any]], item: Payload) -> Results:
        regions = []
        for number, span in enumerate(value, 1):
            first, last = characters(item[column], span["start"], span["end"])
            text = excerpt(item[column], span["start"], span["end"])
            region = {"start": first, "end": last, "text": text, "labels": [span.get("label", name)]}
            regions.append({"id": f"{name}-{number}", "type": "labels", "value": region})
        return regions

    def read(given: Results, item: Payload) -> list[dict[str, Any]]:
        spans = []
        for region in (each["value"] for each in given):
            place = tokens_at(item[column], region["start"], region["end"])
            if place is not None:
                labelled = {"label": region["labels"][0]} if options else {}
                spans.append({"start": place[0], "end": place[1], **labelled})
        return sorted(spans, key=lambda span: (span["start"], span["end"], span.get("label", "")))

    return StudioControl(tag, results, read)
