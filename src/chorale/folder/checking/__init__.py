"""Reading and checking a study folder; the entry point is `chorale.folder.reading`. The modules, from the whole to its
parts; each imports only from those below it:

- `protocols`: dependencies between stages, gates and arms, and the studies on Prolific
- `analysis`: the planned comparisons of arms
- `numbers`: whether enough people can pass
- `models`: the models, and the stages that use them
- `stages`: all stages together, and how they depend on one another
- `stage_files`: the task, guidelines, items, gold and truth of one stage
- `assigned`: items that are assigned to people
- `label_items`: labels of an earlier stage as items
- `media_files`: pictures, audio and video of items
- `row_files`: files with one row per item
- `drafts`: stages whose settings can be read
- `settings_shape`: tables of the study file as settings
- `settings_file`: the study file as values
- `named_files`: any file that a setting names
- `report`: the problems found so far
- `content`: the result, if there are no problems
"""
