"""Where the runs of a study are executed."""
