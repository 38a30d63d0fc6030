"""Tables and figures of a study."""
