"""`chorale prepare frames`"""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson, OnePerLine, Texts
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.files.source import refused
from chorale.files.tables import write_jsonl
from chorale.files.targets import check_target, writing
from chorale.kits.frames.candidates import CandidateFrames, Reach
from chorale.kits.frames.files.definitions import Definitions, read_definitions
from chorale.kits.frames.files.sense_map import read_frame_map
from chorale.kits.frames.framenet import read_framenet, read_name_changes
from chorale.kits.frames.preparing import LONGEST_SENTENCE, LONGEST_WORD, POS, FrameItems, WordSelection, frame_items
from chorale.metrics.options import Force
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.text.sentence_files import read_given
from chorale.text.wordnet import read_wordnet

Framenet = Annotated[Path, Option(metavar="DIR", help="FrameNet 1.7: a folder, or the archive as downloaded.")]
Wordnet = Annotated[
    Path | None,
    Option(metavar="DIR", help="WordNet folder that contains index.verb. Default: the standard locations."),
]
Maps = Annotated[
    list[Path] | None, Option("--map", help="Map from WordNet senses to frames. Repeatable; files are merged.")
]
Names = Annotated[
    Path | None,
    Option("--names", help="Old and new names of frames (.csv, .tsv, .jsonl), in addition to the built-in list."),
]
ReachOption = Annotated[
    Reach,
    Option(
        metavar="HOW",
        help="Sources of candidates: units (FrameNet's lexical units), map (also --map), synonyms (also units of the "
        "same sense) or related (also related senses).",
    ),
]
OverOption = Annotated[
    Literal["leave-out", "cut"],
    Option(
        metavar="HOW",
        help="For words with more candidates than --most: leave-out (skip the word) or cut (keep the nearest ones).",
    ),
]


Examples = Annotated[int, Option(min=0, max=9, metavar="N", help="Maximum number of examples per frame.")]
DefinitionsFile = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        help="Frames in your own words (.csv, .tsv, .jsonl): frame, definition, example. Other frames keep FrameNet's "
        "definitions.",
    ),
]
Outside = Annotated[
    int | None,
    Option(min=0, metavar="N", help="Number of words outside FrameNet to choose. Default: no quota."),
]


def frames(
    texts: Texts,
    out: Annotated[Path, Option(help="Output file for the items.")],
    framenet: Framenet,
    wordnet: Wordnet = None,
    maps: Maps = None,
    names: Names = None,
    reach: ReachOption = "related",
    sentences: Annotated[int | None, Option(short="-n", min=1, help="Number of words to choose. Default: all.")] = None,
    most: Annotated[int, Option(min=1, max=60, help="Maximum number of candidates per word.")] = 25,
    over: OverOption = "cut",
    least: Annotated[int, Option(min=1, max=60, help="Minimum number of candidates per word.")] = 2,
    per_sentence: Annotated[int, Option(min=1, help="Maximum number of words from one sentence.")] = 1,
    outside: Outside = None,
    definitions: DefinitionsFile = None,
    examples: Examples = 3,
    pos: Annotated[str, Option(metavar="LIST", help="Parts of speech, separated by commas: v, n, a, adv.")] = "v",
    one_per_line: OnePerLine = False,
    seed: Annotated[int, Option(help="Random seed for ties.")] = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Choose words with diverse candidate frames from a text, as items for `chorale new --template frames`."""
    check_target(out, "--out", force=force, endings=(".jsonl",))
    if sentences is not None and outside is not None and outside > sentences:
        raise UserError(f"--outside {outside:,} is more than -n {sentences:,}. Raise -n, or lower --outside.")
    wanted = WordSelection(sentences, most, over, least, _parts(pos), seed, per_sentence, examples, outside)
    with patiently("sentences") as progress:
        candidates, notes = _candidates(framenet, wordnet, maps or [], names, reach)
        wordings = read_definitions(definitions, candidates.framenet) if definitions else Definitions({}, ())
        if wordings.unknown:
            many = plural(len(wordings.unknown), "frame", "frames")
            notes.append(
                f"{definitions} has {many} that this FrameNet does not have: {', '.join(wordings.unknown[:5])}."
            )
        given = read_given(texts, one_per_line=one_per_line)
        items = frame_items(given, candidates, wanted, progress, wordings.frames)
    _refuse_nothing(items, texts)
    if wanted.outside is not None and items.not_in_framenet < wanted.outside:
        words = plural(items.not_in_framenet, "word", "words")
        limits = "--per-sentence or --most" if over == "leave-out" else "--per-sentence"
        notes.append(
            f"Only {words} outside FrameNet could be chosen, instead of {wanted.outside:,}. Add more text, raise "
            f"{limits}, or widen --reach."
        )
    with writing(out, "--out"):
        write_jsonl(items.rows, out)
    if as_json:
        numbers = ("sentences", "too_long", "words", "long_words", "without_candidates", "over", "not_chosen")
        counts = {name: getattr(items, name) for name in (*numbers, "lemmas", "frames")}
        more = {"evenness": items.evenness, "not_in_framenet": items.not_in_framenet, "model": items.model or None}
        print_json({"file": str(out), "items": len(items.rows), **counts, **more, "notes": notes})
        return
    _print_items(items, out, wanted, notes)


def _parts(pos: str) -> tuple[str, ...]:
    parts = tuple(dict.fromkeys(part.strip() for part in pos.split(",") if part.strip()))
    unknown = [part for part in parts if part not in POS.values()]
    if unknown or not parts:
        raise UserError(f"Invalid --pos {pos!r}. Use one or more of {', '.join(POS.values())}, separated by commas.")
    return parts


def _candidates(
    framenet: Path, wordnet: Path | None, maps: list[Path], names: Path | None, reach: Reach
) -> tuple[CandidateFrames, list[str]]:
    frames_known = read_framenet(framenet)
    frames_known.check_frames()
    if reach == "units":
        return CandidateFrames(frames_known, reach=reach), []
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
            notes.append(f"The map has {many_left} that this FrameNet does not have: {left}.")
        if read.unknown_senses:
            senses_left = plural(read.unknown_senses, "sense", "senses")
            notes.append(f"The map has {senses_left} that this WordNet does not have.")
    elif reach == "map":
        notes.append("Without --map, candidates come only from FrameNet's lexical units.")
    return CandidateFrames(frames_known, senses, mapped, reach), notes


def _refuse_nothing(items: FrameItems, texts: Path) -> None:
    if not items.rows:
        few = f"{items.without_candidates:,} with too few candidates"
        words = f"{items.words:,} words, {few}, {items.over:,} with too many"
        fix = "Add more text, raise --most, lower --least, or widen --reach"
        raise refused(texts, None, "has no word that can become an item", fix, words)


def _print_items(items: FrameItems, out: Path, wanted: WordSelection, notes: list[str]) -> None:
    words, sentences = plural(len(items.rows), "word", "words"), plural(items.sentences, "sentence", "sentences")
    print_line(f"{out}: {words} ({plural(items.lemmas, 'lemma', 'lemmas')}) from {sentences}.")
    frames_there = plural(items.frames, "frame", "frames")
    print_line(
        f"The candidates include {frames_there}, with an evenness of {items.evenness:.0%} (100%: all equally frequent)."
    )
    if items.not_in_framenet:
        print_line(f"{plural(items.not_in_framenet, 'word has', 'words have')} candidates only from WordNet.")
    if items.too_long:
        long, was = plural(items.too_long, "sentence has", "sentences have"), "was" if items.too_long == 1 else "were"
        print_line(f"{long} more than {LONGEST_SENTENCE:,} characters and {was} left out.")
    if items.long_words:
        overlong = plural(items.long_words, "word has", "words have")
        print_line(f"{overlong} more than {LONGEST_WORD} characters: left out.")
    if items.over:
        treatment = "left out" if wanted.over == "leave-out" else f"only the nearest {wanted.most} are kept"
        many = f"more than {wanted.most} candidates"
        print_line(f"{plural(items.over, 'word has', 'words have')} {many}: {treatment}.")
    if items.without_candidates:
        few = plural(items.without_candidates, "word has", "words have")
        print_line(f"{few} fewer than {plural(wanted.least, 'candidate', 'candidates')}: left out.")
    if items.not_chosen:
        unused = plural(items.not_chosen, "word with candidates was", "words with candidates were")
        print_line(f"{unused} not selected (-n, --per-sentence).")
    print_notes(notes)
