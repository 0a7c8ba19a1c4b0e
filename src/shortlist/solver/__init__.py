"""The native branch-and-bound solver."""
