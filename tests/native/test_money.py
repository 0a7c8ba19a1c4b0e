"""Amounts of money are the same without integers of 128 bits, which some compilers lack."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
COMPILER = shutil.which("c++")
PROGRAM = """
#include <array>
#include <cstdio>
#include <random>
#include "limits.hpp"
using namespace shortlist;
int main() {
  std::mt19937_64 random(1);
  const auto draw = [&] {
    std::array<std::uint64_t, 4> words{};
    const std::uint64_t n = random() % 4;
    for (std::size_t k = 0; k <= n; ++k) words[k] = random() % 3 ? random() : 0 - random() % 2;
    words[3] >>= 2;
    return Money(std::span<const std::uint64_t, 4>(words));
  };
  for (int i = 0; i < 20000; ++i) {
    const Money a = draw(), b = random() % 4 ? draw() : a, c = a - b;
    std::printf("%a %a %a ", (double)a, (double)(a + b), (double)c);
    std::printf("%d %d %d\\n", a < b, a == b, c < 0);
  }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no compiler")
def test_words_count_as_integers_do(tmp_path: Path) -> None:
    source = tmp_path / "money.cpp"
    source.write_text(PROGRAM)
    printed = set()
    for name, flags in {"integers": [], "words": ["-DSHORTLIST_WITHOUT_INT128"]}.items():
        program = tmp_path / name
        command = [COMPILER, "-std=c++20", *flags, f"-I{CORE}", source, "-o", program]
        subprocess.run(command, check=True)
        printed.add(subprocess.run([program], check=True, capture_output=True).stdout)
    assert len(printed) == 1
