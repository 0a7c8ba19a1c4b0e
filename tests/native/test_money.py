"""Amounts of money in the core are whole numbers of 255 bits, and become the nearest doubles."""

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
    for (std::size_t k = 4; k-- > 0;) std::printf("%016llx", (unsigned long long)words[k]);
    std::printf(" ");
    return Money(std::span<const std::uint64_t, 4>(words));
  };
  for (int i = 0; i < 20000; ++i) {
    const Money a = draw(), b = draw(), c = a - b;
    std::printf("%a %a %a ", (double)a, (double)(a + b), (double)c);
    std::printf("%d %d %d %d\\n", a < b, a == b, c < 0, c + b == a && Money(0) - c == b - a);
  }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no compiler")
def test_amounts_count_as_integers_of_python_do(tmp_path: Path) -> None:
    source, program = tmp_path / "money.cpp", tmp_path / "money"
    source.write_text(PROGRAM)
    subprocess.run([COMPILER, "-std=c++20", f"-I{CORE}", source, "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    lines = printed.splitlines()
    assert len(lines) == 20_000
    for line in lines:
        first, second, *doubles, less, equal, negative, is_group = line.split()
        a, b = int(first, 16), int(second, 16)
        assert [float.fromhex(text) for text in doubles] == [float(a), float(a + b), float(a - b)]
        assert (less, equal, negative) == tuple(f"{x:d}" for x in (a < b, a == b, a < b))
        assert is_group == "1"
