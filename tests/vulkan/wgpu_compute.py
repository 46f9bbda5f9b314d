"""A workgroup's sum by shared memory and barriers, through wgpu: wgpu_compute.py FILE.npy."""

import sys

import numpy as np
import wgpu
from wgpu.utils.compute import compute_with_buffers

SHADER = """
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
var<workgroup> part: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) k: u32, @builtin(workgroup_id) group: vec3u, @builtin(global_invocation_id) at: vec3u) {
  part[k] = data[at.x];
  workgroupBarrier();
  for (var step = 32u; step > 0u; step /= 2u) {
    if (k < step) { part[k] += part[k + step]; }
    workgroupBarrier();
  }
  if (k == 0u) { sums[group.x] = part[0]; }
}
"""
print(wgpu.gpu.request_adapter_sync().info["device"])
data = np.random.default_rng(3).integers(0, 1 << 20, 64 * 37, dtype=np.uint32)
found = compute_with_buffers({0: data}, {1: (37, "I")}, SHADER, n=37)
sums = np.frombuffer(found[1], np.uint32)
assert np.array_equal(sums, data.reshape(37, 64).sum(1, dtype=np.uint32))
np.save(sys.argv[1], sums)
