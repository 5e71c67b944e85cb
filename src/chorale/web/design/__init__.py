"""Designing: a page where the task options of a study are edited beside a preview of the work page.

- `describing`: what can be set, for the page to make inputs of
- `drafts`: options that are being edited: checked, previewed, saved
- `routes`: the page, its interface and the preview
- `app`: the site of `chorale design`
"""
