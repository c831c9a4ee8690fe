"""The best settings for a model on labelled items: tried, chosen, held against items that took no part."""
