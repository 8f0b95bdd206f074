"""Arrays and numbers: what every other room rests on, and nothing about the program."""
