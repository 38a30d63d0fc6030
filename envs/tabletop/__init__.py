"""The tabletop: a robot arm at a table with a cube, a drawer, a button and a lever."""
