"""Branches that specialisation constants decide: the same bits as where the same numbers come from a buffer."""

from __future__ import annotations

import numpy as np
import pytest

import tilegpu as tg

TEXT = """#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { float data[]; };
layout(std430, binding = 1) readonly buffer Which { uint which[]; };
layout(constant_id = 0) const uint kOperation = 0;
layout(constant_id = 1) const uint kStep = 1;
#define OPERATION SOURCE0
#define STEP SOURCE1
float apply(uint operation, float x) {
  if (operation == 1u && STEP < 3u) { if (x > 2.0) return x; else return -x; }
  uint left = operation;
  for (int n = 0; n < 9; ++n) {
    if (operation < 2u) break;
    x = x * 1.25 - 0.5;
    if (STEP == 2u) continue;
    if (x > 40.0) return x * 0.5;
    left += uint(n);
  }
  return x + float(left);
}
void main() {
  uint at = gl_GlobalInvocationID.x;
  float x = data[at];
  if (OPERATION == 4u) { if (x < 3.0) return; x = -x; }
  switch (OPERATION * STEP) {
    case 0u: if (x > 1.0) x = sin(x); break;
    case 1u: x = cos(x);
    case 2u: x = x > 0.5 ? x : 0.5; if (x > 7.0) break; x += 0.25; break;
    case 3u: do { x = sqrt(abs(x)); if (x < 1.5) break; } while (STEP != 3u); break;
    default: for (int n = 0; n < int(x); ++n) { if (STEP > 1u) continue; x += 0.125; }
  }
  data[at] = apply(OPERATION, x) + apply(STEP & 3u, 1.0 / x);
}"""


@pytest.mark.parametrize("lanes", [4, 16])
def test_constants_and_numbers_of_a_buffer_give_the_same(lanes: int) -> None:
    dev = tg.Device(lanes=lanes, cache_dir="off", threads=2)
    start = np.linspace(-4, 12, 96).astype("f4")
    read = dev.compute_pipeline(TEXT.replace("SOURCE0", "which[0]").replace("SOURCE1", "which[1]"))
    different = set()
    for operation in range(6):
        for step in range(1, 4):
            text = TEXT.replace("SOURCE0", "kOperation").replace("SOURCE1", "kStep")
            decided = dev.compute_pipeline(text, constants={0: operation, 1: step})
            which = dev.buffer(np.array([operation, step], "u4"))
            results = []
            for kernel in (read, decided):
                data = dev.buffer(start)
                bind = {"Data": data} | ({"Which": which} if kernel is read else {})
                dev.dispatch(kernel, 3, bind=bind)
                results.append(data.numpy().tobytes())
            assert results[0] == results[1], (operation, step)
            different.add(results[0])
    assert len(different) > 12
