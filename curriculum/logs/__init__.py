"""Logs of other programs, made into studies so that every metric can be computed of them."""
