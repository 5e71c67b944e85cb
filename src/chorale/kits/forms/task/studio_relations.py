"""Spans and relations as Label Studio regions and relations."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from chorale.contract.fields import StudioControl
from chorale.kits.forms.task.studio import Options, Results
from chorale.kits.forms.task.studio_spans import span_labels
from chorale.model import Payload


def relation_labels(name: str, column: str, options: Options, relations: Sequence[str]) -> StudioControl:
    """A `Labels` control on a text, whose regions refer to each other by `relations`."""
    spans = span_labels(name, column, options)

    def tag(to: str) -> str:
        # Without these tags, neither the project nor an import of its export knows the names of relations.
        known = "".join(f"<Relation value={quoteattr(value)}/>" for value in relations)
        return f"{spans.tag(to)}\n  <Relations>{known}</Relations>"

    def results(value: Mapping[str, Any], item: Payload) -> Results:
        regions = list(spans.results(value["spans"], item))
        arrows = [
            {
                "type": "relation",
                "from_id": regions[each["from"]]["id"],
                "to_id": regions[each["to"]]["id"],
                "direction": "right",
                "labels": [each["label"]],
            }
            for each in value["relations"]
        ]
        return [*regions, *arrows]

    def read(given: Results, item: Payload) -> dict[str, Any]:
        regions = [each for each in given if each["type"] != "relation"]
        read_spans = spans.read(regions, item) if spans.read is not None else []
        by_id = {each["id"]: read_spans.index(one[0]) for each in regions if (one := _alone(spans, each, item))}
        arrows = [
            {"from": by_id[each["from_id"]], "to": by_id[each["to_id"]], "label": each["labels"][0]}
            for each in given
            if each["type"] == "relation" and each["from_id"] in by_id and each["to_id"] in by_id
        ]
        ordered = sorted(arrows, key=lambda each: (each["from"], each["to"], each["label"]))
        return {"spans": read_spans, "relations": ordered}

    return StudioControl(tag, results, read)


def _alone(spans: StudioControl, region: Mapping[str, Any], item: Payload) -> list[dict[str, Any]]:
    return [] if spans.read is None else list(spans.read([region], item))
