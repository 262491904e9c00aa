"""Plays the compiled kernel; `test_sanitizers.py` runs it under the sanitizers."""

from __future__ import annotations

from neurogym_core.play.kernels import VERSION, load

if __name__ == "__main__":
    kernel = load()
    assert kernel.module.version == VERSION
    print(kernel)
