"""`chorale prepare frames`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chorale.cli.arguments import AsJson
from chorale.cli.targets import Force, check_target, writing

if TYPE_CHECKING:
    from chorale.kits.frames.candidates import CandidateFrames
    from chorale.kits.frames.preparing import FrameItems

Texts = Annotated[
    Path,
    typer.Argument(
        metavar="TEXT|JSONL|CONLLU",
        help="Sentences: plain text (.txt), rows with tokens, sentence or text (.jsonl, .csv), or CoNLL-U (.conllu).",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write the items.", show_default=False)]
Framenet = Annotated[
    Path,
    typer.Option(
        "--framenet",
        metavar="FOLDER",
        help="FrameNet 1.7: its folder, or the packed file as it was downloaded.",
        show_default=False,
    ),
]
Wordnet = Annotated[
    Path | None,
    typer.Option(
        "--wordnet",
        metavar="FOLDER",
        help="WordNet's folder, the one with index.verb; looked for in the usual places if not given.",
        show_default=False,
    ),
]
Maps = Annotated[
    list[Path] | None,
    typer.Option(
        "--map",
        metavar="FILE",
        help="Which frames fit which senses of WordNet; several files are put together.",
        show_default=False,
    ),
]
Names = Annotated[
    Path | None,
    typer.Option(
        "--names",
        metavar="FILE",
        help="Old and new names of frames (.csv, .tsv, .jsonl), beside those that are known.",
        show_default=False,
    ),
]
ReachOption = Annotated[
    Literal["units", "map", "synonyms", "related"],
    typer.Option(
        "--reach",
        metavar="HOW",
        help="Where candidates come from: FrameNet's lexical units only (units); with the map (map); with lexical "
        "units of the same sense (synonyms); with all that WordNet's relations lead to (related).",
    ),
]
OverOption = Annotated[
    Literal["leave-out", "cut"],
    typer.Option(
        "--over",
        metavar="HOW",
        help="Words with more candidates than --most: leave-out the word, or cut the list to the nearest ones.",
    ),
]
OnePerLine = Annotated[
    bool, typer.Option("--one-per-line", help="In plain text, take every line for one sentence, and split none.")
]


def frames(
    texts: Texts,
    out: Out,
    framenet: Framenet,
    wordnet: Wordnet = None,
    maps: Maps = None,
    names: Names = None,
    reach: ReachOption = "map",
    sentences: Annotated[
        int | None,
        typer.Option("-n", "--sentences", metavar="N", min=1, help="How many to choose; all if not given."),
    ] = None,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, max=60, help="Candidates a word may have at most.")
    ] = 25,
    over: OverOption = "leave-out",
    least: Annotated[
        int, typer.Option("--least", metavar="N", min=1, max=60, help="Candidates a word must have at least.")
    ] = 2,
    pos: Annotated[
        str, typer.Option("--pos", metavar="LIST", help="Parts of speech, with commas between them: v, n, a, adv.")
    ] = "v",
    one_per_line: OnePerLine = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of what is chosen among equals.")] = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find words with their candidate frames in a text, as diverse as can be, for `chorale new --template frames`."""
    from chorale.cli.output import print_json
    from chorale.cli.progress import patiently
    from chorale.files.tables import write_jsonl
    from chorale.kits.frames.preparing import Wanted, frame_items
    from chorale.text.sentence_files import read_given

    check_target(out, "--out", force=force, endings=(".jsonl",))
    wanted = Wanted(sentences, most, over, least, _parts(pos), seed)
    with patiently("sentences") as progress:
        candidates, notes = _candidates(framenet, wordnet, maps or [], names, reach)
        given = read_given(texts, one_per_line=one_per_line)
        found = frame_items(given, candidates, wanted, progress)
    _refuse_nothing(found, texts)
    with writing(out, "--out"):
        write_jsonl(found.rows, out)
    if as_json:
        numbers = ("sentences", "too_long", "words", "without_candidates", "over", "frames")
        told = {name: getattr(found, name) for name in numbers}
        more = {"evenness": found.evenness, "not_in_framenet": found.not_in_framenet, "model": found.model or None}
        print_json({"file": str(out), "items": len(found.rows), **told, **more, "notes": notes})
        return
    _tell(found, out, most, over, notes)


def _parts(pos: str) -> tuple[str, ...]:
    from chorale.kits.frames.preparing import POS
    from chorale.model import UserError

    found = tuple(dict.fromkeys(part.strip() for part in pos.split(",") if part.strip()))
    unknown = [part for part in found if part not in POS.values()]
    if unknown or not found:
        raise UserError(f"--pos {pos!r} is not a list of parts of speech. Choose from {', '.join(POS.values())}.")
    return found


def _candidates(
    framenet: Path, wordnet: Path | None, maps: list[Path], names: Path | None, reach: str
) -> "tuple[CandidateFrames, list[str]]":
    from chorale.kits.frames.candidates import REACHES, CandidateFrames
    from chorale.kits.frames.files.frame_map import read_frame_map
    from chorale.kits.frames.framenet import read_framenet, read_name_changes
    from chorale.model.plural import plural
    from chorale.text.wordnet import read_wordnet

    frames_known = read_framenet(framenet)
    frames_known.check_frames()
    known = next(each for each in REACHES if each == reach)
    if known == "units":
        return CandidateFrames(frames_known, None, None, known), []
    senses = read_wordnet(wordnet)
    changes = read_name_changes(names) if names else None
    notes = []
    mapped = None
    if maps:
        read = read_frame_map(maps, frames_known, senses, changes)
        mapped = read.frames
        if read.unknown_frames:
            left = ", ".join(read.unknown_frames[:5])
            many_left = plural(len(read.unknown_frames), "frame", "frames")
            notes.append(f"The map has {many_left} that this FrameNet does not know: {left}.")
        if read.unknown_senses:
            notes.append(
                f"The map has {plural(read.unknown_senses, 'sense', 'senses')} that this WordNet does not know."
            )
    elif known == "map":
        notes.append("Without --map only FrameNet's own lexical units give candidates.")
    return CandidateFrames(frames_known, senses, mapped, known), notes


def _refuse_nothing(found: "FrameItems", texts: Path) -> None:
    from chorale.files.source import refused

    if not found.rows:
        words = (
            f"{found.words:,} words, {found.without_candidates:,} with too few candidates, {found.over:,} with too many"
        )
        fix = "Name more text, raise --most, lower --least, or widen --reach"
        raise refused(texts, None, "has no word that can become an item", fix, words)


def _tell(found: "FrameItems", out: Path, most: int, over: str, notes: list[str]) -> None:
    from chorale.cli.output import say, tell_notes
    from chorale.kits.frames.preparing import LONGEST_SENTENCE
    from chorale.model.plural import plural

    say(f"{out}: {plural(len(found.rows), 'word', 'words')} of {plural(found.sentences, 'sentence', 'sentences')}.")
    frames_there = plural(found.frames, "frame", "frames")
    say(f"Their candidates have {frames_there}, spread {found.evenness:.0%} as evenly as can be.")
    if found.not_in_framenet:
        say(f"{plural(found.not_in_framenet, 'word has', 'words have')} candidates through WordNet alone.")
    if found.too_long:
        long = plural(found.too_long, "sentence has", "sentences have")
        say(
            f"{long} more than {LONGEST_SENTENCE:,} characters and {'was' if found.too_long == 1 else 'were'} left out."
        )
    if found.over:
        what = "were left out" if over == "leave-out" else "were cut to the nearest"
        say(f"{plural(found.over, 'word has', 'words have')} more than {most} candidates and {what}.")
    tell_notes(notes)
