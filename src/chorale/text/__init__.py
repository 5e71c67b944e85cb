"""Words: tokens, verbs and their forms, the grammar of QA-SRL questions, candidate frames, passages."""
