"""Part of the hangtop demo server: a collective as a stack shows it."""
from atom.model_engine import state
from torch import cuda


def all_reduce(spin=False, seconds=0.0):
    state.launch(b"c")
    cuda.synchronize(spin, seconds)
