"""Part of the hangtop demo server: a collective as a stack shows it."""
from torch import cuda


def all_reduce(spin=False, seconds=0.0):
    cuda.synchronize(spin, seconds)
