#!/bin/sh
# safetensors 0.8.0: save_file and save of safetensors.numpy scramble an array that is not in C order, such as a
# transpose or the result of scikit-learn's PCA. Shape and type are right, the file is valid, and nothing is said.
#
# The values are written as they lie in memory, and are read with the shape as if they lay row after row. Seen with 4
# embeddings of 3 numbers that are the transpose of a matrix with one per column: the cosine of the first two was -.84
# and is -.04 after reading. 0.7.0 wrote it right. safetensors.torch refuses a tensor like that with an error; the
# docstring of the functions for NumPy asks for "contiguous and dense" ones, which a transpose is, in its own order.
# Reported in its issues (825, open). np.ascontiguousarray helps. It ends with 1 where that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy
cd "$folder"
cat > there_and_back.py <<'PYTHON'
import sys

import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file

columns = np.random.default_rng(3).standard_normal((3, 4)).astype(np.float32)


def cosine(vectors):
    first, second = vectors[:2].astype(np.float64)
    return first @ second / np.linalg.norm(first) / np.linalg.norm(second)


save_file({"transpose": columns.T, "copy": np.ascontiguousarray(columns.T)}, "vectors.safetensors")
read = load_file("vectors.safetensors")
told = [f"{cosine(each):.2f}" for each in (columns.T, read["transpose"], read["copy"])]
print(safetensors.__version__, "cosine of the first two: true {}, read {}, read of a copy {}".format(*told))
right = np.array_equal(read["transpose"], columns.T)
wrong = not right and read["transpose"].shape == (4, 3) and np.array_equal(read["copy"], columns.T)
sys.exit(not (wrong if sys.argv[1] == "wrong" else right))
PYTHON
for version in 0.7.0 0.8.0; do
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check "safetensors==$version"
    if [ "$version" = 0.8.0 ]; then expected=wrong; else expected=right; fi
    venv/bin/python there_and_back.py "$expected"
done
