"""Selects all candidate frames that fit a word, or none.

Follows Dumitrache, Aroyo and Welty (2019): several workers choose from a list, and their agreement measures the clarity
of the sentence and the fit of each frame.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from chorale.contract.quality_names import QualityNames
from chorale.contract.task import Combining, Example, Explaining, Form, Grading, Options, Shape, Simulating, Task
from chorale.kits.frames.task.answers import (
    FrameGold,
    FramesChosen,
    FramesExplained,
    FramesWithMeaning,
    chosen,
    combine,
    distance,
    grade,
    guess,
    imitate,
    misfit,
    present,
)
from chorale.kits.frames.task.items import FrameItem, arrange, caption, seconds, shown
from chorale.kits.frames.task.prompting import FRAMES_ALONE, FRAMES_EXPLAINED
from chorale.kits.frames.task.tables import FRAME_QUALITY_TABLE, FRAME_TABLE, SENTENCE_TABLE, WORKER_TABLE
from chorale.model.wording import worded

_HERE = Path(__file__).parent


class FrameOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    explain: Literal["no", "if-none", "optional", "required"] = Field(
        default="no",
        description="Whether workers explain the meaning of the word in their own words: `no`, `if-none` (optional, "
        "and only after “none”), `optional` or `required`. Explanations do not count towards labels or quality.",
    )


def _configured(options: FrameOptions) -> Task:
    if options.explain == "no":
        return FRAMES
    needed = options.explain == "required"
    optional, required = ("", " required") if needed else (" <span data-say>(optional)</span>", "")
    shown = " data-if-none hidden" if options.explain == "if-none" else ""
    field = (_HERE / "explain.html").read_text("utf-8").format(optional=optional, required=required, shown=shown)
    answer_type = FramesWithMeaning if required else FramesExplained
    return replace(
        FRAMES,
        shape=replace(FRAMES.shape, answer_type=answer_type),
        form=replace(FRAMES.form, page=FRAMES.form.html + field, written_words=8 if required else 0),
        prompting=FRAMES_EXPLAINED,
    )


FRAMES = Task(
    name="frames",
    version=1,
    summary=worded("Which meanings fit the marked word?"),
    shape=Shape(item_type=FrameItem, answer_type=FramesChosen, gold_type=FrameGold, misfit=misfit),
    form=Form(
        page=_HERE / "page.html",
        module=_HERE / "frames.js",
        style=_HERE / "frames.css",
        view=shown,
        arrange=arrange,
        seconds=seconds,
    ),
    examples=(
        Example(
            row={
                "sentence": "The gardener watered the roses before breakfast.",
                "word": "watered",
                "lemma": "water",
                "in_framenet": True,
                "candidates": [
                    {
                        "frame": "Giving_drink",
                        "definition": "Somebody gives a plant or an animal water.",
                        "example": "She watered the horses at the river.",
                        "example_word": [4, 11],
                    },
                    {"frame": "Thinning", "definition": "Somebody makes a liquid weaker by adding water."},
                ],
            },
            answer=["Giving_drink"],
        ),
        Example(
            row={
                "sentence": "My eyes watered in the smoke.",
                "word": "watered",
                "candidates": [
                    {"frame": "Giving_drink", "definition": "Somebody gives a plant or an animal water."},
                    {"frame": "Thinning", "definition": "Somebody makes a liquid weaker by adding water."},
                ],
            },
            answer=["none"],
        ),
    ),
    options=Options(model=FrameOptions, configure=_configured),
    grading=Grading(grade=grade),
    combining=Combining(
        distance=distance,
        combine=combine,
        chosen=chosen,
        quality_names=QualityNames("Sentence", "SQS", "Frame", "FQS", "FSS", "WSA"),
    ),
    simulating=Simulating(guess=guess, imitate=imitate),
    explaining=Explaining(present=present, caption=caption),
    prompting=FRAMES_ALONE,
    exports=(FRAME_TABLE, SENTENCE_TABLE, WORKER_TABLE, FRAME_QUALITY_TABLE),
)

__all__ = ["FRAMES"]
