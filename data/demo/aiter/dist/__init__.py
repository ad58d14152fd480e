"""Part of the hangtop demo server: a stand-in with the shape of the real package, not the package."""
