"""Suites and agents, as YAML files that ship with the package."""
