"""``tilegpu bench hsr``: each technique of hidden-surface removal alone, all together and none, on the same frames.

Columns are those of Arm's table as far as this program counts them: primitives, fragments rasterized, killed and by whom, shaded, the
ideal (visible fragments), arithmetic and texture operations of fragment shaders (each draw's shaded fragments, traced in a run of their
own, times what its shader executes for one, and its sliced invocations times what is executed up to known coverage: see
:mod:`tilegpu.operations`), lanes, bytes, milliseconds. Runs of a
scene are interleaved, orders too; times are medians, and ratios (to the first order asked for; to the first technique) medians of the
ratios of each turn.

With ``--profile`` nothing is timed: Arm's table is printed as the model of that GPU has it (:mod:`tilegpu.bench.hsr_model`).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import time
from typing import Any

import numpy as np

from tilegpu.bench import hsr_model, operations
from tilegpu.terminal import (
    EXIT_OK,
    UsageError,
    load_scene,
    parse_size,
    positive,
    profile_name,
    progress,
    scene_file,
)

SCENES = ("heavy_overdraw_512", "fill_opaque_back_to_front", "textured_pbr", "mesh_100k")
#: Of ``--profile``; some lose by the pre-pass.
MODELLED_SCENES = (*SCENES, "gbuffer5", "demo", "mobile_frame")
#: What is compared: a name, and what ``hsr=`` takes.
CHOICES: dict[str, Any] = {
    "off": "off",
    "hierarchical_z": ["hierarchical_z"],
    "visibility_buffer": ["visibility_buffer"],
    "pre_pass": ["pre_pass"],
    "forward_pixel_kill": ["forward_pixel_kill"],
    "deferred_vertex_shading": ["deferred_vertex_shading"],
    "lrz": ["lrz"],
    "depth_filter": ["depth_filter"],
    "default": "default",
    "all": "all",
}
ORDERS = ("given", "reversed", "random", "near_to_far", "far_to_near")
COUNTERS = (
    "primitives_out", "lrz_primitives_rejected_in_binning", "lrz_primitives_rejected", "lrz_blocks_rejected",
    "fragments_rasterized", "fragments_early_killed", "fragments_killed_by_hierarchical_z",
    "primitives_culled_by_prepass", "fragments_killed_by_prepass",
    "fragments_killed_by_fpk", "fragments_shaded", "sliced_invocations", "helper_lanes", "idle_lanes",
)  # fmt: skip


def add_parser(commands: Any) -> None:
    """Adds the benchmark."""
    parser = commands.add_parser(
        "hsr", help="hidden-surface removal: each technique alone and all together", description=__doc__
    )
    parser.add_argument(
        "scenes", nargs="*", metavar="SCENE",
        help=f"default: {', '.join(SCENES)}; with --profile also {', '.join(MODELLED_SCENES[len(SCENES) :])}",
    )  # fmt: skip
    parser.add_argument("--size", type=parse_size, metavar="WxH", help="default: the scenes' own")
    parser.add_argument(
        "--order",
        action="append",
        choices=ORDERS,
        help="of draws; may be repeated (default: given); the sorted ones by the mean z of a draw's vertices: the scenes look along -z",
    )
    parser.add_argument(
        "--profile",
        type=profile_name,
        metavar="P",
        help="model this GPU: what one technique (--hsr; default: the pre-pass, or what the profile has in its place) takes off "
        "operations, bytes read and written, and cycles",
    )
    parser.add_argument("--hsr", action="append", choices=list(CHOICES), help="may be repeated (default: all of them)")
    parser.add_argument("--rounds", type=positive, help="runs of each, interleaved (default: 5); with --profile nothing is timed")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.set_defaults(run=run)


def reorder(draws: list[Any], order: str) -> list[Any]:
    """The draws in another order; ``random`` is the same at every run."""
    if order == "reversed":
        return draws[::-1]
    if order == "random":
        return [draws[i] for i in np.random.default_rng(1).permutation(len(draws))]
    if order == "given":
        return draws

    def mean_z(draw: Any) -> float:
        name = next(n for n in draw.vertices.dtype.names if draw.vertices.dtype[n].shape in ((3,), (4,)))
        vertices = draw.vertices[name][:, 2]
        if draw.indices is not None:
            used = draw.indices.reshape(-1)[draw.first :]
            vertices = vertices[used[: draw.count] if draw.count is not None else used]
        return float(vertices.mean())

    return sorted(draws, key=mean_z, reverse=order == "near_to_far")


def operations_of(frame: Any, costs: list[dict[str, Any]]) -> operations.Operations:
    """What the fragment shaders of a frame executed; ``costs``: of its draws, as :attr:`tilegpu.explain.Explanation.costs`."""
    from tilegpu.shader import load

    total = operations.Operations()
    for draw, cost in zip(frame.draws, costs, strict=True):
        if draw.program.fragment is None or not (cost["fragments_shaded"] or cost["sliced_invocations"]):
            continue
        module = load(draw.program.fragment, "fragment", file=draw.program.fragment_file)
        constants = {
            c.constant_id: int(v)
            for c in module.reflection.constants
            if (v := draw.program.constants.get(c.name)) is not None
        }
        total += operations.count(module.spirv, constants) * cost["fragments_shaded"]
        total += operations.count(module.spirv, constants, "coverage") * cost["sliced_invocations"]
    return total


def measure(
    scene: Any, size: tuple[int, int] | None, orders: list[str], choices: list[str], rounds: int, isolate: bool = False
) -> list[dict[str, Any]]:
    """A row for each order and choice, all by turns: ``scene``, ``order``, ``hsr``, :data:`COUNTERS`, ``fragments_visible`` (``None``
    with more than one sample), ``arithmetic_operations``, ``texture_operations``, ``operations_exact`` (False: both sides of branches
    are in the count), ``lanes_per_fragment``, ``bytes``, ``ms`` (median), ``ms_all``; ``over_first_order`` and ``over_first_hsr``: the
    median of the ratios, turn by turn, to the same in the first order, and to the first choice in the same order."""
    import tilegpu
    from tilegpu.scene import SceneRenderer

    given = scene.frame(size)
    frames = {order: dataclasses.replace(given, draws=reorder(list(given.draws), order)) for order in orders}
    visible = None
    if given.samples == 1 and given.depth_format is not None:
        depth = SceneRenderer(tilegpu.Device(isolate_compiler=isolate)).render(dataclasses.replace(given, store_depth=True)).depth
        assert depth is not None
        visible = int((depth != depth.dtype.type(1)).sum())
    runs = {
        (order, choice): SceneRenderer(tilegpu.Device(hsr=CHOICES[choice], isolate_compiler=isolate))
        for order in orders
        for choice in choices
    }
    results = {key: renderer.render(frames[key[0]], read=False) for key, renderer in runs.items()}
    for renderer in runs.values():
        renderer.device.wait_compiles()
    times_ms: dict[tuple[str, str], list[float]] = {key: [] for key in runs}
    for _ in range(rounds):
        for key, renderer in runs.items():
            start = time.perf_counter()
            renderer.render(frames[key[0]], read=False)
            times_ms[key].append((time.perf_counter() - start) * 1e3)

    def ratio(key: tuple[str, str], other: tuple[str, str]) -> float:
        return statistics.median(a / b for a, b in zip(times_ms[key], times_ms[other], strict=True))

    rows = []
    for (order, choice), renderer in runs.items():
        result, times = results[order, choice], times_ms[order, choice]
        executed = operations_of(frames[order], renderer.render_pass.explain().costs)
        counters = {name: int(getattr(result.stats, name)) for name in COUNTERS}
        lanes = (
            counters["fragments_shaded"]
            + counters["sliced_invocations"]
            + counters["helper_lanes"]
            + counters["idle_lanes"]
        )
        traffic = result.stats.traffic
        rows.append(
            {
                "scene": scene.name, "order": order, "hsr": choice, **counters, "fragments_visible": visible,
                "arithmetic_operations": executed.arithmetic, "texture_operations": executed.texture, "operations_exact": executed.exact,
                "lanes_per_fragment": lanes / max(1, counters["fragments_shaded"]),
                "bytes": sum(traffic[a][c] for a in traffic for c in traffic[a] if not c.startswith("saved")),
                "ms": statistics.median(times), "ms_all": times, "over_first_order": ratio((order, choice), (orders[0], choice)),
                "over_first_hsr": ratio((order, choice), (order, choices[0])),
            }
        )  # fmt: skip
    return rows


def run_model(options: argparse.Namespace) -> int:
    """Arm's table on a profile."""
    whole = [name for name in options.hsr or () if name in ("off", "default", "all")]
    if options.rounds:
        raise UsageError("--rounds has no effect with --profile, where nothing is timed; leave it out")
    if whole or options.order:
        given = f"--hsr {whole[0]}" if whole else "--order"
        raise UsageError(f"{given} does not go with --profile, which switches one technique: --hsr pre_pass, lrz, forward_pixel_kill, ...")
    names = options.scenes or MODELLED_SCENES
    rows = []
    for name in progress(names, len(names), "bench hsr"):
        rows += hsr_model.measure(load_scene(name), options.size, options.profile, options.hsr or (), scene_file(name) is not None)
    print(json.dumps(rows, indent=1) if options.json else hsr_model.text_of(rows))
    return EXIT_OK


def run(options: argparse.Namespace) -> int:
    """Measures and prints."""
    rows = []
    if options.profile:
        return run_model(options)
    names = options.scenes or SCENES
    for name in progress(names, len(names), "bench hsr"):
        orders = list(dict.fromkeys(options.order or ["given"]))
        choices = list(dict.fromkeys(options.hsr or CHOICES))
        rows += measure(load_scene(name), options.size, orders, choices, options.rounds or 5, scene_file(name) is not None)
    if options.json:
        print(json.dumps(rows, indent=1))
        return EXIT_OK
    print(f"{'scene':26} {'order':12} {'hsr':23} {'rasterized':>12} {'early':>12} {'pre-pass':>12} {'waiting':>10} {'shaded':>12} "
          f"{'ideal':>10} {'arithmetic':>14} {'texture':>11} {'MB':>7} {'lanes':>6} {'ms':>8} {'/order':>6} {'/hsr':>6}")  # fmt: skip
    for r in rows:
        ideal = "" if r["fragments_visible"] is None else f"{r['fragments_visible']:,}"
        print(f"{r['scene']:26} {r['order']:12} {r['hsr']:23} {r['fragments_rasterized']:12,} {r['fragments_early_killed']:12,} "
              f"{r['fragments_killed_by_prepass']:12,} {r['fragments_killed_by_fpk']:10,} {r['fragments_shaded']:12,} {ideal:>10} "
              f"{'' if r['operations_exact'] else '<'}{r['arithmetic_operations']:,}".rjust(14),
              f"{r['texture_operations']:11,} {r['bytes'] / 1e6:7.2f} {r['lanes_per_fragment']:6.2f} {r['ms']:8.2f} "
              f"{r['over_first_order']:6.2f} {r['over_first_hsr']:6.2f}")  # fmt: skip
    return EXIT_OK
