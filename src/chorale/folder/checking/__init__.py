"""How a study folder is read and checked; `chorale.folder.reading` is the way in.

From the whole to its parts, each importing only what stands below it:

- `protocols`: how stages, gates and arms depend on one another, and what is asked of Prolific
- `numbers`: whether enough people can pass
- `stages`: all stages together, and how they depend on one another
- `stage_files`: what one stage names: task, guidelines, items, gold, truth
- `row_files`: files with a row an item
- `drafts`: stages where their settings can be understood
- `settings_shape`: tables of the study file as settings
- `settings_file`: the study file as values
- `named_files`: any file that a setting names
- `report`: the problems found so far
- `content`: what comes out, if there are none
"""
