"""The forms of verbs, from the table of irregular ones, a dictionary, or rules alone."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorale.text import inflections
from chorale.text.attested import WrittenWords, is_attested, is_misspelt
from chorale.text.inflections import KEYS, VerbForms, inflect, verbs_of
from chorale.text.predicates import forms_of, predicates
from chorale.text.tagger import Tagged

FORMS = """
    walk walks walking walked walked
    stop stops stopping stopped stopped
    visit visits visiting visited visited
    refer refers referring referred referred
    carry carries carrying carried carried
    play plays playing played played
    die dies dying died died
    agree agrees agreeing agreed agreed
    hope hopes hoping hoped hoped
    hop hops hopping hopped hopped
    fix fixes fixing fixed fixed
    show shows showing showed shown
    mimic mimics mimicking mimicked mimicked
    quit quits quitting quit quit
    quiz quizzes quizzing quizzed quizzed
    veto vetoes vetoing vetoed vetoed
    undergo undergoes undergoing underwent undergone
    refreeze refreezes refreezing refroze refrozen
    overlap overlaps overlapping overlapped overlapped
    down-drop down-drops down-dropping down-dropped down-dropped
    relay relays relaying relayed relayed
    interpret interprets interpreting interpreted interpreted
    be is being was been
    have has having had had
    do does doing did done
    see sees seeing saw seen
    set sets setting set set
    forbid forbids forbidding forbade forbidden
    sandbag sandbags sandbagging sandbagged sandbagged
    enrol enrols enrolling enrolled enrolled
    channel channels channeling channeled channeled
"""


@pytest.fixture(params=["dictionary", "rules alone"])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With lemminflect, and as a base install has it."""
    if request.param == "dictionary":
        pytest.importorskip("lemminflect")
    else:
        monkeypatch.setattr(inflections, "_dictionary", lambda: None)
    for cached in (inflections._inflected, inflections._is_listed):
        cached.cache_clear()
    yield
    for cached in (inflections._inflected, inflections._is_listed):
        cached.cache_clear()


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("line", [line.strip() for line in FORMS.strip().splitlines()])
def test_verbs_have_their_forms(line: str) -> None:
    assert " ".join(inflect(line.split(maxsplit=1)[0]).all()) == line


@pytest.mark.usefixtures("_either_way")
def test_of_two_forms_in_use_the_one_in_the_sentence_is_taken() -> None:
    assert inflect("burn").past == "burned"
    assert inflect("Burn", seen="Burnt").all()[3:] == ("burnt", "burnt")
    assert inflect("lie", seen="lied").past_participle == "lied"
    assert inflect("lie", seen="lay").past_participle == "lain"
    assert inflect("label", seen="labeled").past == "labeled"
    assert inflect("prove", seen="proven").past == "proved"
    assert inflect("show", seen="showed").past_participle == "shown"
    assert inflect("shrink", seen="shrunk").all()[3:] == ("shrunk", "shrunk")
    assert inflect("bid", seen="bade").past_participle == "bidden"
    assert inflect("walk", seen="nonsense") == inflect("walk")


@pytest.mark.usefixtures("_either_way")
def test_a_form_leads_back_to_its_verb() -> None:
    stems = {word: [verb.stem for verb in verbs_of(word)] for word in ("went", "hopping", "Hoped", "tries", "found")}
    assert stems["went"] == ["go"]
    assert stems["hopping"][0] == "hop"
    assert stems["Hoped"][0] == "hope"
    assert stems["tries"][0] == "try"
    assert stems["found"][0] == "find"
    assert verbs_of("") == []


def test_forms_have_the_names_of_the_bank() -> None:
    forms = inflect("cut")
    assert tuple(forms.as_bank()) == KEYS
    assert VerbForms.from_bank(forms.as_bank()) == forms


def test_a_verb_needs_a_letter() -> None:
    with pytest.raises(ValueError, match="at least one letter"):
        inflect("  ")


@given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip), st.text())
def test_any_text_has_five_forms(text: str, seen: str) -> None:
    forms = inflect(text, seen)
    assert all(forms.all())
    assert all(all(verb.all()) for verb in verbs_of(text))


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=12))
def test_every_form_of_a_verb_leads_back_to_it(stem: str) -> None:
    forms = inflect(stem)
    assert all(form.isascii() and form.isalpha() for form in forms.all())
    for form in forms.all():
        assert any(form in verb.all() for verb in verbs_of(form))


@pytest.mark.parametrize(
    ("word", "lemma", "stem"),
    [
        ("re-elected", "re-electe", "re-elect"),
        ("readmitted", "readmitte", "readmit"),
        ("unfollowed", "unfollowe", "unfollow"),
        ("retweeted", "retweete", "retweet"),
        ("texted", "texte", "text"),
        ("rifting", "rifte", "rift"),
        ("vlogged", "vlogge", "vlog"),
        ("photoshopped", "photoshoppe", "photoshop"),
        ("googled", "googl", "google"),
        ("crowdsourced", "", "crowdsource"),
        ("weathering", "weathering", "weather"),
        ("found", "found", "found"),
        ("lay", "lie", "lie"),
        ("syncing", "synce", "sync"),
        ("resynced", "", "resync"),
        ("glancing", "glanc", "glance"),
        ("substring", "substre", "substring"),
        ("metaprogramming", "metaprogramme", "metaprogram"),
        ("bonneted", "bonnete", "bonnet"),
        ("cottoned", "cottone", "cotton"),
        ("burbled", "", "burble"),
        ("snapshotting", "snapshotte", "snapshot"),
        ("parenting", "parente", "parent"),
        ("superseded", "supersed", "supersede"),
        ("housekeeping", "housekeepe", "housekeep"),
        ("journalling", "journalle", "journal"),
        ("zombies", "zombi", "zombie"),
        ("feed", "feed", "feed"),
        ("pre-feed", "pre-feed", "pre-feed"),
        ("hotplugged", "hotplugge", "hotplug"),
        ("enqueueing", "enqueue", "enqueue"),
    ],
)
def test_a_tagger_that_cuts_off_an_ending_makes_no_verb(word: str, lemma: str, stem: str) -> None:
    pytest.importorskip("lemminflect")
    forms = forms_of(word, lemma)
    assert forms.stem == stem
    assert word in forms.all()


def test_the_sentence_says_which_participle_is_meant() -> None:
    has_got = [Tagged("She", "she", "PRON"), Tagged("has", "have", "AUX", True), Tagged("got", "get", "VERB")]
    got = [Tagged("She", "she", "PRON"), Tagged("got", "get", "VERB")]
    assert [verb.forms.past_participle for verb in predicates(has_got)] == ["got"]
    assert [verb.forms.past_participle for verb in predicates(got)] == ["gotten"]
    assert inflect("plead", seen="plead").past == "pleaded"


def test_words_with_capitals_inside_are_no_verbs() -> None:
    """*ORed* became the verb *ore*."""
    tagged = [Tagged(word, word.lower(), "VERB") for word in ("ORed", "setUp", "RUN", "Run")]
    assert [tagged[verb.index].text for verb in predicates(tagged)] == ["RUN", "Run"]


@pytest.mark.parametrize(
    ("word", "tag", "is_verb"),
    [
        ("parentheses", "VBZ", False),
        ("kubernetes", "VBZ", False),
        ("axios", "VBZ", False),
        ("malformed", "VBN", False),
        ("unused", "VBN", False),
        ("unfollowed", "VBN", True),
        ("uninstalled", "VBN", True),
        ("user-defined", "VBN", False),
        ("so-called", "VBD", False),
        ("cpu-bound", "VBN", False),
        ("re-elected", "VBN", True),
        ("cross-pollinated", "VBN", True),
        ("nonblocking", "VBG", False),
        ("readmitted", "VBN", True),
        ("retweets", "VBZ", True),
        ("subducting", "VBG", True),
        ("monomorphized", "VBN", True),
        ("vlogged", "VBD", True),
        ("grep", "VB", True),
        ("resold", "VBN", True),
        ("fceil", "VB", False),
        ("dolore", "VBP", False),
        ("autocommands", "VBZ", False),
        ("subfreezing", "VBG", False),
        ("winsize", "VB", False),
        ("containerize", "VB", True),
        ("hing", "VBG", False),
        ("brain-damaged", "VBN", False),
        ("versionchanged", "VBD", False),
        ("programlisting", "VBG", False),
        ("printunused", "VBD", False),
        ("testfinegrained", "VBN", False),
        ("untouched", "VBD", False),
        ("unhandled", "VBD", False),
        ("xsetting", "VBG", False),
        ("mirred", "VBN", False),
        ("postrouting", "VBG", False),
        ("keynavigating", "VBG", False),
        ("unimpeded", "VBN", False),
        ("unspoken", "VBN", False),
        ("multilayered", "VBN", False),
        ("species", "VBZ", False),
        ("unsurprising", "VBG", False),
        ("unmounting", "VBG", True),
        ("undercounting", "VBG", True),
        ("unbreaks", "VBZ", True),
        ("freestanding", "VBG", False),
        ("preshing", "VBG", False),
        ("bare-bones", "VBZ", False),
        ("off-limits", "VBZ", False),
        ("double-edged", "VBN", False),
        ("self-styled", "VBN", False),
        ("re-aquiring", "VBG", False),
        ("initated", "VBN", False),
        ("nomodified", "VBN", False),
        ("coreutils", "VBZ", False),
        ("pileated", "VBN", False),
        ("incoming", "VBG", False),
        ("colorizing", "VBG", True),
        ("decrypted", "VBN", True),
        ("hotplugged", "VBN", True),
        ("crowdsourced", "VBN", True),
        ("marginalised", "VBN", True),
        ("re-asserted", "VBD", True),
        ("celled", "VBN", False),
        ("yuppied", "VBD", False),
        ("cross-eyed", "VBN", False),
        ("cross-pollinated", "VBN", True),
        ("tyrranize", "VB", False),
        ("infantilise", "VB", True),
        ("lorises", "VBZ", False),
        ("radius", "VBZ", False),
        ("texted", "VBD", True),
        ("friended", "VBN", True),
        ("wrought", "VBN", True),
        ("handshaking", "VBG", True),
        ("blimming", "VBG", False),
        ("pent", "VBN", False),
        ("canned", "VBN", True),
        ("login", "VB", False),
        ("hotplugging", "VBG", True),
        ("universalised", "VBN", True),
        ("unvectorized", "VBN", False),
        ("underseasoned", "VBN", True),
        ("commodified", "VBN", True),
        ("precompiling", "VBG", True),
        ("re-determined", "VBN", True),
        ("Spotify", "VB", False),
        ("downladed", "VBN", False),
        ("varify", "VB", False),
        ("uncool", "VB", False),
        ("up-close", "VB", False),
        ("re-fetch", "VB", True),
        ("get-get", "VB", False),
        ("t-t-talk", "VB", False),
    ],
)
def test_a_verb_needs_a_stem_that_something_confirms(word: str, tag: str, is_verb: bool) -> None:
    pytest.importorskip("lemminflect")
    assert is_attested(forms_of(word), Tagged(word, "", "VERB", tag=tag)) is is_verb
    stem = forms_of(word).stem
    in_text = is_attested(forms_of(word, written={stem}), Tagged(word, "", "VERB", tag=tag), WrittenWords.of({stem}))
    may_be_confirmed = word != stem and word.endswith(("ed", "ing")) and not is_misspelt(word, stem) and len(stem) > 3
    assert in_text or not may_be_confirmed, "a text confirms participles, but neither misspelt verbs nor short words"


@pytest.mark.parametrize(
    "before, word, after, is_verb",
    [
        ("we/PRP/PRON can/MD/AUX", "save-load", "it/PRP/PRON", True),
        ("that/WDT/PRON can/MD/AUX also/RB/ADV", "save-load", "it/PRP/PRON", True),
        ("that/WDT/PRON can/MD/AUX", "backfrobnicate", "it/PRP/PRON", False),
        ("that/WDT/PRON can/MD/AUX", "retorch", "it/PRP/PRON", True),
        ("it/PRP/PRON will/MD/AUX", "kontinue", "", False),
        ("do/VBP/AUX not/RB/PART", "pickup", "them/PRP/PRON", False),
        ("hope/VBP/VERB to/TO/PART", "sssee", "you/PRP/PRON", False),
        ("you/PRP/PRON can/MD/AUX", "fceil", "it/PRP/PRON", False),
        ("nor/CC/CCONJ can/MD/AUX", "piety", "itself/PRP/PRON", False),
        ("nor/CC/CCONJ can/MD/AUX", "save-load", "itself/PRP/PRON", False),
        ("we/PRP/PRON shall/MD/AUX", "hereafter", "it/PRP/PRON", False),
        ("we/PRP/PRON may/MD/AUX", "frob'em", "", False),
        ("we/PRP/PRON may/MD/AUX", "know-we", "it/PRP/PRON", False),
        ("we/PRP/PRON may/MD/AUX", "not-take", "it/PRP/PRON", False),
        ("we/PRP/PRON may/MD/AUX", "tear-up", "it/PRP/PRON", True),
        ("does/VBZ/AUX not/RB/PART", "save-load", "it/PRP/PRON", True),
        ("want/VBP/VERB to/TO/PART", "save-load", "", True),
        ("how/WRB/SCONJ to/TO/PART", "save-load", "the/DT/DET", True),
        ("defaults/VBZ/VERB to/TO/PART", "save-load", "the/DT/DET", True),
        ("defaults/VBZ/VERB to/TO/PART", "fceil", "", False),
        ("immunity/NN/NOUN to/TO/PART", "iocane", "powder/NN/NOUN", False),
        ("could/MD/AUX", "fceil", "return/VB/VERB", False),
        ("the/DT/DET", "fceil", "returns/VBZ/VERB", False),
        ("", "doth", "not/RB/PART", False),
        ("want/VBP/VERB to/TO/PART", "church", "", False),
        ("it/PRP/PRON will/MD/AUX", "debugger", "it/PRP/PRON", False),
        ("it/PRP/PRON may/MD/AUX", "ſtrike", "it/PRP/PRON", False),
        ("I/PRP/PRON will/MD/AUX", "get-get", "back/RB/ADV", False),
        ("we/PRP/PRON want/VBP/VERB to/TO/PART", "exssstend", "it/PRP/PRON", False),
        ("they/PRP/PRON", "remap", "colours/NNS/NOUN", True),
        ("left/VBD/VERB to/TO/PART", "disenroll", "people/NNS/NOUN", True),
        ("they/PRP/PRON", "disenroll", "people/NNS/NOUN", False),
        ("it/PRP/PRON looked/VBD/VERB so/RB/ADV", "uncool", "", False),
        ("I/PRP/PRON was/VBD/AUX so/RB/ADV", "dispirate", "", False),
    ],
)
def test_a_base_form_that_no_dictionary_has_needs_a_place_where_only_verbs_are(
    before: str, word: str, after: str, is_verb: bool
) -> None:
    """Taggers take names of functions, foreign and old words for verbs: they get no invented forms."""
    pytest.importorskip("lemminflect")
    token = Tagged(word, word, "VERB", tag="VB")

    def others(text: str) -> list[Tagged]:
        parts = [each.split("/") for each in text.split()]
        return [Tagged(text, {"does": "do"}.get(text, text), pos, tag=tag) for text, tag, pos in parts]

    written = WrittenWords()
    written.read([*others(before), token, *others(after)])
    assert is_attested(forms_of(word), token, written) is is_verb


def test_a_word_that_is_mostly_a_noun_in_the_text_is_no_base_form() -> None:
    pytest.importorskip("lemminflect")
    token = Tagged("reflog", "reflog", "VERB", tag="VB")
    written = WrittenWords()
    written.read([Tagged("to", "to", "PART", tag="TO"), token])
    assert is_attested(forms_of("reflog"), token, written)
    written.read([Tagged("reflog", "reflog", "NOUN", tag="NN")] * 2)
    assert not is_attested(forms_of("reflog"), token, written)


def test_a_text_confirms_stems_by_infinitives_and_by_several_forms() -> None:
    """A noun *unuse* makes no verb of *unused*; participles may be an adjective and a noun (*ill-conditioned*)."""
    pytest.importorskip("lemminflect")
    written = WrittenWords()
    written.read([Tagged("unuse", "unuse", "NOUN", tag="NN"), Tagged("fits", "fit", "VERB", tag="VBZ")])
    written.read(
        [
            Tagged("we", "we", "PRON", tag="PRP"),
            Tagged("can", "can", "AUX", tag="MD"),
            Tagged("unhandle", "unhandle", "VERB", tag="VB"),
        ]
    )
    words = ("boxworked", "boxworks", "toolmoved", "toolmoving", "ill-stocked", "ill-stocking", "wretches", "wretched")
    for word in words:
        written.note(forms_of(word).stem, word)
    found = {
        word: is_attested(forms_of(word), Tagged(word, "", "VERB", tag="VBN"), written)
        for word in ("unused", "unhandled", *words)
    }
    confirmed = [word for word, is_confirmed in found.items() if is_confirmed]
    assert confirmed == ["unhandled", "boxworked", "boxworks"]


@pytest.mark.parametrize(
    ("word", "lemma", "stem"),
    [
        ("tinged", "ting", "tinge"),
        ("paled", "pal", "pale"),
        ("bathing", "bath", "bathe"),
        ("psyched", "psyche", "psych"),
        ("installed", "instal", "install"),
        ("mimicking", "mimic", "mimic"),
        ("lay", "lie", "lie"),
        ("lay", "lay", "lay"),
        ("found", "found", "found"),
    ],
)
def test_the_dictionary_decides_between_two_verbs_with_the_same_form(word: str, lemma: str, stem: str) -> None:
    """The lemma of a tagger decides only if it depends on the tense: *lay* is the past of *lie*, or the verb itself."""
    pytest.importorskip("lemminflect")
    assert forms_of(word, lemma).stem == stem
