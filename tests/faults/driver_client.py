"""A program that uses the Vulkan driver and nothing else of tilegpu: ``python driver_client.py LIBRARY KERNEL.spv ...``.

In: the driver's library, kernels of one storage buffer. Out: for each a line with a hash of the 4096 words that it leaves. Calls go
straight to the driver, as a loader's would. Source: Vulkan specification, chapters "Initialization", "Dispatching Commands"; structures as
``struct`` packs them.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import sys
from pathlib import Path

WORDS, LOCAL = 4096, 64
_kept: list[object] = []  # what structures point to


def _place(data: bytes) -> int:
    buffer = ctypes.create_string_buffer(data, max(len(data), 1))
    _kept.append(buffer)
    return ctypes.addressof(buffer)


def _made(layout: str, kind: int, *fields: int) -> int:
    """The place of a structure: sType, no pNext, the rest."""
    return _place(struct.pack("@IP" + layout + "0P", kind, 0, *fields))


class Driver:
    """Commands by name. A result that is no success ends the program."""

    def __init__(self, library: str) -> None:
        self._get = ctypes.CDLL(library).vk_icdGetInstanceProcAddr
        self._get.restype, self._get.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
        self.instance = 0
        self.instance = self.create("vkCreateInstance", _made("IPIPIP", 1, 0, 0, 0, 0, 0, 0), first=())

    def call(self, name: str, *arguments: int, result: bool = False) -> None:
        # 64 bits of each are passed; a function takes of them what its parameter has.
        function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_uint64] * len(arguments))(self._get(self.instance, name.encode()))
        code = function(*arguments)
        if result and code:
            raise SystemExit(f"{name}: {code}")

    def create(self, name: str, info: int, first: tuple[int, ...], allocator: bool = True) -> int:
        out = ctypes.c_uint64()
        self.call(name, *first, info, *([0] if allocator else []), ctypes.addressof(out), result=True)
        return out.value


def run(driver: Driver, words: list[bytes]) -> None:
    """Each kernel on the first device's first queue."""
    count, physical = ctypes.c_uint32(1), ctypes.c_uint64()
    driver.call("vkEnumeratePhysicalDevices", driver.instance, ctypes.addressof(count), ctypes.addressof(physical), result=True)
    queues = _made("IIIP", 2, 0, 0, 1, _place(struct.pack("f", 1)))
    device = driver.create("vkCreateDevice", _made("IIPIPIPP", 3, 0, 1, queues, 0, 0, 0, 0, 0), (physical.value,))
    queue = ctypes.c_uint64()
    driver.call("vkGetDeviceQueue", device, 0, 0, ctypes.addressof(queue))
    buffer = driver.create("vkCreateBuffer", _made("IQIIIP", 12, 0, 4 * WORDS, 0x20, 0, 0, 0), (device,))
    memory = driver.create("vkAllocateMemory", _made("QI", 5, 4 * WORDS, 0), (device,))
    driver.call("vkBindBufferMemory", device, buffer, memory, 0, result=True)
    data = ctypes.c_uint64()
    driver.call("vkMapMemory", device, memory, 0, 4 * WORDS, 0, ctypes.addressof(data), result=True)
    binding = _place(struct.pack("@IIIIP", 0, 7, 1, 0x20, 0))
    sets = driver.create("vkCreateDescriptorSetLayout", _made("IIP", 32, 0, 1, binding), (device,))
    layout = driver.create("vkCreatePipelineLayout", _made("IIPIP", 30, 0, 1, _place(struct.pack("Q", sets)), 0, 0), (device,))
    pool = driver.create("vkCreateDescriptorPool", _made("IIIP", 33, 0, 1, 1, _place(struct.pack("II", 7, 1))), (device,))
    chosen = driver.create("vkAllocateDescriptorSets", _made("QIP", 34, pool, 1, _place(struct.pack("Q", sets))), (device,), False)
    whole = _place(struct.pack("QQQ", buffer, 0, 4 * WORDS))
    driver.call("vkUpdateDescriptorSets", device, 1, _made("QIIIIPPP", 35, chosen, 0, 0, 1, 7, 0, whole, 0), 0, 0)
    commands_pool = driver.create("vkCreateCommandPool", _made("II", 39, 2, 0), (device,))
    for module_words in words:
        ctypes.memset(data.value, 1, 4 * WORDS)
        module = driver.create("vkCreateShaderModule", _made("IQP", 16, 0, len(module_words), _place(module_words)), (device,))
        stage = struct.pack("@IPIIQPP", 18, 0, 0, 0x20, module, _place(b"main\0"), 0)
        info = _place(struct.pack("@IPI4x", 29, 0, 0) + stage + struct.pack("@QQi4x", layout, 0, -1))
        pipeline = ctypes.c_uint64()
        driver.call("vkCreateComputePipelines", device, 0, 1, info, 0, ctypes.addressof(pipeline), result=True)
        commands = driver.create("vkAllocateCommandBuffers", _made("QII", 40, commands_pool, 0, 1), (device,), False)
        driver.call("vkBeginCommandBuffer", commands, _made("IP", 42, 1, 0), result=True)
        driver.call("vkCmdBindPipeline", commands, 1, pipeline.value)
        driver.call("vkCmdBindDescriptorSets", commands, 1, layout, 0, 1, _place(struct.pack("Q", chosen)), 0, 0)
        driver.call("vkCmdDispatch", commands, WORDS // LOCAL, 1, 1)
        driver.call("vkEndCommandBuffer", commands, result=True)
        submit = _made("IPPIPIP", 4, 0, 0, 0, 1, _place(struct.pack("Q", commands)), 0, 0)
        driver.call("vkQueueSubmit", queue.value, 1, submit, 0, result=True)
        driver.call("vkQueueWaitIdle", queue.value, result=True)
        print(hashlib.sha256(ctypes.string_at(data.value, 4 * WORDS)).hexdigest(), flush=True)


if __name__ == "__main__":
    run(Driver(sys.argv[1]), [Path(name).read_bytes() for name in sys.argv[2:]])
