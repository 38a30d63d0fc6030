"""Continual-learning methods: hooks around an agent's tasks."""
