"""The memories, as values for ``Tensor[..., storage]`` and ``tf.reshard(x, layout, storage)``."""

from tilefoundry.ir.types import StorageKind

host = StorageKind.HOST
gmem = StorageKind.GMEM
smem = StorageKind.SMEM
rmem = StorageKind.RMEM
tmem = StorageKind.TMEM
umat = StorageKind.UMAT

__all__ = ["gmem", "host", "rmem", "smem", "tmem", "umat"]
