#!/bin/sh
# The experiments of the paper that want a GPU, into the folder given: all of MNIST, and all zeros at the paper's K and the
# authors' smaller ones. Needs torch with CUDA, matplotlib, jinja2, and $SKNOMAD_DATA. Results carry the machine's name; copied
# into another folder of results they are shown there as they are.
set -e
python -m sknomad reproduce mnist-all mnist-zeros --device cuda --out "${1:-results}"
