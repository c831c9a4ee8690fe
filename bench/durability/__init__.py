"""Kills of the window at random moments, and whether all is there that it had shown as stored."""
