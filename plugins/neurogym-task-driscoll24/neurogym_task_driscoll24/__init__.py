"""The fifteen tasks of Driscoll, Shenoy & Sussillo (2024)."""
