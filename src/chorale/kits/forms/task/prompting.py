"""Prompts for models: the questions of a form in words, with marked words as quotes."""

from collections.abc import Iterator, Mapping
from typing import Any

from chorale.contract.prompting import QUOTE_SCHEMA, Prompting, UnreadableError, as_quote, find_quote
from chorale.kits.forms.task.answers import FormFields
from chorale.kits.forms.task.settings import PIECES, FieldSettings, Kind


def prompting(form: FormFields) -> Prompting:
    """Prompt for the fields of a form."""
    spans = {name: field.settings for name, field in form.fields.items() if field.settings.kind is Kind.SPANS}
    schema = form.schema()
    for name, settings in spans.items():
        schema["properties"][name] = {"type": "array", "items": _span_schema(settings)}

    def show(view: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in view.items() if name != PIECES}

    def read(view: Mapping[str, Any], given: Any) -> Any:
        if not isinstance(given, dict):
            raise UnreadableError("must have an answer for each field.")
        # Empty fields count as missing, because many models fill in every field of a schema.
        answer = {name: value for name, value in given.items() if value is not None}
        for name in spans.keys() & answer.keys():
            answer[name] = [_span(each, view[PIECES][spans[name].item or ""], name) for each in _listed(answer, name)]
        return answer

    def write(view: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
        written = {name: _first(form, name, value) for name, value in answer.items()}
        for name in spans.keys() & written.keys():
            pieces = view[PIECES][spans[name].item or ""]
            written[name] = [
                {
                    **as_quote(pieces, span["start"], span["end"]),
                    **({"label": span["label"]} if "label" in span else {}),
                }
                for span in written[name]
            ]
        return written

    return Prompting(
        ask="\n".join(_questions(form)),
        show=show,
        schema=schema,
        read=read,
        write=write,
        arranged=_in_order if form.shuffled else None,
    )


def _in_order(arrangement: Mapping[str, Any]) -> str:
    """The order of the options of each field."""
    return "\n".join(f"- `{name}`: {', '.join(f'`{each}`' for each in order)}" for name, order in arrangement.items())


def _first(form: FormFields, name: str, value: Any) -> Any:
    """Gold may have several correct texts."""
    written = form.fields[name].settings.kind in (Kind.TEXT, Kind.LONG_TEXT)
    return value[0] if written and isinstance(value, list) else value


def _span_schema(settings: FieldSettings) -> dict[str, Any]:
    properties = dict(QUOTE_SCHEMA["properties"])
    if settings.options:
        properties["label"] = {"enum": [option.value for option in settings.options]}
    required = ["text", "label"] if settings.options else ["text"]
    return {**QUOTE_SCHEMA, "properties": properties, "required": required}


def _listed(answer: Mapping[str, Any], name: str) -> list[Any]:
    value = answer[name]
    if not isinstance(value, list):
        raise UnreadableError(f"`{name}` must be a list of quotes.")
    return value


def _span(given: Any, pieces: list[str], name: str) -> dict[str, Any]:
    try:
        start, end = find_quote(pieces, given)
    except UnreadableError as error:
        raise UnreadableError(f"`{name}`: {error}") from None
    label = {"label": given["label"]} if isinstance(given, dict) and given.get("label") is not None else {}
    return {"start": start, "end": end, **label}


def _questions(form: FormFields) -> Iterator[str]:
    shown = [f"- `{part.item}`: {part.label}" for part in form.options.shows if part.label]
    if shown:
        yield "The item has:\n"
        yield from shown
        yield ""
    yield "The fields of the answer:\n"
    for name, field in form.fields.items():
        yield f"- `{name}`: {field.settings.ask}{''.join(_details(field.settings))}"


def _details(settings: FieldSettings) -> Iterator[str]:
    if settings.hint:
        yield f" {settings.hint}"
    match settings.kind:
        case Kind.CHOICE | Kind.CHOICES | Kind.SPANS if settings.options:
            options = ", ".join(
                f"`{each.value}`" + (f" ({each.label})" if each.label != each.value else "")
                for each in settings.options
            )
            yield f" {'Labels' if settings.kind is Kind.SPANS else 'Options'}: {options}."
        case Kind.LIKERT:
            yield f" From 1 to {settings.scale}."
            if settings.labels:
                yield f" {' · '.join(settings.labels)}."
        case Kind.PAIR:
            yield f" Answer with {', '.join(f'`{each}`' for each in settings.answers)}."
            if settings.same:
                yield f" `same`: {settings.same}."
    if settings.kind is Kind.CHOICES:
        yield (
            f" Any number of them; an empty list means: {settings.none}."
            if settings.none
            else " One or several of them."
        )
    if settings.kind is Kind.SPANS:
        yield f" Quote the words of `{settings.item}`."
    if settings.shown_if is not None:
        values = " or ".join(f"`{value}`" for value in settings.shown_if.is_)
        yield f" Only if `{settings.shown_if.field}` is {values}; leave it out otherwise."
    elif not settings.required:
        yield " Optional: leave it out if you have no answer."
