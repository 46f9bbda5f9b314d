"""Frames on many processes and machines, with a proof: jobs as plain data, any executor, manifests of hashes.

>>> from tilegpu.farm import Job, render, verify
>>> run = render(Job("textured_pbr", size=(640, 360), of=100), "turn.png", executor="processes")
>>> verify("turn.manifest.json", share=0.05).same
True

The door of this room; what stands in no ``__all__`` is for the command line and for tests.
"""

from tilegpu import keywords
from tilegpu.farm.encoding import as_picture as as_picture
from tilegpu.farm.encoding import color_path as color_path
from tilegpu.farm.encoding import encoded as encoded
from tilegpu.farm.encoding import is_picture_of as is_picture_of
from tilegpu.farm.encoding import number_problem as number_problem
from tilegpu.farm.encoding import output_path as output_path
from tilegpu.farm.executors import Workers as Workers
from tilegpu.farm.executors import workers_of as workers_of
from tilegpu.farm.hashes import frame_hash, pixel_hash, shader_hash
from tilegpu.farm.job import FarmError, Job
from tilegpu.farm.job import frame_of as frame_of
from tilegpu.farm.job import pictures_per_second as pictures_per_second
from tilegpu.farm.job import scene_of as scene_of
from tilegpu.farm.job import why_alike as why_alike
from tilegpu.farm.manifest import FrameRecord, Manifest, Written, read_manifest
from tilegpu.farm.proof import Verified, verify
from tilegpu.farm.run import Prepared as Prepared
from tilegpu.farm.run import Run, pictures, render
from tilegpu.farm.schedule import Failure
from tilegpu.farm.schedule import Scheduler as Scheduler
from tilegpu.farm.worker import Done as Done
from tilegpu.farm.worker import Task as Task
from tilegpu.farm.worker import draw as draw

__all__ = [
    "Failure",
    "FarmError",
    "FrameRecord",
    "Job",
    "Manifest",
    "Run",
    "Verified",
    "Written",
    "frame_hash",
    "pictures",
    "pixel_hash",
    "read_manifest",
    "render",
    "shader_hash",
    "verify",
]

keywords.explain_calls(globals(), __all__, "tilegpu.farm", {"Job": "tilegpu.farm.Job"})
