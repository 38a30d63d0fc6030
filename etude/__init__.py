"""Étude: practice pieces for robot learning, and what they do for the composition."""

__version__ = "0.1.0"
