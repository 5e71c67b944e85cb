"""A QA-SRL parser: verbs, the spans that are their arguments, and a question for each, trained from the QA-SRL Bank."""
