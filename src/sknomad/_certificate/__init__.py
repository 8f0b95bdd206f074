"""The judge: any iterate of any solver becomes proven bounds."""
