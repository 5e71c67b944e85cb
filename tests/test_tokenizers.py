"""Tokenizers named in the study: what spans are counted in, as it is shown, stored, exported and refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from chorale.engine.opening import open_study
from chorale.exchange.export_fields import tidy_labels
from chorale.folder.reading import load_folder
from chorale.kits.forms.task.tokenizers import cut_by
from chorale.kits.forms.task.tokens import excerpt, pieces, tokens, tokens_at
from chorale.model import UserError
from chorale.registry import Kit
from crowd import Person, look
from test_form import field_toml, write_form_study
from test_kit_parts import WithKits, with_kits

__all__ = ["with_kits"]
CHINESE = "你真是个大傻瓜，走开。"


def by_dictionary(text: str) -> list[str]:
    """A tokenizer as a package would have one: the longest known words first."""
    known = ("真是", "大傻瓜", "走开", "你", "个", "，", "。")
    found = []
    while text:
        token = next((word for word in known if text.startswith(word)), text[0])
        found.append(token)
        text = text[len(token) :]
    return found


def in_another_order(text: str) -> list[str]:
    return text.split()[::-1]


def of_another_text(_text: str) -> list[str]:
    return ["one", "zwei"]


KIT = Kit(
    name="chinese",
    summary="Words of Chinese.",
    tokenizers={
        "dictionary": f"{__name__}:by_dictionary",
        "backwards": f"{__name__}:in_another_order",
        "foreign": f"{__name__}:of_another_text",
    },
)


def write(folder: Path, tokenizer: str | None, text: str = CHINESE, extra: str = "") -> None:
    named: dict[str, Any] = {} if tokenizer is None else {"tokenizer": tokenizer}
    field = field_toml(name="spot", kind="spans", ask="Which words?", item="text", **named)
    write_form_study(folder, field + extra, rows=json.dumps({"id": "i1", "text": text}) + "\n", extra="judgments = 1")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("words", "Don't shout, please!", ["Don't", "shout", ",", "please", "!"]),
        ("spaces", " Don't shout, please! ", ["Don't", "shout,", "please!"]),
        ("characters", "né 走", ["n", "é", "走"]),
    ],
)
def test_own_tokenizers_cut_and_lose_nothing(name: str, text: str, expected: list[str]) -> None:
    cut = cut_by(name, text)
    assert tokens(cut) == expected
    assert "".join(pieces(cut)) == text.strip()
    assert tokens_at(cut, 0, len(expected[0])) == (0, 1)


def test_a_study_uses_a_tokenizer_of_a_kit(tmp_path: Path, with_kits: WithKits) -> None:
    with_kits(KIT)
    write(tmp_path, "dictionary")
    study = open_study(tmp_path)
    person = Person(study, "ann")
    offer = person.next("only")
    assert offer.view is not None and offer.view["text"] == CHINESE, "it is shown as it was written"
    cut = offer.view["pieces"]["text"]
    assert cut[::2] == by_dictionary(CHINESE) and "".join(cut) == CHINESE
    person.submit(offer, {"spot": [{"start": 3, "end": 4}]})
    (row,) = look(study, lambda tx: list(tidy_labels(tx, study)))
    assert (row["value"], row["start_character"], row["end_character"]) == ("大傻瓜", 4, 7)
    assert CHINESE[row["start_character"] : row["end_character"]] == row["value"]
    assert excerpt(["", *cut], 3, 4) == "大傻瓜"
    study.close()


def test_check_notes_texts_without_spaces_only_where_no_tokenizer_cuts_them(
    tmp_path: Path, with_kits: WithKits
) -> None:
    with_kits(KIT)
    for tokenizer, doubts in ((None, True), ("dictionary", False)):
        write(tmp_path, tokenizer)
        folder = load_folder(tmp_path)
        (stage,) = folder.stages
        (field,) = stage.task.shape.fields
        assert field.doubt is not None
        assert (field.doubt(stage.items[0].payload) is not None) is doubts


@pytest.mark.parametrize(
    ("tokenizer", "text", "message"),
    [
        ("nobody", CHINESE, "(found 'nobody'). Use one of: `words`, `spaces`, `characters`, `dictionary`"),
        ("backwards", "one two three", "it omits the beginning of the text"),
        ("foreign", "one two three", "its token 'zwei' is not in the text there"),
    ],
)
def test_what_cannot_cut_is_refused(
    tmp_path: Path, with_kits: WithKits, tokenizer: str, text: str, message: str
) -> None:
    with_kits(KIT)
    write(tmp_path, tokenizer, text)
    with pytest.raises(UserError) as caught:
        load_folder(tmp_path)
    assert message in str(caught.value)


def test_two_fields_cut_a_text_in_one_way(tmp_path: Path) -> None:
    other = field_toml(name="also", kind="spans", ask="Which?", item="text", tokenizer="spaces")
    write(tmp_path, "characters", extra=other)
    with pytest.raises(UserError, match="differs from the tokenizer of another field with the same column"):
        load_folder(tmp_path)
