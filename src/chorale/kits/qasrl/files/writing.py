"""The columns of the published QA-SRL formats."""

CSV_COLUMNS = (
    "qasrl_id",
    "verb_idx",
    "verb",
    "worker_id",
    "assign_id",
    "source_assign_id",
    "question",
    "is_redundant",
    "answer_range",
    "answer",
    "wh",
    "subj",
    "obj",
    "obj2",
    "aux",
    "prep",
    "verb_prefix",
    "is_passive",
    "is_negated",
    "verb_slot_inflection",
)
"""Those of the gold standard of Roit et al. (2020), in its order."""
SENTENCE_COLUMNS = ("qasrl_id", "tokens", "sentence")
"""Those of the file beside it."""
BANK_COLUMNS = ("sentenceId", "sentenceTokens", "verbEntries")
"""The fields of a line of the QA-SRL Bank."""
