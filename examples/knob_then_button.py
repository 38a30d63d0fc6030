"""knob-then-button: a composition of a primitive of one's own and one of Étude's."""

import slide_knob  # noqa: F401  (registers slide-knob)

from etude import compose

compose("knob-then-button", parts=["slide-knob", "press-button"], horizon=90)
