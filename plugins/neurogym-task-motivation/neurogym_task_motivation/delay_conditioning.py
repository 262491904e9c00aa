"""Pavlovian conditioning with odours that last until the outcome."""

from __future__ import annotations

from neurogym_task_motivation.trace_conditioning import TraceConditioning


class DelayConditioning(TraceConditioning):
    """Predict the value of an outcome whose odour lasts until it comes.

    Cohen, Haesler, Vong, Lowell & Uchida (2012), Nature 482:85, doi:10.1038/nature10754; Schultz,
    Dayan & Montague (1997), Science 275:1593, doi:10.1126/science.275.5306.1593.

    As in TraceConditioning, but the odour is on for all of the 2 s until the outcome, so that which
    odour it was need not be remembered; the time since its beginning still has to be. The ideal
    earns 1, and an output of 0 earns 0.48. Without memory, the value of each odour in the middle of
    its time earns 0.65.

    Deviations from the papers: those of TraceConditioning; the odours of the papers ended before
    the outcome.
    """

    gap_has_odour = True
