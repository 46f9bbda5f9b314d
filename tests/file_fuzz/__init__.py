"""What Python reads from strangers, and what its API is told, as functions of bytes: ``TARGETS[name](data)``.

Each ends, in a result or in an error of tilegpu's own; anything else is a finding. :mod:`tests.file_fuzz.__main__` looks for one by
Atheris, which changes bytes by what they reach; ``tests/test_fuzz_corpus.py`` goes once more through what is kept in ``tests/fuzz_corpus``.
"""
