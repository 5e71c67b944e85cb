"""Complete arguments, as PriMeSRL defines them (Jindal et al. 2022, sections 3.3 and 3.4)."""

from typing import Literal, NamedTuple

from chorale.kits.srl.files import Sentence, SrlArgument, SrlPredicate, canonical, tokens_under

Mode = Literal["head", "span"]


class Whole(NamedTuple):
    """An argument with all its parts. Two arguments are the same if all three fields are equal."""

    label: str
    """Label without `C-`."""
    place: int
    """Its heads or its tokens, as bits."""
    referred: int
    """For `R-X`, the position of the first `X` of the proposition, or 0 without one. Otherwise -1."""

    @property
    def value(self) -> tuple[str, bool]:
        """Label that PriMeSRL-Eval compares. A reference without antecedent has a different label."""
        return self.label, self.referred == 0

    @property
    def extent(self) -> int:
        """Span that PriMeSRL-Eval compares. A reference also covers its antecedent."""
        return self.place | max(self.referred, 0)


def wholes(sentence: Sentence, predicate: SrlPredicate, mode: Mode) -> list[Whole]:
    """The arguments of a proposition, ordered by start.

    `C-X` belongs to the first `X`; where there is none, the first `C-X` takes its place.
    """
    arguments = predicate.arguments
    # Most propositions have neither continuations nor references.
    if "-" not in {label[1:2] for label, _, _ in arguments}:
        if mode == "head":
            return [Whole(label, (1 << end + 1) - (1 << start), -1) for label, start, end in arguments]
        return [Whole(label, _bits(start, end, sentence, mode), -1) for label, start, end in arguments]
    places: dict[SrlArgument, int] = {}
    first: dict[str, SrlArgument] = {}
    for label, start, end in sorted(arguments, key=_continues):
        name = label.removeprefix("C-")
        key = SrlArgument(name, start, end)
        beginning = first.setdefault(name, key)
        if name != label:
            key = beginning
        places[key] = places.get(key, 0) | _bits(start, end, sentence, mode)
    return [
        Whole(label, place, (places[first[label[2:]]] if label[2:] in first else 0) if label[:2] == "R-" else -1)
        for (label, _, _), place in places.items()
    ]


def whole_labels(sentence: Sentence, predicate: SrlPredicate, mode: Mode) -> list[str]:
    """The labels of `wholes`, without spans."""
    labels = [label for label, _, _ in predicate.arguments]
    # Without continuations and references, every argument is complete.
    if "-" in {label[1:2] for label in labels}:
        return [whole.label for whole in wholes(sentence, predicate, mode)]
    return labels


def _continues(argument: SrlArgument) -> bool:
    return argument.label[:2] == "C-"


def _bits(start: int, end: int, sentence: Sentence, mode: Mode) -> int:
    if mode == "span" and sentence.heads and start == end:
        return tokens_under((start,), sentence.heads)
    return (1 << end + 1) - (1 << start)


class CoreRoles(NamedTuple):
    """Roles that have a meaning only together with the sense. All others (AM-TMP, …) are context.

    >>> [NUMBERED.has(label) for label in ("A0", "R-A1", "AM-TMP", "AA")]
    [True, True, False, False]
    >>> [core_roles("A0, ARG1, ARGA").has(label) for label in ("A0", "R-AA", "A2")]
    [True, True, False]
    """

    numbered: bool = True
    """Whether every role with a digit is a core role."""
    names: tuple[str, ...] = ()

    def has(self, label: str) -> bool:
        name = label
        while name[:2] in ("C-", "R-"):
            name = name[2:]
        return name in self.names or (self.numbered and any(character.isdigit() for character in name))

    def __str__(self) -> str:
        return ",".join([*["numbered"] * self.numbered, *self.names])


NUMBERED = CoreRoles()


def core_roles(text: str) -> CoreRoles:
    """Parses role names separated by commas; `numbered` stands for every role with a digit."""
    names = dict.fromkeys(name.strip() for name in text.split(",") if name.strip())
    return CoreRoles("numbered" in names, tuple(sorted(canonical(name) for name in names if name != "numbered")))
