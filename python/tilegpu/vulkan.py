"""tilegpu as a Vulkan driver for other programs: where its manifest is, and how the Khronos loader is told.

The loader looks for drivers in folders of the system and the user, or where its environment says. Nothing is found in site-packages by
itself, so: :func:`use` for this process, :func:`environment` for others, :func:`install` for all programs of the user. Programs that
run with another user's rights ignore the environment. Source: Vulkan-Loader, LoaderDriverInterface.md, LoaderInterfaceArchitecture.md.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tilegpu.whole_file import write_whole

__all__ = ["environment", "install", "installed", "manifest", "uninstall", "use"]

MANIFEST = "tilegpu_icd.json"
#: The newer and the older name; loaders of 1.3.207 and later take the first.
VARIABLES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
ADD_VARIABLE = "VK_ADD_DRIVER_FILES"


def manifest() -> Path:
    """The driver's manifest in this installation. Raises :class:`FileNotFoundError` where the package was built without it."""
    from tilegpu import _core

    assert _core.__file__ is not None
    path = Path(_core.__file__).resolve().parent / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}; install tilegpu from a wheel, or run make build")
    return path


def environment(*, add: bool = False) -> dict[str, str]:
    """Variables with which a program that is started finds this driver: alone, or (``add``) beside those of the machine."""
    path = str(manifest())
    return {ADD_VARIABLE: path} if add else dict.fromkeys(VARIABLES, path)


def use(*, add: bool = False) -> Path:
    """This process's first Vulkan instance, and all later ones, find this driver. Call it before anything loads Vulkan."""
    os.environ.update(environment(add=add))
    return manifest()


def _folder(system: bool) -> Path:
    if system:
        return Path("/etc/vulkan/icd.d")
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "vulkan" / "icd.d"


def installed(*, system: bool = False) -> Path | None:
    """The manifest that :func:`install` wrote, if it is there."""
    path = _folder(system) / MANIFEST
    return path if path.is_file() else None


def install(*, system: bool = False) -> Path:
    """Writes a manifest where the loader looks, for this user or (``system``) for all; it names the library by its full path.

    pip can't take it away again: :func:`uninstall` before the package is removed.
    """
    text = json.loads(manifest().read_text())
    text["ICD"]["library_path"] = str(manifest().parent / Path(text["ICD"]["library_path"]).name)
    folder = _folder(system)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST
    write_whole(path, json.dumps(text, indent=2) + "\n", "the driver's manifest")
    return path


def uninstall(*, system: bool = False) -> Path | None:
    """Takes the manifest away; None: there was none."""
    path = installed(system=system)
    if path is not None:
        path.unlink()
    return path
