"""Suites, their runs, records and metrics: everything between a YAML file and a result."""
