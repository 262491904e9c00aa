"""Reaching tasks."""
