"""Immediate serial recall of letters."""

from __future__ import annotations

from string import ascii_uppercase

from neurogym_task_cognition.sequence_recall import SequenceRecall


class SerialRecall(SequenceRecall):
    """Report a list of letters in the order in which they came.

    Immediate serial recall, as Botvinick & Plaut (2006), Psychol. Rev. 113:201,
    doi:10.1037/0033-295X.113.2.201, gave it to a recurrent network.

    Two to nine different letters of 26 come one after the other, one per second, each for 500 ms.
    Then the subject reports them in their order, one answer for each, `report_1` to `report_9`.
    Lengths of lists and their letters are equally likely. Performance is the fraction of letters in
    their place. A letter may be at any place of any list, so that a network cannot store its
    lists: it has to bind letters to places.

    A perfect memory earns 1. Reporting at random earns 1/26, and the right letters in a random
    order 0.23. People are better at the first and the last letters, and exchange neighbours. The
    observer `neurogym_task_cognition.observers:BlurredOrder`, whose memory of the places in the
    list is blurred, shows both; a perfect one shows neither.

    Deviations from the paper:

    - the lengths and the times of lists are ours, not compared with the paper;
    - letters are 26 units, and no two of them are alike, as letters that rhyme would be.

    Args:
        sizes: lengths of lists, of 1 to 26 letters.
        backward: whether the last letter is reported first.
        soa: ms from one letter to the next one; a letter is shown for half of it.
        tap_ms: longest time of a report, ms.
    """

    items = tuple(ascii_uppercase)
    item, order, recall = "letter", "letters", "report"
