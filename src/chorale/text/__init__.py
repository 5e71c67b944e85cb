"""English text: tokens, tags, verb forms and WordNet."""
