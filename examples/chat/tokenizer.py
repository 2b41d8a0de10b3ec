"""The tokenizer that a GGUF checkpoint describes, as one of the `tokenizers` library."""

from __future__ import annotations

from gguf import GGUFReader
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

# Kinds of tokens in a GGUF file (as in SentencePiece's model).
_CONTROL, _USER_DEFINED = 3, 4
_SPACE = "▁"


def tokenizer_of(reader: GGUFReader) -> Tokenizer:
    """Byte-pair merges over pieces of text in which "▁" stands for a space.

    A GGUF file lists pieces with scores, not merges: of all adjacent pairs, the one whose union scores best is merged
    first (SentencePiece's BPE). So every way to divide a piece in two known ones is a merge, ranked by that score.
    """
    fields = {name: reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "scores", "token_type")}
    pieces: list[str] = fields["tokens"]
    ids = {piece: i for i, piece in enumerate(pieces)}
    ranked: list[tuple[float, int, int, tuple[str, str]]] = []
    for piece, score in zip(pieces, fields["scores"], strict=True):
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in ids and right in ids:
                ranked.append((-score, ids[left], ids[right], (left, right)))
    ranked.sort()
    unknown = pieces[int(reader.fields["tokenizer.ggml.unknown_token_id"].contents())]
    tokenizer = Tokenizer(
        models.BPE(ids, [merge for *_, merge in ranked], unk_token=unknown, fuse_unk=True, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Replace(" ", _SPACE)
    tokenizer.decoder = decoders.Sequence([decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    kinds = list(zip(pieces, fields["token_type"], strict=True))
    tokenizer.add_special_tokens([AddedToken(p, normalized=False) for p, kind in kinds if kind == _CONTROL])
    tokenizer.add_tokens([AddedToken(p, normalized=False) for p, kind in kinds if kind == _USER_DEFINED])
    return tokenizer
