"""When two questions ask for the same role: STRICT-MATCH (Roit et al. 2020, section 3.2).

Requires equal wh-word, subject and object (empty, something and someone are three different values), negation, voice,
and modality: whether the question has a modal that changes factuality. Tense, prepositions and the second object may
differ. The match is stricter than human judgment, so that questions for different roles never match.
"""

from chorale.kits.qasrl.files import VerbQuestion

MODALS = frozenset({"can", "could", "may", "might", "must", "should", "would"})
"""Modals that change factuality. *Will* does not: the event is asserted to happen."""


def is_modal(aux: str) -> bool:
    """Whether the auxiliary changes factuality.

    >>> is_modal("shouldn't"), is_modal("can't"), is_modal("won't")
    (True, True, False)
    """
    word = aux.lower()
    return word in MODALS or word in ("cannot", "can't") or word.removesuffix("n't").removesuffix(" not") in MODALS


def label_of(question: VerbQuestion, *, modality: bool = True) -> tuple[str, str, str, bool, bool, bool]:
    """The values that must be equal for STRICT-MATCH. The gold standard's own script compares without modality."""
    modal = modality and is_modal(question.aux)
    return question.wh.lower(), question.subj, question.obj, question.negated, question.passive, modal
