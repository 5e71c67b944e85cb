"""When two questions ask for the same role: STRICT-MATCH (Roit et al. 2020, section 3.2).

Equal wh word, subject and object (nothing, something and someone are three different things), negation, voice, and
modality: whether a modal that changes factuality stands in the question. Tense, prepositions and the second object may
differ. It takes more questions apart than people would; no question that asks for another role should pass.
"""

from chorale.kits.qasrl.files import VerbQuestion

MODALS = frozenset({"can", "could", "may", "might", "must", "should", "would"})
"""Those that change factuality. *Will* does not: what will happen is said to happen."""


def is_modal(aux: str) -> bool:
    """Whether the auxiliary changes factuality.

    >>> is_modal("shouldn't"), is_modal("can't"), is_modal("won't")
    (True, True, False)
    """
    word = aux.lower()
    return word in MODALS or word in ("cannot", "can't") or word.removesuffix("n't").removesuffix(" not") in MODALS


def label_of(question: VerbQuestion, *, modality: bool = True) -> tuple[str, str, str, bool, bool, bool]:
    """What must be equal for STRICT-MATCH. Without modality, as the gold standard's own script compares."""
    modal = modality and is_modal(question.aux)
    return question.wh.lower(), question.subj, question.obj, question.negated, question.passive, modal
