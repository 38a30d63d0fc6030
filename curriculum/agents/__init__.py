"""Agents that a suite can train."""
