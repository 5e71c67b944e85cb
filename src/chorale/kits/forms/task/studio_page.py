"""The parts of an item as Label Studio tags, and the options of a form in a labelling configuration."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from chorale.contract.fields import ShownTag, StudioPage
from chorale.kits.forms.task.items import media_looks
from chorale.kits.forms.task.settings import TURNS, FormOptions, Kind, Look

_MEDIA = {Look.PICTURE: "Image", Look.AUDIO: "Audio", Look.VIDEO: "Video"}
_DIALOGUE = ShownTag("Paragraphs", {"nameKey": "speaker", "textKey": "text", "layout": "dialogue"})


def studio_page(options: FormOptions) -> StudioPage:
    """The tags of columns that are not plain text, and what an import restores."""
    shown = {column: ShownTag(_MEDIA[look]) for column, look in media_looks(options).items()}
    shown |= {part.item: _DIALOGUE for part in options.shows if part.look is Look.DIALOGUE}
    for field in options.asked:
        if field.item and field.kind in TURNS:
            shown[field.item] = _DIALOGUE
        elif field.item and field.kind is Kind.BEST_WORST:
            shown[field.item] = ShownTag("List", convert=_titles)
    kept = options.model_copy(update={"fields": options.asked, "hidden": ()})
    settings = _short(kept.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    return StudioPage(shown, json.dumps(settings, ensure_ascii=False))


def _titles(texts: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    return [{"id": each["id"], "title": each["text"]} for each in texts]


def _short(value: Any) -> Any:
    """Settings in their short form: an option whose label equals its value becomes a plain text."""
    if isinstance(value, list):
        return [_short(each) for each in value]
    if isinstance(value, dict):
        alike = value.keys() == {"value", "label"} and value["value"] == value["label"]
        return value["value"] if alike else {name: _short(each) for name, each in value.items()}
    return value
