"""What learns and acts: Stable-Baselines3 behind one protocol, and the user's own agents."""

from etude.curriculum.agents.protocol import Agent, Diverged, make_agent

__all__ = ["Agent", "Diverged", "make_agent"]
