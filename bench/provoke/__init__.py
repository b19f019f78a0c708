"""What provokes the situations of `situations.py`: neighbours, limits, networks, targets that misbehave."""
