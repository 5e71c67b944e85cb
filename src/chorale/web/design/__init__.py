"""The design page: edits the task options of a study next to a preview of the work page.

- `describing`: the settings, from which the page makes inputs
- `drafts`: edited options: checked, previewed, saved
- `routes`: the page, its API and the preview
- `app`: the site of `chorale design`
"""
