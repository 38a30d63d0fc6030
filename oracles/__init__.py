"""Scripted policies that set the score of 100, and how references are measured."""
