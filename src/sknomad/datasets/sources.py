"""Where the images of others come from, and digests that tell whether they are those."""

from __future__ import annotations

from .download import RemoteFile

MNIST_URLS = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
MNIST = {
    name: RemoteFile((f"mnist/{name}",), tuple(base + name for base in MNIST_URLS), digest)
    for name, digest in {
        "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    }.items()
}
TEAPOTS = RemoteFile(
    ("teapots/teapots100.mat",),
    ("https://www.cs.columbia.edu/~jebara/4772/teapots100.mat",),
    "7856a2b18a744f75ac454dfabf30a136496c338f964fae8c2c314d6cde4652ce",
)
YALE = RemoteFile(
    ("yaleb/CroppedYale.zip", "yaleb/CroppedYale_P00_paper_01_04_05_27.zip"),
    ("http://vision.ucsd.edu/extyaleb/CroppedYaleBZip/CroppedYale.zip",),
    None,
)
COIL20 = RemoteFile(
    ("coil20/COIL20_32x32.mat",),
    ("https://raw.githubusercontent.com/jundongl/scikit-feature/master/skfeature/data/COIL20.mat",),
    None,
)
COIL100 = RemoteFile(
    ("coil100/coil-100.zip", "coil100/coil-100_objects_14_17_52_74.zip"),
    ("https://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-100/coil-100.zip",),
    None,
)
# Digests of the decoded pixels, by part.
COIL20_PIXELS = {"all": "d083dc0403a3094bcdc3595ee7bb5b27"}
PIXELS = {
    "subjects": {
        "1": "05dc55615d42d5433291e828e7126594",
        "4": "1862e39fbc284294d0dcd1ae5541a9dc",
        "5": "0830bf2a04618efcd529e72a255bf83b",
        "27": "3516f40362677fa4ec17d153e21e7f29",
    },
    "objects": {
        "14": "8871f0ba5dd3867dc5a4bafc293484c3",
        "17": "05b70fc5c87cf97c721082c5e11ae865",
        "52": "feb33a62425ba57885c09edc0e4c9c91",
        "74": "eae727eea312ab37f0a868abd6d0117a",
    },
}
