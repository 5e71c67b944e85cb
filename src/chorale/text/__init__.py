"""Words: tokens, tags, verbs and their forms, WordNet."""
