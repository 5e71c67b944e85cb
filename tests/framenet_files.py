"""A FrameNet, a WordNet and a map of a few entries, written by the tests: none of it is the real ones' text."""

from html import escape
from pathlib import Path

NS = 'xmlns="http://framenet.icsi.berkeley.edu"'
DEFINITIONS = {
    "Moving": "A <fen>Mover_of_things</fen> goes somewhere, e.g. home.  It may take time.\n\nNB: not for machines.\n"
    "<ex><fex name='Mover'>The cat</fex> <t>ran</t> up the tree .</ex>",
    "Leading": "Somebody leads a <fen>Group</fen>, as in <ment>run a shop</ment>.",
    "Working": "A machine works.<ex></ex><ex>The pump <t>runs</t>.</ex>",
    "Going": "Something goes &amp; comes.<ex>It <t>goes</t>.</ex>",
    "Speaking": "Somebody says something.<ex>She <m>has</m> <t>said</t> so.</ex>",
}
UNITS = {
    "run.v": ["Moving", "Leading", "Working"],
    "go.v": ["Going", "Moving"],
    "say.v": ["Speaking"],
    "talk (to).v": ["Speaking"],
    "runner.n": ["Moving"],
}
LINKS = [("Inheritance", "Moving", "Going"), ("Using", "Leading", "Speaking"), ("See_also", "Working", "Moving")]


def write_framenet(folder: Path, *, without: tuple[str, ...] = ()) -> Path:
    """Frames, lexical units, relations and one annotated text; one more text stands in the index only."""
    for name in ("frame", "fulltext"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    frames = "".join(f'<frame ID="{number}" name="{name}"/>' for number, name in enumerate(DEFINITIONS))
    (folder / "frameIndex.xml").write_text(f"<frameIndex {NS}>{frames}</frameIndex>")
    for name, definition in DEFINITIONS.items():
        text = escape(f"<def-root>{definition}</def-root>")
        (folder / "frame" / f"{name}.xml").write_text(
            f'<frame name="{name}" {NS}><definition>{text}</definition><FE name="Mover"/></frame>'
        )
    units = "".join(
        f'<lu name="{escape(unit)}" frameName="{frame}" ID="1"/>' for unit, found in UNITS.items() for frame in found
    )
    (folder / "luIndex.xml").write_text(f"<luIndex {NS}>{units}</luIndex>")
    kinds = "".join(
        f'<frameRelationType name="{kind}"><frameRelation subFrameName="{below}" superFrameName="{above}"/>'
        "</frameRelationType>"
        for kind, below, above in LINKS
    )
    (folder / "frRelation.xml").write_text(f"<frameRelations {NS}>{kinds}</frameRelations>")
    named = '<corpus name="Our"><document name="news"/><document name="gone"/></corpus>'
    (folder / "fulltextIndex.xml").write_text(f"<fulltextIndex {NS}>{named}</fulltextIndex>")
    (folder / "fulltext" / "Our__news.xml").write_text(f"<fullTextAnnotation {NS}>{_sentence()}</fullTextAnnotation>")
    for name in without:
        (folder / name).unlink()
    return folder


def _sentence() -> str:
    text = "Ann runs it ."
    tags = [(0, 2, "np"), (4, 7, "vvz"), (4, 7, "vvz"), (9, 10, "pp"), (12, 12, "sent")]
    labels = "".join(f'<label start="{start}" end="{end}" name="{tag}"/>' for start, end, tag in tags)
    target = '<layer name="Target"><label start="4" end="7" name="Target"/></layer>'
    return (
        f'<sentence ID="11"><text>{text}</text>'
        f'<annotationSet status="UNANN"><layer name="PENN">{labels}</layer></annotationSet>'
        f'<annotationSet luName="run.v" frameName="Leading" status="MANUAL">{target}</annotationSet>'
        '<annotationSet luName="run.v" frameName="Moving"><layer name="Target"><label name="Target"/></layer>'
        "</annotationSet></sentence>"
    )


Synsets = dict[str, tuple[str, str, list[tuple[str, str, str]], str]]
VERBS: Synsets = {
    "00000001": ("run", "29", [], "move fast on one's legs"),
    "00000002": ("run operate", "35", [("@", "00000004", "v")], "direct a business"),
    "00000003": ("sprint", "29", [("@", "00000001", "v"), ("+", "00000009", "n")], "run very fast"),
    "00000004": ("direct", "35", [], "be in charge of"),
    "00000005": ("saw", "35", [], "cut with a tool"),
    "00000006": ("see", "39", [], "perceive with the eyes"),
}
NOUNS: Synsets = {"00000009": ("runner", "18", [], "somebody who runs")}


def write_wordnet(folder: Path, verbs: Synsets = VERBS, nouns: Synsets = NOUNS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    none: Synsets = {}
    for suffix, pos, synsets in (("verb", "v", verbs), ("noun", "n", nouns), ("adj", "a", none), ("adv", "r", none)):
        senses: dict[str, list[str]] = {}
        lines = ["  1 This file was written by a test.  "]
        for offset, (words, file, links, gloss) in synsets.items():
            lemmas = words.split()
            for lemma in lemmas:
                senses.setdefault(lemma, []).append(offset)
            ids = " ".join(f"{lemma} {len(senses[lemma]) - 1:x}" for lemma in lemmas)
            # Derivations are between words: here, between the first ones.
            pointers = "".join(
                f" {link} {other} {kind} {'0101' if link == '+' else '0000'}" for link, other, kind in links
            )
            lines.append(f"{offset} {file} {pos} {len(lemmas):02x} {ids} {len(links):03d}{pointers} | {gloss}  ")
        (folder / f"data.{suffix}").write_text("\n".join(lines) + "\n")
        index = [f"{lemma} {pos} {len(found)} 0 {len(found)} 0 {' '.join(found)}  " for lemma, found in senses.items()]
        (folder / f"index.{suffix}").write_text("  1 A licence.\n" + "\n".join(index) + "\n")
    (folder / "verb.exc").write_text("ran run\nsaw see\n")
    return folder


def write_map(path: Path) -> Path:
    """In the lines of FnWnVerbMap; one frame under an old name, one that nobody knows, one sense of another version."""
    path.write_text("moving run run%2:29:00::\ngone run run%2:29:00::\nworking run run%2:99:00::\nleading sprint 0\n")
    return path
