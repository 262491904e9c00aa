"""The twenty tasks; their families are in `families`."""

from __future__ import annotations

from typing import ClassVar

from neurogym_task_yang19.families import (
    Decision,
    DelayedDecision,
    ImmediateGo,
    MatchCategory,
    MatchDirection,
    RememberedGo,
    SeenGo,
)


class Go(SeenGo):
    """Answer with the direction of a stimulus when the fixation cue turns off.

    The stimulus appears in either modality 500 to 1,500 ms after the trial begins and stays until
    it ends; 500 to 1,500 ms later the cue turns off."""


class RTGo(ImmediateGo):
    """Answer with the direction of a stimulus as soon as it appears.

    The stimulus appears in either modality after 500 to 2,500 ms. The fixation cue stays on and
    is irrelevant."""


class DlyGo(RememberedGo):
    """Answer with the remembered direction of a stimulus when the fixation cue turns off.

    The cue turns off 200, 400, 800 or 1,600 ms after the stimulus, which is shown in either
    modality."""


class Anti(SeenGo):
    """Answer with the direction opposite of a stimulus when the fixation cue turns off.

    The stimulus appears in either modality 500 to 1,500 ms after the trial begins and stays until
    it ends; 500 to 1,500 ms later the cue turns off."""

    anti: ClassVar[bool] = True


class RTAnti(ImmediateGo):
    """Answer with the direction opposite of a stimulus as soon as it appears.

    The stimulus appears in either modality after 500 to 2,500 ms. The fixation cue stays on and
    is irrelevant."""

    anti: ClassVar[bool] = True


class DlyAnti(RememberedGo):
    """Answer with the direction opposite of a remembered stimulus when the fixation cue turns off.

    The cue turns off 200, 400, 800 or 1,600 ms after the stimulus, which is shown in either
    modality."""

    anti: ClassVar[bool] = True


class DM1(Decision):
    """Answer with the stronger of two stimuli in modality 1.

    Two stimuli, 90 to 270 degrees apart, are shown at once for 400, 800 or 1,600 ms. Their
    strengths are mean + coherence and mean - coherence, the mean from 0.8 to 1.2. The noise of the
    inputs hardly limits performance: an observer that reads both strengths from the averages of the
    rings is correct in 99.9 % even of the trials with the smallest coherence, 0.01, and 400 ms. The
    published networks add recurrent noise."""

    attends: ClassVar[str] = "1"


class DM2(Decision):
    """Answer with the stronger of two stimuli in modality 2.

    As in DM1, with the same durations, but in the other modality.
    """

    attends: ClassVar[str] = "2"


class CtxDM1(Decision):
    """Answer with the stronger of two stimuli in modality 1, whatever modality 2 shows.

    As in DM1, but both modalities show stimuli at the same two directions, with strengths that are
    drawn independently. A subject that ignores the rule and adds both modalities is correct in 75 %
    of the trials. In this task alone the rule is constant, so that modality 2 can be
    left out: a classifier of modality 1 alone earns 0.97."""

    attends: ClassVar[str] = "1 of 2"


class CtxDM2(Decision):
    """Answer with the stronger of two stimuli in modality 2, whatever modality 1 shows.

    As in DM1, but both modalities show stimuli at the same two directions, with strengths that are
    drawn independently. A subject that ignores the rule and adds both modalities is correct in 75 %
    of the trials. In this task alone the rule is constant, so that modality 1 can be
    left out: a classifier of modality 2 alone earns 0.96."""

    attends: ClassVar[str] = "2 of 2"


class MultiDM(Decision):
    """Answer with the stronger of two stimuli, both modalities taken together.

    As in DM1, but each stimulus is shown in both modalities, in one of them more strongly than in
    the other: by 20 to 80 % of its mean strength over both, which determines the answer.
    """

    attends: ClassVar[str] = "both"


class DlyDM1(DelayedDecision):
    """Answer with the stronger of two successive stimuli in modality 1.

    Two stimuli, 90 to 270 degrees apart, are shown for 300 ms each, 200, 400, 800 or 1,600 ms
    apart. Their strengths are mean + coherence and mean - coherence, the mean from 0.8 to 1.2. A
    subject that judges the first stimulus alone (stronger or weaker than 1) is correct in 87 % of
    the trials, in the paper, too."""

    attends: ClassVar[str] = "1"


class DlyDM2(DelayedDecision):
    """Answer with the stronger of two successive stimuli in modality 2.

    As in DlyDM1, but in the other modality.
    """

    attends: ClassVar[str] = "2"


class CtxDlyDM1(DelayedDecision):
    """Answer with the stronger of two successive stimuli in modality 1, whatever modality 2 shows.

    As in DlyDM1, but both modalities show stimuli at the same two directions, with strengths that
    are drawn independently. A subject that ignores the rule and adds both modalities is correct in
    75 % of the trials. In this task alone the rule is constant, so that modality 2 can be
    left out: a classifier of modality 1 alone earns 1.00."""

    attends: ClassVar[str] = "1 of 2"


class CtxDlyDM2(DelayedDecision):
    """Answer with the stronger of two successive stimuli in modality 2, whatever modality 1 shows.

    As in DlyDM1, but both modalities show stimuli at the same two directions, with strengths that
    are drawn independently. A subject that ignores the rule and adds both modalities is correct in
    75 % of the trials. In this task alone the rule is constant, so that modality 1 can be
    left out: a classifier of modality 2 alone earns 1.00."""

    attends: ClassVar[str] = "2 of 2"


class MultiDlyDM(DelayedDecision):
    """Answer with the stronger of two successive stimuli, both modalities taken together.

    As in DlyDM1, but each stimulus is shown in both modalities, in one of them more strongly than
    in the other: by 20 to 80 % of its mean strength over both, which determines the answer.
    A classifier of one modality alone earns 0.79."""

    attends: ClassVar[str] = "both"


class DMS(MatchDirection):
    """Answer with the direction of the test if it matches the sample; otherwise keep fixating.

    Half of the tests have the direction of the sample, the others one 20 to 340 degrees away;
    modalities are drawn independently and are irrelevant. The fixation cue stays on."""


class DNMS(MatchDirection):
    """Answer with the direction of the test if it differs from the sample; otherwise keep fixating.

    Half of the tests have the direction of the sample, the others one 20 to 340 degrees away;
    modalities are drawn independently and are irrelevant. The fixation cue stays on."""

    answers_match: ClassVar[bool] = False


class DMC(MatchCategory):
    """Answer with the test direction if it is of the sample's category; otherwise keep fixating.

    Directions are 18, 54, ..., 342 degrees; those below 180 degrees are one category, those above
    the other. Modalities are drawn independently and are irrelevant. The fixation cue stays on."""


class DNMC(MatchCategory):
    """Answer with the test direction unless it is of the sample's category; then keep fixating.

    Directions are 18, 54, ..., 342 degrees; those below 180 degrees are one category, those above
    the other. Modalities are drawn independently and are irrelevant. The fixation cue stays on."""

    answers_match: ClassVar[bool] = False
