"""Perceptual decision tasks."""
