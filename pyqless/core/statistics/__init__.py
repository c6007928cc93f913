# SPDX-License-Identifier: MIT
"""
Per-day statistics of a queue: counts, and times as a histogram with Welford's mean and variance (queue.lua).

Mean and variance are read, and written anew: where many workers do that at once, all but one of them
do it in vain. So a queue that is busy has its samples deferred, to a list to which they only append;
the next quiet transaction enters them, and whoever looks at the statistics counts them in.
"""

from __future__ import annotations

from pyqless.core.statistics.counting import count, day_of
from pyqless.core.statistics.folding import fold
from pyqless.core.statistics.histograms import BINS
from pyqless.core.statistics.sampling import Sampler, enter_gathered
from pyqless.core.statistics.showing import Statistics, Times, stats

__all__ = [
    "BINS",
    "Sampler",
    "Statistics",
    "Times",
    "count",
    "day_of",
    "enter_gathered",
    "fold",
    "stats",
]
