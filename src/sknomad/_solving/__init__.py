"""The one loop that runs any solver, has it judged, and stops when the proof is tight enough."""
