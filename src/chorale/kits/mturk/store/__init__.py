"""Data of the Mechanical Turk API: keys, HITs and their types, assignments, bonuses, qualifications."""
