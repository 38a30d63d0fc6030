"""An oracle for each tabletop task."""
