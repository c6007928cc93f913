# SPDX-License-Identifier: MIT
"""
The rules of qless, and nothing else.

The law of this package
    Nothing here knows a clock, chance, a socket, a thread or a store. The moment of a call comes with its
    transaction, ids come from the caller, and what a rule wants to know it asks for by ``yield``.

Theory of operation
    A rule is a *transition*: a generator that is given a ``Transaction``. It yields batches of reads
    (``tx.read``), each with the keys it *guards*: what it saw there must still hold at the commit.
    It stages writes and messages (``tx.hset``, ``tx.publish``, ...), and returns a value. Whoever drives it
    applies what was staged, all or nothing, if no guarded key has changed; else it begins a fresh attempt.
    So one set of rules serves every storage, blocking or not, and a simulator.

    A rule looks before it leaps: it raises before the commit or not at all, and then nothing has changed.

    A narrow guard is enough where every change of a job's place comes with a write to the job's hash.
    Every rule keeps to that, also where the value written is the one that is there already.

Where things are
    ``keys``          every key and channel          ``lua``        Lua's ways with numbers and JSON
    ``keyspace``      Redis's data model             ``effects``    what passes between rule and driver
    ``transaction``   one attempt at a rule          ``commands``   the wire's names, arguments and replies
    ``overlay``       what it reads                  ``staging``    what it writes
    All other modules hold rules, one area each, named after what they are about.
"""
