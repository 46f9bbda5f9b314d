"""Faults by the hundred: signals, forks, threads that die, address spaces that are full, kills. See :mod:`tests.faults.kinds`."""
