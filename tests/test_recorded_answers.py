"""Recorded answers of models: those that can be replayed are, and a file that has none is refused at the start."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from chorale.model import ModelSettings, UserError
from chorale.platforms.models import ModelRequest
from chorale.platforms.models.recorded import RecordedModel

ROW = {"stage": "main", "item": "c1", "output": {"answer": {"label": "toxic"}}}


def _model(folder: Path, *rows: Any) -> RecordedModel:
    file = folder / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return RecordedModel(ModelSettings(name="replay", answers="answers.jsonl"), file)


def test_outputs_may_be_objects(tmp_path: Path) -> None:
    model = _model(tmp_path, ROW, {**ROW, "item": "c2", "model_name": "other"})
    asked = ModelRequest(system="", messages=(), schema={}, stage="main", item="c1", prompt_sha256="0" * 64)
    assert json.loads(asyncio.run(model.ask(asked)).output or "") == ROW["output"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**ROW, "model_name": "prog"}], "It has answers of `prog`: give the model this name in study.toml"),
        ([{**ROW, "output": 3}], "Each row needs `output`"),
        ([], "Each row needs `output`"),
    ],
)
def test_a_file_without_usable_answers_is_refused(tmp_path: Path, rows: list[Any], said: str) -> None:
    with pytest.raises(UserError, match="has no answers of the model `replay`") as refused:
        _model(tmp_path, *rows)
    assert said in str(refused.value)
