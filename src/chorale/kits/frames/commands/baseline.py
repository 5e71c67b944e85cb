"""`chorale baseline frames`"""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.files.targets import check_target, writing
from chorale.kits.frames.baselines import FramePrediction, frames_by_sense, top_crowd_frames, write_predictions
from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.files.reading import digest_of_files
from chorale.kits.frames.files.scores import read_frame_scores
from chorale.kits.frames.files.sense_map import read_frame_map
from chorale.kits.frames.files.words import read_frame_words
from chorale.kits.frames.framenet import read_framenet
from chorale.metrics import signature
from chorale.metrics.options import Force
from chorale.model import UserError
from chorale.model.extras import need
from chorale.model.plural import plural
from chorale.text.wordnet import read_wordnet

System = Annotated[
    Literal["tc", "fs", "os", "os+"],
    Argument(
        metavar="NAME",
        help="Baseline: tc (the crowd's top frame), fs (WordNet senses), os (trained classifier, one frame) or os+ "
        "(trained classifier, a confidence for each frame).",
    ),
]
Files = Annotated[
    list[Path],
    Argument(
        metavar="FILE...",
        help="Sentences with their words, in the same columns as the crowd's scores: sent_id, sentence and "
        "word. tc also requires the scores.",
    ),
]
FrameNetFolder = Annotated[Path | None, Option(metavar="DIR", help="FrameNet 1.7 for fs: a folder or an archive.")]
WordNetFolder = Annotated[
    Path | None,
    Option(metavar="DIR", help="WordNet for fs: the folder that contains index.verb. Default: the standard locations."),
]
FrameMaps = Annotated[list[Path] | None, Option("--map", help="Map from WordNet senses to frames, for fs. Repeatable.")]
Senses = Annotated[
    Literal["first", "lesk"],
    Option(
        metavar="HOW",
        help="How fs chooses a sense: first (the most frequent) or lesk (the gloss most similar to the sentence).",
    ),
]
Reaching = Annotated[
    Literal["map", "synonyms", "related"],
    Option(
        metavar="HOW",
        help="Where fs finds the frames of a sense: map, synonyms (also lexical units of its synonyms) or related "
        "(also related senses).",
    ),
]
ModelFolder = Annotated[
    Path | None,
    Option(metavar="DIR", help="Classifier for os and os+: a folder written by `chorale train frames`."),
]


def frames(
    system: System,
    files: Files,
    out: Annotated[Path, Option(help="Output file: .csv, .tsv or .jsonl.")],
    framenet: FrameNetFolder = None,
    wordnet: WordNetFolder = None,
    frame_map: FrameMaps = None,
    senses: Senses = "first",
    reach: Reaching = "related",
    model: ModelFolder = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Predict the frames of words in sentences with a baseline system, for `chorale evaluate frames`."""
    check_target(out, "--out", force=force, endings=(".csv", ".tsv", ".jsonl"))
    if system == "tc":
        crowd = read_frame_scores(files, need_scores=True, options=None)
        predictions, line = top_crowd_frames(crowd), _signature("tc", {}, {"crowd": crowd.digest})
    elif system == "fs":
        predictions, line = _by_senses(files, framenet, wordnet, frame_map or [], senses, reach)
    else:
        predictions, line = _by_classifier(files, model, several=system == "os+")
    with writing(out, "--out"):
        write_predictions(predictions, out)
    named = sum(bool(prediction.frames) for prediction in predictions)
    frames = sum(len(prediction.frames) for prediction in predictions)
    if as_json:
        counts = {"sentences": len(predictions), "named": named, "frames": frames}
        print_json({"system": system, **counts, "out": str(out), "signature": line})
        return
    sentences = plural(len(predictions), "sentence", "sentences")
    print_line(f"{out}: {plural(frames, 'frame', 'frames')} for {named:,} of {sentences}.")
    print_line(line)


def _signature(system: str, settings: dict[str, str], inputs: dict[str, str]) -> str:
    return signature("frame-baseline", {"system": system, **settings}, inputs)


def _by_senses(
    files: list[Path],
    framenet: Path | None,
    wordnet: Path | None,
    maps: list[Path],
    senses: Literal["first", "lesk"],
    reach: Literal["map", "synonyms", "related"],
) -> tuple[list[FramePrediction], str]:
    if framenet is None:
        raise UserError("fs requires FrameNet. Set --framenet to its folder.")
    if reach == "map" and not maps:
        raise UserError(
            "--reach map requires a map from senses to frames. Add a map with --map, or use another --reach."
        )
    words = read_frame_words(files)
    release, dictionary = read_framenet(framenet), read_wordnet(wordnet)
    mapped = read_frame_map(maps, release, dictionary) if maps else None
    predictions = frames_by_sense(
        words, CandidateFrames(release, dictionary, mapped.frames if mapped else None, reach), senses
    )
    inputs = {"framenet": release.digest, "wordnet": dictionary.digest, "sentences": digest_of_files(files)}
    if mapped:
        inputs["map"] = mapped.digest
    return predictions, _signature("fs", {"senses": senses, "reach": reach}, inputs)


def _by_classifier(files: list[Path], model: Path | None, *, several: bool) -> tuple[list[FramePrediction], str]:
    need("torch", "safetensors")
    if model is None:
        raise UserError(
            "os and os+ require a trained classifier. Train it with `chorale train frames` and set --model to its "
            "folder."
        )
    words = read_frame_words(files)
    with patiently("sentences") as progress:
        from chorale.kits.frames.baselines.saved import load_classifier  # noqa: PLC0415 - needs the extra `models`

        classifier = load_classifier(model)
        predictions = classifier.predict(words, "several" if several else "one", progress)
    line = _signature(
        "os+" if several else "os", {"trained": classifier.signature}, {"sentences": digest_of_files(files)}
    )
    return predictions, line
