"""What people can read keeps to plain words: no retired terms, and sentences that can be read in one go."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from visible_words import (
    Sentence,
    markdown_texts,
    page_texts,
    python_texts,
    script_texts,
    sentences_of,
    study_file_texts,
    visible_texts,
    words_of,
)

ROOT = Path(__file__).parent.parent

# Each retired word or habit, and what to write instead.
RETIRED = {
    r"put right\b|that did not work|look at this\b": "Invalid …; Page not found; Warning: …",
    r"what becomes of|what came of|what comes of|comes of it": "the noun: result, use, outcome",
    r"\b(is|are|was|were) there already|that (is|are) there\b|if (it is|they are) there\b": "already exists; existing",
    r"\bso many\b|\bas many as\b": "number of …; up to",
    r"\bfor good\b|\bfor ever\b": "permanently",
    r"\bby chance\b|\bby themselves\b|\bby itself\b": "randomly; automatically",
    r"\btold\b|\btells? (what|how|which|whether|who)\b|\btell the \w+ apart": "report, show, list, confirm",
    r"\bhears?\b|\bheard\b": "see",
    r"\blet in\b|\blets? (\w+ ){1,2}in\b|lets nobody|is let\b|are let\b": "join, sign in, admit",
    r"\bstandings?\b": "status",
    r"\bdesk\b": "review queue",
    r"\bcolleagues?\b": "team",
    r"\breleased\b": "accepted",
    r"drawing starts|sampling starts|resamples to draw|\bdrawn\b": "random seed, sample, randomly",
    r"\bif (not|none is|none are) given\b|\bif left out\b": "default: …",
    r"\bwhoever\b": "anyone who; people who",
    r"\bgoes? on\b|\bgoing on\b": "continue",
    r"\bcomes? in\b|\bcame in\b": "join, sign in",
    r"\bis in order\b|\bare in order\b": "no problems found",
    r"\bwith commas\b": "separated by commas",
    r"\bas far as\b": "say which",
    r"\bthe same,? but\b|^the same (of|for|as)\b|^the same[.,:]": "say what it does",
    r"\bgiven? out\b|\bgives out\b": "assign",
    r"\bwritten down\b": "logged",
    r"\bleases?\b|\bleased\b": "time limit",
    r"\bcrowd's answer\b|what (the crowd|people|they|workers|somebody) said\b": "label; annotation; answer",
    r"\bluck\b": "significant; random variation",
    r"\btakes? over\b|\btaken over\b": "import",
    r"\bstands? beside\b": "is next to; is logged with",
    r"\bcomes? on top\b": "excludes; is added",
    r"\banew\b": "again; replaced",
    r"\bdear(er|est)\b": "expensive",
    r"\bperhaps packed\b": "optionally compressed",
    r"\bhow you did\b|\bdid well\b": "your result",
    r"\bnobody vouches\b": "not verified",
    r"\bpass(es)? all the same\b": "leave it out",
    r"\bput back\b|\bput (it|them|its \w+) back\b|\btaken back\b": "restore; undo",
    r"\bcompare notes\b|\bheld against\b": "exchange information; is compared with",
    r"\bas can be\b|\bhow manieth\b|\bby way of\b": "as possible; which; through",
    r"\b(that|which|and) is none\b|\bis no (name|number|backup|answer|grade|gate)\b": "is not a …; is invalid",
    r"\b(one|write one) an? (line|row|item)\b|, a line each\b": "one per line",
    r"\bbrings one\b|\bnothing (is|can be) said\b|\bwho has come\b": "has one; is unknown; people who joined",
    r"\bon its way through\b|\bcut short\b|\bonce more:": "in training; interrupted; check",
}

# Where a retired word is right: a part of the sentence, and why.
EXCEPTIONS: dict[str, str] = {
    "For good answers in": "an adjective, not the idiom: the reason of a bonus that workers read",
    "at-desk": "the name of a CSS class",
    "you have drawn {drawn}": "shapes on a picture, by hand",
    "Drawn on the picture": "by hand",
}

LONGEST = 25
"""Words of a sentence that most people read in one go."""
# Sentences that may be longer: their beginning, and why.
LONG: dict[str, str] = {
    "a about after all also an": "a list of stop words, not a sentence",
    "a an and are as": "a list of stop words, not a sentence",
    "of on or our out": "a list of stop words, not a sentence",
    "Dawid and Skene 1979, Applied": "a list of references",
    "Sona's documentation for researchers, *Using": "a list of sources",
    "With v(w,u) the vector": "a formula and its symbols",
    "AQS(a) = Σ": "a formula and its symbols",
    "60 for “Spearman's ρ": "a list of metrics with their number of runs",
}

# Folders whose words have not all been rewritten yet: how many retired words and how many long sentences they may
# have. A number here may only become smaller, and a folder that is not listed has none.
RETIRED_LEFT: dict[str, int] = {}
LONG_LEFT: dict[str, int] = {}

_ANY_RETIRED = re.compile("|".join(RETIRED), re.IGNORECASE)
_CODE = re.compile(r"(`+)(?:(?!\1).)+\1")


def folder_of(path: str) -> str:
    """The room of the package, for a kit its part; for anything else its folder."""
    parts = path.split("/")
    if parts[:2] != ["src", "chorale"]:
        return parts[0]
    if parts[2] == "kits" and len(parts) > 4:
        return "/".join(parts[2:5]).removesuffix(".py")
    if parts[2] == "web" and "templates" in parts:
        return "/".join(parts[2:5])
    return parts[2].removesuffix(".py")


def retired_in(sentence: Sentence) -> list[str]:
    """What is retired in a sentence, and what to write instead. Code is left out: names of fields stay as they are."""
    text = _CODE.sub("`code`", sentence.text)
    for allowed in EXCEPTIONS:
        text = text.replace(allowed, "")
    if not _ANY_RETIRED.search(text):
        return []
    return [
        f"{sentence.place}: “{match[0]}” (write: {instead}) in: {sentence.text[:160]}"
        for pattern, instead in RETIRED.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ]


def long_in(sentence: Sentence) -> list[str]:
    """Sentences beyond the budget. Docstrings are not counted: they have formulas and examples."""
    if sentence.of_code:
        return []
    return [
        f"{sentence.place}: {len(words_of(part))} words: {part[:200]}"
        for part in sentences_of(sentence.text)
        if len(words_of(part)) > LONGEST and not part.startswith(tuple(LONG))
    ]


@pytest.fixture(scope="module")
def texts() -> list[Sentence]:
    return list(visible_texts(ROOT))


def beyond(found: dict[str, list[str]], left: dict[str, int]) -> str:
    """What is more than a folder may have, as a message."""
    return "\n\n".join(
        f"{folder}: {len(lines)}, and {left.get(folder, 0)} may be left:\n" + "\n".join(lines)
        for folder, lines in sorted(found.items())
        if len(lines) > left.get(folder, 0)
    )


def by_folder(texts: list[Sentence], check: Callable[[Sentence], list[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        found[folder_of(text.path)] += check(text)
    return found


def test_no_retired_words(texts: list[Sentence]) -> None:
    assert (message := beyond(by_folder(texts, retired_in), RETIRED_LEFT)) == "", message


def test_sentences_are_short(texts: list[Sentence]) -> None:
    assert (message := beyond(by_folder(texts, long_in), LONG_LEFT)) == "", message


def test_the_collector_reads_messages_help_docstrings_pages_scripts_and_study_files(tmp_path: Path) -> None:
    module, page, doc = tmp_path / "module.py", tmp_path / "page.html", tmp_path / "doc.md"
    module.write_text(
        'def check(row):\n    """The same, but for rows."""\n    raise UserError(f"{row} is there already. '
        'Name another.")\n\n\ndef _inner(row):\n    """Nobody hears of it."""\n'
    )
    page.write_text("<p>You will <b>hear</b> how {{ you }} did.</p>\n<script>if (told) {}</script>\n{# told #}\n")
    doc.write_text(
        "# What becomes of what\n\nRun `told` first.\n\n```sh\nwhoever told\n```\n\n| a | so many rows |\n|---|---|\n"
    )
    script, study = tmp_path / "page.js", tmp_path / "study.toml"
    script.write_text("// whoever told\nshow(t(`Wait: ${name} comes in soon.`));\nconst told = 'goes';\n")
    study.write_text('# The better half\n# goes on.\nseed = 1  # where drawing starts\ntitle = "It is # put right."\n')
    sentences = [*python_texts(module, "m"), *page_texts(page, "p"), *markdown_texts(doc, "d")]
    sentences += [*script_texts(script, "s"), *study_file_texts(study, "t")]
    found = Counter(line.split("“")[1].split("”")[0] for each in sentences for line in retired_in(each))
    assert found == Counter(
        [
            *("The same, but", "is there already", "hear", "What becomes of", "so many"),
            *("comes in", "goes on", "drawing starts", "put right"),
        ]
    )


def test_the_budget_counts_words_and_not_code_or_values() -> None:
    short = Sentence("m", 1, " ".join(["word"] * LONGEST) + ". " + "`a b c d e f` {} 12 " * 3)
    assert long_in(short) == []
    assert len(long_in(Sentence("m", 1, " ".join(["word"] * (LONGEST + 1))))) == 1


def test_every_exception_and_allowance_is_still_needed(texts: list[Sentence]) -> None:
    everything = "\n".join(text.text for text in texts)
    assert [allowed for allowed in EXCEPTIONS if allowed not in everything] == []
    starts = {part for text in texts for part in sentences_of(text.text) if len(words_of(part)) > LONGEST}
    assert [allowed for allowed in LONG if not any(part.startswith(allowed) for part in starts)] == []
    folders = {folder_of(text.path) for text in texts}
    assert sorted((RETIRED_LEFT.keys() | LONG_LEFT.keys()) - folders) == []
