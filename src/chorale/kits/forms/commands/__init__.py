"""Commands of the forms kit."""
