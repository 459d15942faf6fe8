"""Cache layouts: what one token, or one sequence, leaves behind in a layer. One class each."""

from __future__ import annotations

from upheld.arithmetic.layouts.chunked import ChunkedAttention
from upheld.arithmetic.layouts.full import FullAttention
from upheld.arithmetic.layouts.latent import LatentAttention
from upheld.arithmetic.layouts.sliding import SlidingAttention
from upheld.arithmetic.layouts.state import StateLayers

TokenLayers = FullAttention | SlidingAttention | ChunkedAttention | LatentAttention
Layers = TokenLayers | StateLayers
