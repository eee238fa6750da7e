"""Type checkers take flags both ways: set to a value in a subclass, and overridden by a property."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import likewise

FLAGS = ("psd", "self_bounded", "signed", "divisible", "differentiable", "portable")
SOURCE = f"""
import likewise as lw

class Values(lw.Similarity):
    {"; ".join(f"{flag} = True" for flag in FLAGS)}
    kind = "melodies"
    price = pair_price = 2.0
    name = "values"

class Properties(lw.Similarity):
{
    "".join(
        f'''
    @property
    def {flag}(self) -> bool: return True
'''
        for flag in FLAGS
    )
}
"""


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_takes_flags_as_values_and_as_properties(tmp_path: Path) -> None:
    (tmp_path / "flags.py").write_text(SOURCE)
    paths = f'{{"extraPaths": ["{Path(likewise.__file__).parents[1]}"]}}'
    (tmp_path / "pyrightconfig.json").write_text(paths)
    checked = subprocess.run(["pyright", "flags.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
