"""A QA-SRL parser, trained on the QA-SRL Bank: finds the arguments of verbs and a question for each."""
