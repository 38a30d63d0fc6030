"""Tensors as a file: torch's format, written so that a full disk is told as one, and read so that none of it runs."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import torch


def save_tensors(values: Any, path: Path) -> None:
    """Write nested dicts and lists of tensors, numbers and text.

    Raises:
        OSError: of the disk. torch's own writer would raise a RuntimeError that does not say so.
    """
    content = BytesIO()
    torch.save(values, content)
    path.write_bytes(content.getbuffer())


def load_tensors(path: Path, device: torch.device) -> Any:
    """What `save_tensors` wrote; a file that holds anything else, such as code, is refused."""
    return torch.load(path, map_location=device, weights_only=True)
