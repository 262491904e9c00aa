"""The 82 tasks of Mod_Cog: Khona, Chandra, Ma & Fiete (2023)."""
