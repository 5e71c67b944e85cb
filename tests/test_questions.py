"""The grammar of questions: parsing, rendering, completing, explaining; in Python and in the browser alike."""

import doctest
import json
import random
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page

from browsing import open_chromium
from chorale.kits.qasrl import grammar
from chorale.kits.qasrl.grammar import (
    BROWSER_MODULES,
    SLOTS,
    Context,
    NotAQuestion,
    Parsed,
    Slots,
    complete,
    machine,
    parse,
    prepositions,
    questions_alike,
    render,
    suggest,
    table,
)
from chorale.kits.qasrl.grammar.sentence import Clause, clause_in, conjugated
from chorale.text.inflections import VerbForms, inflect, variants_of
from chorale.web.pages import STATIC

CUT = inflect("cut")
VERBS = [inflect(stem) for stem in ("cut", "give", "do", "have", "be", "can", "undergo", "re-paint", "will")]
PLEAD, GET = (VerbForms.from_bank(verb.as_bank(), variants_of(verb)) for verb in (inflect("plead"), inflect("get")))
VERBS += [PLEAD, GET]
MORE = ("Amongst", "notwithstanding")
BEGINS = "A question begins with “what”, “who”, “when”, “where”, “how”, “why”, “how much” or “how long”."
TEMPLATE_ROUNDS = sorted((Path(grammar.__file__).parents[1] / "templates/qasrl").rglob("*.jsonl"))
SENTENCE = ("The", "twins", "had", "sold", "lemonade", "to", "tourists", "from", "a", "cart", ".")


def understood(question: str, forms: VerbForms = CUT) -> Parsed:
    found = parse(question, forms)
    assert isinstance(found, Parsed), found
    return found


def reason(question: str, forms: VerbForms = CUT) -> str:
    found = parse(question, forms)
    assert isinstance(found, NotAQuestion), found
    return found.reason


# Parsing


@pytest.mark.parametrize(
    ("question", "slots", "told"),
    [
        ("Who cut something?", ("who", "", "", "past", "something", "", ""), "past"),
        ("What cuts?", ("what", "", "", "presentSingular3rd", "", "", ""), "present"),
        ("What was cut?", ("what", "was", "", "pastParticiple", "", "", ""), "past passive"),
        ("What did someone cut?", ("what", "did", "someone", "stem", "", "", ""), "past"),
        (
            "Where might something have been cut?",
            ("where", "might", "something", "have been pastParticiple", "", "", ""),
            "might perfect passive",
        ),
        (
            "What isn't being cut by someone?",
            ("what", "isn't", "", "being pastParticiple", "", "by", "someone"),
            "present progressive negated passive",
        ),
        (
            "Who might not have been cutting something?",
            ("who", "might", "", "not have been presentParticiple", "something", "", ""),
            "might perfect progressive negated",
        ),
        (
            "How long has someone been cutting something?",
            ("how long", "has", "someone", "been presentParticiple", "something", "", ""),
            "present perfect progressive",
        ),
        (
            "What did someone not cut something with?",
            ("what", "did", "someone", "not stem", "something", "with", ""),
            "past negated",
        ),
        ("What won't someone cut something to do?",
         ("what", "won't", "someone", "stem", "something", "", "to do"), "will negated"),
        ("Who cut down on doing something?",
         ("who", "", "", "past", "", "down on", "doing something"), "past"),
        # The place that is asked for is the object's: what is left is the other one.
        ("Who did someone cut something?", ("who", "did", "someone", "stem", "", "", "something"), "past"),
        ("When did it cut somewhere?", ("when", "did", "it", "stem", "", "", "somewhere"), "past"),
    ],
)  # fmt: skip
def test_questions_are_understood(question: str, slots: tuple[str, ...], told: str) -> None:
    found = understood(question)
    assert tuple(found.slots) == slots
    words = {"perfect": found.is_perfect, "progressive": found.is_progressive, "negated": found.is_negated}
    words["passive"] = found.is_passive
    assert [found.tense, *(name for name, is_so in words.items() if is_so)] == told.split()
    assert render(found.slots, CUT) == found.text == question
    assert Slots.from_bank(found.slots.as_bank()) == found.slots


def test_writing_need_not_be_tidy() -> None:
    assert understood("  who   HASN’T cut  something ").text == "Who hasn't cut something?"
    assert understood("What was cut ?").text == "What was cut?"


def test_a_verb_that_is_also_a_helping_verb_is_told_from_it() -> None:
    have, do = inflect("have"), inflect("do")
    assert understood("Who has something?", have).slots == Slots("who", verb="presentSingular3rd", obj="something")
    assert understood("What had someone had?", have).slots == Slots("what", "had", "someone", "pastParticiple")
    assert understood("What does someone do?", do).slots == Slots("what", "does", "someone", "stem")


def test_prepositions_of_a_sentence_may_be_added() -> None:
    assert isinstance(parse("What did someone cut notwithstanding?", CUT), NotAQuestion)
    assert isinstance(parse("What did someone cut notwithstanding?", CUT, ["Notwithstanding"]), Parsed)
    assert "with" in prepositions()
    context = Context(("They", "cut", "it", "Notwithstanding", "rain"), 1, (), ("notwithstanding",))
    following = [one.text for one in complete("What did someone cut something ", CUT, context)]
    assert following.index("What did someone cut something notwithstanding") < 8


def test_another_spelling_of_the_verb_is_understood_and_written_as_the_verb_has_it() -> None:
    assert understood("Who pled something?", PLEAD) == understood("Who pleaded something?", PLEAD)
    assert understood("What has someone got?", GET).text == "What has someone gotten?"
    assert understood("What has been got?", GET).slots.verb == "been pastParticiple"
    assert isinstance(parse("Who pled something?", inflect("plead")), NotAQuestion)
    offered = [one.text for one in complete("What has been g", GET)]
    assert "What has been gotten" in offered and "What has been got" not in offered
    assert reason("Who has getting something?", GET).endswith("must be “gotten”, “been gotten” or “been getting”.")


def test_what_is_too_long_is_no_question() -> None:
    assert complete("who " * 100, CUT) == []


@pytest.mark.parametrize(
    "module",
    [
        *("text.inflections", "text.predicates", "text.tokens"),
        *(f"kits.qasrl.grammar.{name}" for name in ("completing", "machine", "sentence", "slots")),
    ],
)
def test_examples_in_the_code_come_out_as_shown(module: str) -> None:
    done = doctest.testmod(import_module(f"chorale.{module}"))
    assert done.attempted
    assert not done.failed


def test_the_gold_standard_splits_slots_elsewhere() -> None:
    told = understood("What has not been cut to do something?").slots.as_gold_standard(CUT)
    assert told == {
        "wh": "what",
        "aux": "hasn't",
        "subj": "",
        "obj": "",
        "obj2": "something",
        "prep": "to do",
        "verb_prefix": "been",
        "verb_slot_inflection": "Stem",
        "is_passive": "True",
        "is_negated": "True",
    }
    assert understood("When might it not be cut?").slots.as_gold_standard(CUT)["verb_prefix"] == "not~!~be"
    assert understood("When did it cut?").slots.as_gold_standard(CUT)["subj"] == "something"


# Explaining


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("", BEGINS),
        ("Did someone cut?", BEGINS),
        ("Who has cutting something?", "After “Who has” the verb must be “cut”, “been cut” or “been cutting”."),
        ("Whom did someone cut?", "Write “who” in place of “whom”."),
        ("Who did cut something?", "Write “cut” in place of “did cut”."),
        ("Who did", "The question is not finished. After “Who did” comes “someone” or “something”."),
        ("What were cut?", "Write “was” in place of “were”."),
        ("What did the old man cut?", "Write “someone” or “something” in place of “the old man”."),
        ("What did someone", "The question is not finished. After “What did someone” the verb must be “cut”."),
        ("What did someone cut something in something?",
         "Leave out “something” here: this is what the question asks for."),
        ("Who cut something something something",
         "Nothing can follow “Who cut something something”. The question ends there."),
        ("Why cut someone?", "After “Why” comes “was”, “is”, “did”, “does” or a similar word."),
        ("Who cut something about the", "Write “someone” or “something” in place of “the”."),
        ("Who cut who?",
         "After “Who cut” the question may end, or continue with “someone”, “something”, “somewhere”, “to” or a "
         "similar word."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_plain_words(question: str, why: str) -> None:
    assert reason(question) == why


def test_the_place_of_a_mistake_is_told() -> None:
    assert parse("Who has  cutting it?", CUT) == NotAQuestion(reason("Who has cutting it?"), 9)
    assert parse("What did", CUT).position == 8  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["?" * 500, "who " * 400, "What\x00did", "\ud800", "<b>Who</b>", "Who cut?\n\nWho?"])
def test_hostile_texts_are_no_questions(text: str) -> None:
    assert isinstance(parse(text, CUT), NotAQuestion)
    complete(text, CUT)


# Everything the machine can say


def walk(forms: VerbForms, rng: random.Random) -> Slots:
    """A question at random."""
    built = machine(forms)
    paths = built.start()
    while True:
        pieces = built.following(paths)
        if not pieces or (built.ended(paths) and rng.random() < 0.3):
            return built.ended(paths)[0]
        for word in rng.choice(pieces).text.split():
            paths = built.step(paths, word)


@given(st.integers(), st.sampled_from(VERBS))
def test_slots_and_questions_are_the_same_thing(seed: int, forms: VerbForms) -> None:
    slots = walk(forms, random.Random(seed))
    question = render(slots, forms)
    again = understood(question, forms)
    assert (again.slots, again.text) == (slots, question)
    assert Slots.from_bank(again.slots.as_bank()) == slots
    assert again.slots.as_gold_standard(forms)["wh"] == slots.wh
    assert set(slots.verb.split()) <= {"not", "have", "been", "be", "being", *table()["forms"]}


@given(st.integers(), st.sampled_from(VERBS), st.data())
def test_every_beginning_of_a_question_can_be_completed(seed: int, forms: VerbForms, data: st.DataObject) -> None:
    question = render(walk(forms, random.Random(seed)), forms).removesuffix("?")
    prefix = question[: data.draw(st.integers(0, len(question)))]
    offered = complete(prefix, forms, Context(SENTENCE, 3))
    assert offered[0].whole, "on a phone, one tap finishes the question"
    assert len({one.text for one in offered}) == len(offered)
    for one in offered:
        assert one.text.lower().startswith(prefix.lower().rstrip())
        found = parse(one.text, forms)
        assert isinstance(found, Parsed) if one.whole else machine(forms).walk(one.text.lower().split())
    # What is typed next is among what is offered, at the first letter at the latest.
    rest = question[len(prefix) :].split(" ")
    if prefix.endswith(" ") and rest[0]:
        begun = [one.text.lower() for one in complete(prefix + rest[0][0], forms)]
        assert any(text.startswith(f"{prefix}{rest[0]}".lower()) for text in begun)


@given(st.lists(st.integers(), max_size=3), st.sampled_from(VERBS), st.integers(0, len(SENTENCE) - 1))
def test_suggestions_are_questions_that_were_not_asked(seeds: list[int], forms: VerbForms, place: int) -> None:
    earlier = tuple(render(walk(forms, random.Random(seed)), forms) for seed in seeds)
    found = suggest(forms, Context(SENTENCE, place, earlier))
    asked = {understood(question, forms).key for question in earlier}
    keys = [understood(question, forms).key for question in found]
    assert not asked & set(keys)


# Completing


def texts(prefix: str, *earlier: str, sentence: tuple[str, ...] = (), place: int | None = None) -> list[str]:
    return [one.text for one in complete(prefix, CUT, Context(sentence, place, earlier))]


def test_an_earlier_question_leads_to_others() -> None:
    assert texts("", "Who cut something?")[:3] == [
        "What was cut?",
        "What did someone cut?",
        "When did someone cut something?",
    ]
    assert texts("What", "Who cut something?")[0] == "What was cut?"
    assert texts("", "What will be cut?")[:1] == ["Who will cut something?"]
    # Asked in another voice, it is the same.
    assert "What was cut?" not in texts("", "Who cut something?", "What did someone cut?")


@pytest.mark.parametrize(
    ("sentence", "verb", "first"),
    [
        ("The match was called off yesterday .", "call", "What was called off?"),
        ("The mayor called off the meeting .", "call", "Who called off something?"),
        ("The referee called off the match at noon .", "call", "Who called off something?"),
        ("The team moved up three places .", "move", "Who moved up something?"),
        ("The balloon took off at dawn .", "take", "What took off?"),
        ("They had to give it up .", "have", "Who had something?"),
        ("They had to give it up .", "give", "Who gave something up?"),
        ("They put the fire out .", "put", "Who put something out?"),
        ("The fair is going on in town .", "go", "What is going on?"),
        ("She laid off two workers .", "lay", "Who laid off something?"),
        ("The shop no longer sells bread .", "sell", "Who doesn't sell something?"),
        ("The shop does n’t sell bread .", "sell", "Who doesn't sell something?"),
        ("Soon she ’ll sell it .", "sell", "Who will sell something?"),
        ("The storm that hit the coast was short .", "hit", "What hit something?"),
        ("The stone quarried in Tura was white .", "quarry", "What was quarried?"),
        ("A newly elected mayor spoke .", "elect", "Who was elected?"),
        ("The problems he saw were old .", "see", "Who saw something?"),
        ("Her list includes two names .", "include", "What includes something?"),
        ("He said : no .", "say", "Who said something?"),
        ("The roof of the mill fell .", "fall", "What fell?"),
        ("The nurse called Ada Byron .", "call", "Who called someone?"),
        ("This provided a break .", "provide", "What provided something?"),
        ("They accused the baker of theft .", "accuse", "Who accused someone?"),
        ("The engine stopped after starting well .", "start", "What started?"),
        ("Sponges filter the water .", "filter", "What filters something?"),
        ("The pits still held old ships .", "hold", "What held something?"),
        ("She called on him to step down .", "step", "Who might step down?"),
        ("The guests arrived late .", "arrive", "Who arrived?"),
    ],
)
def test_the_first_suggestion_is_what_the_sentence_makes_likely(sentence: str, verb: str, first: str) -> None:
    forms = inflect(verb)
    tokens = tuple(sentence.split())
    assert suggest(forms, Context(tokens))[0] == first


def test_no_suggestion_asks_what_is_been() -> None:
    suggested = suggest(inflect("be"), Context(("He", "has", "been", "a", "teacher", "."), 2))
    assert suggested[0] == "Who has been something?"
    assert not any(understood(question, inflect("be")).is_passive for question in suggested)


def test_no_suggestion_asks_what_is_had() -> None:
    suggested = suggest(inflect("have"), Context(("I", "have", "no", "idea", "."), 1))
    assert suggested[:2] == ["Who has something?", "What does someone have?"]


def test_suggested_prepositions_are_in_the_verbs_clause() -> None:
    sentence = "In May we fought for hours on the hill , but she ran no faster than before"
    suggested = suggest(inflect("fight"), Context(tuple(sentence.split()), 3))
    asked = [text.removesuffix("?").split()[-1] for text in suggested if text.startswith("What did")]
    assert asked == ["for", "on"]
    compared = suggest(inflect("cut"), Context(("It", "cut", "better", "than", "his", "saw"), 1))
    assert not any("than" in text for text in compared)


@pytest.mark.parametrize(
    ("question", "advice"),
    [
        ("What someone cut?", "Write “did” or a similar word first: “What did someone cut?”"),
        ("To whom did someone cut something?", "Put “to” at the end: “What did someone cut something to?”"),
        ("How many did someone cut?", "Write “how much” in place of “how many”."),
        ("How often did someone cut something?", "Write “when” in place of “how often”."),
        ("Who bought something?", "The question is about the verb “cut”."),
    ],
)
def test_a_refusal_says_what_to_write(question: str, advice: str) -> None:
    assert advice in reason(question)


def test_the_sentence_decides_what_comes_first() -> None:
    kept = ("She", "has", "not", "been", "cutting", "bread", "with", "a", "knife", "at", "noon")
    offered = texts("", sentence=kept, place=4)
    assert offered[0] == "Who hasn't been cutting something?"
    assert texts("What hasn't someone been cutting something ", sentence=kept, place=4)[:2] == [
        "What hasn't someone been cutting something with?",
        "What hasn't someone been cutting something at?",
    ]
    passive = ("Prices", "were", "cut", "by", "half")
    assert texts("", sentence=passive)[:2] == ["What was cut?", "What did someone cut?"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("What did", "What did someone cut?"),
        ("when wi", "When will someone cut something?"),
        ("Who won't ", "Who won't cut something?"),
        ("Where was ", "Where was something cut?"),
        ("What is something ", "What is something being cut with?"),
        ("Who cut", "Who cut something?"),
        ("Who cut something ", "Who cut something?"),
        ("Who cut someone somewh", "Who cut someone somewhere?"),
        ("Who was cut with ", "Who was cut with something?"),
        ("Where did someone cut to ", "Where did someone cut to?"),
        ("Who was something cut by", "Who was something cut by?"),
    ],
)
def test_a_whole_question_is_offered_for_words_that_the_sentence_lacks(typed: str, first: str) -> None:
    sentence = ("She", "has", "been", "cutting", "bread", "with", "a", "knife")
    assert texts(typed, sentence=sentence, place=3)[0] == first


def test_pieces_complete_a_word_or_go_on() -> None:
    assert texts("What wa")[-2:] == ["What was", "What wasn't"]
    assert texts("How ")[0].startswith("How ")
    assert "How much" in texts("how")
    assert "What was cut?" in texts("What was cut")
    assert texts("What xyz ") == []


def test_two_prepositions_are_offered_where_they_are_usual() -> None:
    assert "What did someone cut out of" in texts("What did someone cut out ")
    assert "What did someone cut out between" not in texts("What did someone cut out ")
    assert "What did someone cut out between" in texts("What did someone cut out betw")


@pytest.mark.parametrize(
    ("words", "clause"),
    [
        ("They cut it", Clause("past")),
        ("They will cut it", Clause("will")),
        ("It could not have been cut", Clause("can", perfect=True, negated=True, passive=True)),
        ("It is being cut", Clause("present", progressive=True, passive=True)),
        ("She was slowly cutting", Clause("past", progressive=True)),
        ("It never cuts", Clause("present", negated=True)),
        ("Ada 's family cut it", Clause("past")),
        ("They had to cut it", Clause("past")),
        ("They do not have to cut it", Clause("present", negated=True)),
        ("It has to be cut", Clause("present", passive=True)),
    ],
)
def test_the_words_before_a_verb_tell_how_it_is_used(words: str, clause: Clause) -> None:
    tokens = words.split()
    place = next(number for number, token in enumerate(tokens) if token.startswith("cut"))
    assert clause_in(tokens, place, CUT) == clause


@given(
    st.builds(Clause, st.sampled_from(["present", "past", "will", "might", "can", "would", "should"]),
              st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    st.booleans(),
)  # fmt: skip
def test_every_clause_can_be_asked_about(clause: Clause, inverted: bool) -> None:
    aux, verb = conjugated(clause, inverted=inverted)
    give = inflect("give")
    slots = understood(render(Slots("who", aux, "someone" if inverted else "", verb), give), give).slots
    told = (slots.tense, slots.is_perfect, slots.is_negated, slots.is_passive)
    assert told == (clause.tense, clause.perfect, clause.negated, clause.passive)


# The same question twice


def test_questions_that_ask_for_the_same_are_found() -> None:
    asked = ["Who cut something?", "What was cut?", "What has someone cut?", "When was something cut?",
             "What did someone cut with?", "When did someone cut something?"]  # fmt: skip
    assert questions_alike(asked, CUT) == [(1, 2), (3, 5)]
    assert questions_alike(["Who cut?", "Who cut something?", "nonsense"], CUT) == []


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("Who cut something?", "subject"),
        ("Who was something cut by?", "subject"),
        ("What was cut?", "object"),
        ("What was someone cut?", "second object"),
        ("What did someone cut something with?", "prep with"),
        ("What did someone cut out to do?", "act out"),
        ("How much was cut?", ""),
        ("How long was something cut?", "how long"),
    ],
)
def test_a_question_asks_for_one_thing(question: str, role: str) -> None:
    found = parse(question, CUT)
    assert (found.slots.asked_for() if isinstance(found, Parsed) else "") == role


# The table


def test_the_table_is_sound() -> None:
    states, groups = table()["states"], table()["groups"]
    reached = {table()["start"]} | {target for state in states.values() for _, _, target in state["arcs"]}
    assert reached == set(states)
    used = {group for state in states.values() for _, group, _ in state["arcs"]}
    assert used == set(groups)
    assert {slot for state in states.values() for slot, _, _ in state["arcs"]} == set(SLOTS)
    assert all(isinstance(weight, int) for values in groups.values() for weight in values.values())
    assert all(set(pair.split()) <= set(groups["preposition"]) for pair in table()["pairs"])


# In the browser


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """An empty page that can import the grammar."""
    modules = {path.name: path.read_text("utf-8") for path in (*BROWSER_MODULES, STATIC / "say.js")}
    with open_chromium() as browser:
        page = browser.new_page()
        page.route(
            "http://grammar.test/**",
            lambda route: route.fulfill(
                content_type="text/javascript" if route.request.url.endswith(".js") else "text/html",
                body=modules.get(route.request.url.rpartition("/")[2], "<!doctype html><title>grammar</title>"),
            ),
        )
        page.goto("http://grammar.test/")
        yield page


# As text: Chromium's debugger takes long over large objects.
IN_BROWSER = """async (cases) => {
  const { Grammar } = await import("/question_grammar.js");
  return JSON.stringify(JSON.parse(cases).map(([forms, variants, tokens, place, earlier, text, ranked]) => {
    const grammar = new Grammar(forms, tokens, place ?? undefined, ["Amongst", "notwithstanding"], variants, ranked);
    const [parsed, offered] = [grammar.parse(text), grammar.complete(text, earlier)];
    return { parsed, offered, suggested: grammar.suggest(earlier) };
  }));
}"""


def test_questions_of_a_parser_come_first_and_what_was_asked_is_left_out() -> None:
    cut = inflect("cut")
    sentence = ("Nobody", "had", "cut", "the", "rope", "with", "a", "knife", ".")
    ranked = ("Where had someone cut something?", "What had been cut?", "Knives?")
    offered = suggest(cut, Context(sentence, 2, ranked=ranked))
    assert offered[:2] == list(ranked[:2])
    assert set(suggest(cut, Context(sentence, 2))) <= {*offered, "What had someone cut?"}
    assert suggest(cut, Context(sentence, 2, ("Where did someone cut something?",), ranked=ranked))[0] == ranked[1]


def disturbed(question: str, words: list[str], rng: random.Random) -> str:
    """A beginning of the question, the question with a word too many, or nothing like a question."""
    match rng.randrange(5):
        case 0:
            return question[: rng.randrange(len(question) + 1)]
        case 1:
            cut = question.split(" ")
            cut.insert(rng.randrange(len(cut) + 1), rng.choice(words))
            return " ".join(cut)
        case 2:
            return " ".join(rng.choice(words) for _ in range(rng.randrange(7)))
        case 3:
            return f" {question.removesuffix('?').upper()}  "
        case _:
            return question


def test_the_browser_says_what_python_says(page: Page) -> None:
    rng = random.Random(7)
    words = sorted({word for values in table()["groups"].values() for value in values for word in value.split()})
    words += [
        "the",
        "man",
        "are",
        "whom",
        "constructor",
        "__proto__",
        "It",
        "n't",
        "n’t",
        "’ll",
        "İ",
        "😀",
        "?",
        "hadn’t",
        "have",
        "he",
    ]
    cases: list[tuple[VerbForms, tuple[str, ...], int | None, tuple[str, ...], str]] = []
    for _ in range(250):
        forms = rng.choice(VERBS)
        known = [*words, *forms.all(), *(spelling for _, spelling in forms.variants)]
        tokens = tuple(rng.choice(known) for _ in range(rng.randrange(12)))
        earlier = tuple(render(walk(forms, rng), forms) for _ in range(rng.randrange(3)))
        place = rng.choice([None, *range(len(tokens))])
        cases.append((forms, tokens, place, earlier, disturbed(render(walk(forms, rng), forms), known, rng)))
    # Sentences as people write them: every rule about the words around a verb has its turn.
    for row in (json.loads(line) for name in TEMPLATE_ROUNDS for line in name.read_text("utf-8").splitlines()):
        forms = VerbForms.from_bank(row["forms"])
        asked = [one["question"] for one in row.get("answer", ())][: rng.randrange(2)]
        cases += [(forms, tuple(row["tokens"]), place, tuple(asked), "") for place in range(len(row["tokens"]))]
    # Half of the items have a parser's questions, and something that is none.
    ranked = [
        (*(render(walk(forms, rng), forms) for _ in range(3)), *earlier, "Nonsense?") if rng.random() < 0.5 else ()
        for forms, _, _, earlier, _ in cases
    ]
    sent = [
        [forms.as_bank(), variants_of(forms) if forms.variants else {}, tokens, place, earlier, text, first]
        for (forms, tokens, place, earlier, text), first in zip(cases, ranked, strict=True)
    ]
    found: list[dict[str, Any]] = json.loads(page.evaluate(IN_BROWSER, json.dumps(sent)))
    for (forms, tokens, place, earlier, text), first, there in zip(cases, ranked, found, strict=True):
        here = parse(text, forms, MORE)
        context = Context(tokens, place, earlier, MORE, first)
        if isinstance(here, Parsed):
            assert there["parsed"] == {"text": here.text, "key": here.key, "slots": here.slots._asdict()}, text
        else:
            assert there["parsed"] == {"reason": here.reason, "position": here.position}, text
        assert there["offered"] == [one._asdict() for one in complete(text, forms, context)], text
        assert there["suggested"] == suggest(forms, context), text
