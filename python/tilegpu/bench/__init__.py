"""What ``tilegpu bench`` runs: one module for each question, each with ``add_parser``, a table for people and rows for ``--json``."""
