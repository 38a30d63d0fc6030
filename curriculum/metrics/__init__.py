"""What is measured from a study's score curves."""
