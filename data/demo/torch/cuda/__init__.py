"""Part of the hangtop demo server: synchronize() as a stack shows it. No GPU is involved."""
import time

from atom.model_engine import state


def synchronize(spin=False, seconds=0.0):
    """Wait for the "GPU": for ever when its kernel never completes."""
    if spin:
        state.put(state.SPIN)
        while True:
            time.sleep(0.2)
    time.sleep(seconds)
