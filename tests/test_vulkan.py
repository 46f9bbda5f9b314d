"""The Vulkan driver from Python and the command line: manifest, environment, install and uninstall, and the library behind it."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tilegpu.vulkan
from tilegpu.cli import main


def test_the_manifest_names_the_library_beside_it() -> None:
    path = tilegpu.vulkan.manifest()
    text = json.loads(path.read_text())["ICD"]
    library = (path.parent / text["library_path"]).resolve()
    assert library.is_file() and library.name == "libtilegpu.so"
    # The version is the instance's own, the headers' patch number included.
    program = (
        "import ctypes, sys\n"
        "lib = ctypes.CDLL(sys.argv[1])\n"
        "get = lib.vk_icdGetInstanceProcAddr; get.restype = ctypes.c_void_p\n"
        "version = ctypes.c_uint32()\n"
        "enumerate_version = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(get(None, b'vkEnumerateInstanceVersion'))\n"
        "assert enumerate_version(ctypes.byref(version)) == 0\n"
        "print(f'{version.value >> 22}.{version.value >> 12 & 1023}.{version.value & 4095}')\n"
    )
    plain = {name: value for name, value in os.environ.items() if name != "TILEGPU_VULKAN"}
    done = subprocess.run([sys.executable, "-c", program, str(library)], check=True, capture_output=True, text=True, env=plain)
    assert text["api_version"] == done.stdout.strip()


def test_the_library_is_a_driver_without_python() -> None:
    """Negotiates, and shows the loader's three functions and no Vulkan command."""
    library = tilegpu.vulkan.manifest().parent / "libtilegpu.so"
    program = (
        "import ctypes, sys\n"
        "lib = ctypes.CDLL(sys.argv[1])\n"
        "version = ctypes.c_uint32(9)\n"
        "assert lib.vk_icdNegotiateLoaderICDInterfaceVersion(ctypes.byref(version)) == 0 and version.value == 7\n"
        "get = lib.vk_icdGetInstanceProcAddr; get.restype = ctypes.c_void_p\n"
        "assert get(None, b'vkCreateInstance') and get(None, b'vkEnumerateInstanceVersion')\n"
        "assert get(None, b'vk_icdGetPhysicalDeviceProcAddr') and not get(None, b'vkNothing')\n"
        "assert not hasattr(lib, 'vkCreateInstance')\n"
    )
    subprocess.run([sys.executable, "-c", program, str(library)], check=True)


def test_use_sets_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*tilegpu.vulkan.VARIABLES, tilegpu.vulkan.ADD_VARIABLE):
        monkeypatch.setenv(name, "before")
    path = tilegpu.vulkan.use()
    assert [os.environ[name] for name in tilegpu.vulkan.VARIABLES] == [str(path)] * 2
    assert os.environ[tilegpu.vulkan.ADD_VARIABLE] == "before"
    tilegpu.vulkan.use(add=True)
    assert os.environ[tilegpu.vulkan.ADD_VARIABLE] == str(path)


def test_env_prints_what_a_shell_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vulkan", "env"]) == 0
    text = capsys.readouterr().out
    done = subprocess.run(["sh", "-c", text + 'echo "$VK_DRIVER_FILES"'], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tilegpu.vulkan.manifest())


def test_install_and_uninstall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert tilegpu.vulkan.installed() is None
    assert main(["vulkan", "install"]) == 0
    path = tilegpu.vulkan.installed()
    assert path is not None and path.parent == tmp_path / "vulkan" / "icd.d"
    library = Path(json.loads(path.read_text())["ICD"]["library_path"])
    assert library.is_absolute() and library.is_file()
    assert main(["vulkan", "uninstall"]) == 0 and tilegpu.vulkan.installed() is None
    assert main(["vulkan", "uninstall"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing was installed"


def test_run_starts_a_program_that_finds_the_driver() -> None:
    words = ["vulkan", "run", "--", "sh", "-c", 'echo "$VK_DRIVER_FILES"; exit 7']
    done = subprocess.run([sys.executable, "-m", "tilegpu", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 7 and done.stdout.strip() == str(tilegpu.vulkan.manifest())


def test_run_says_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vulkan", "run"]) == 2
    assert "which program?" in capsys.readouterr().err
    assert main(["vulkan", "run", "--", "no-such-program-here"]) == 2
    assert "there is no program no-such-program-here" in capsys.readouterr().err


def test_the_loader_finds_the_device() -> None:
    """Through libvulkan's loader, where it is installed: the instance has one device, of this name, which wgpu takes. wgpu hides devices
    that say, by Vulkan 1.2 or VK_KHR_driver_properties, that their conformance version is 0.0.0.0; nothing else tells that it does."""
    try:
        ctypes.CDLL("libvulkan.so.1")
    except OSError:
        pytest.skip("the Vulkan loader is not installed")
    program = """
import ctypes
vk = ctypes.CDLL("libvulkan.so.1")
class Info(ctypes.Structure):
    _fields_ = [("sType", ctypes.c_int), ("pNext", ctypes.c_void_p), ("flags", ctypes.c_uint32), ("app", ctypes.c_void_p),
                ("layers", ctypes.c_uint32), ("layer_names", ctypes.c_void_p), ("extensions", ctypes.c_uint32), ("names", ctypes.c_void_p)]
instance, count = ctypes.c_void_p(), ctypes.c_uint32(4)
assert vk.vkCreateInstance(ctypes.byref(Info(1)), None, ctypes.byref(instance)) == 0
devices = (ctypes.c_void_p * 4)()
assert vk.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices) == 0
properties = ctypes.create_string_buffer(4096)
vk.vkGetPhysicalDeviceProperties(ctypes.c_void_p(devices[0]), properties)
version = ctypes.c_uint32.from_buffer(properties).value
names = ctypes.c_uint32()
assert vk.vkEnumerateDeviceExtensionProperties(ctypes.c_void_p(devices[0]), None, ctypes.byref(names), None) == 0
listed = ctypes.create_string_buffer(260 * names.value)
assert vk.vkEnumerateDeviceExtensionProperties(ctypes.c_void_p(devices[0]), None, ctypes.byref(names), listed) == 0
assert b"VK_KHR_swapchain\\0" in listed.raw
assert version >> 12 == 0x401 and b"VK_KHR_driver_properties\\0" not in listed.raw, "wgpu would hide the device"
print(count.value, properties.raw[20:].split(b"\\0")[0].decode())
vk.vkDestroyInstance(instance, None)
"""
    plain = {name: value for name, value in os.environ.items() if name != "TILEGPU_VULKAN"}
    environment = {**plain, **tilegpu.vulkan.environment()}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"1 tilegpu {tilegpu.__version__} (software)"
