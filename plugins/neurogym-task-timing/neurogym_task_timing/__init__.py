"""Timing tasks."""
