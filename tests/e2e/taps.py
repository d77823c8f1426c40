"""fade-run with the engine of taps on every function, and what its recordings say of stops."""
import harness

TAPS = ("--engine", "taps", "-e", harness.EVERYTHING)


def stops(database, name):
    return database.value(f"SELECT sum(stops) FROM overhead WHERE name = '{name}'")
