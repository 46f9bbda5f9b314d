"""What lint says that a change saves is what the ledger has less when the change is made: random small frames, and lint's words done
literally. Frames are plain lists of steps here, so that a change is a change of the list."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest

import tilegpu as tg
from tilegpu.context import CommandStats
from tilegpu.frame_lint import Finding
from tilegpu.frame_traffic import ClearInPass, Join, ResolveInPass, Without, WithoutResolve, sum_B
from tilegpu.stats import bytes_text

COVER = """#version 450
layout(push_constant) uniform P { vec4 tint; float z; };
void main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, z, 1); }"""
TINT = "layout(push_constant) uniform P { vec4 tint; float z; };\n"
FORMATS = ("r8g8b8a8_unorm", "r16g16b16a16_sfloat")
PROFILES = ("host", "mali-g57", "mali-g610", "immortalis-g925", "adreno-a740")


@dataclasses.dataclass
class Draw:
    scissor: tuple[int, int, int, int]
    tint: tuple[float, float, float, float]
    z: float
    tests: bool


@dataclasses.dataclass
class Target:
    """``clear_after``: rp.clear before the pass's draws."""

    image: str
    load: str
    store: str
    resolve: str | None = None
    clear_after: bool = False


@dataclasses.dataclass
class Step:
    """A pass, or a command (``kind``) from one image to another."""

    kind: str
    targets: dict[str, Target] = dataclasses.field(default_factory=dict)
    draws: list[Draw | str | tuple[int, ...]] = dataclasses.field(default_factory=list)  # "clear depth", and where colour is cleared
    area: tuple[int, int, int, int] | None = None
    images: tuple[str, ...] = ()
    samples_from: tuple[str, ...] = ()  # images that its draws read, each at its own pixel
    samples: int = 0  # of the pass, whose images have one


@dataclasses.dataclass
class Plan:
    size: tuple[int, int]
    images: dict[str, dict[str, Any]]
    steps: list[Step]
    outputs: list[str]
    trace: bool = False  # of fragments, so that the model knows what each pass costs

    def run(self, device: tg.Device) -> tuple[tg.Frame, dict[str, tg.Image]]:
        made = {name: device.image(self.size, label=name, **how) for name, how in self.images.items()}
        for image in made.values():  # defined, whatever is loaded
            if image.format_info.is_depth_stencil:
                device.clear(image, depth=1.0)
            else:
                device.clear(image, (0.25, 0.5, 0.25, 1))
        with device.frame("plan", outputs=[made[name] for name in self.outputs]) as frame:
            for step in self.steps:
                self._step(device, step, made)
        return frame, made

    def _step(self, device: tg.Device, step: Step, made: dict[str, tg.Image]) -> None:
        if step.kind == "clear":
            device.clear(made[step.images[0]], (0, 0, 0, 1))
        elif step.kind != "pass":
            getattr(device, step.kind)(made[step.images[0]], made[step.images[1]])
        else:
            given = {name: self._attachment(name, target, made) for name, target in step.targets.items()}
            colors = [given[name] for name in sorted(given) if name != "depth"]
            with device.render_pass(color=colors, depth=given.get("depth"), area=step.area, samples=step.samples,
                                    trace="fragments" if self.trace else False) as rp:  # fmt: skip
                if step.targets["color0"].clear_after:
                    rp.clear((0, 0, 0, 1))
                for draw in step.draws:
                    self._draw(device, rp, step, draw, made)

    @staticmethod
    def _attachment(name: str, target: Target, made: dict[str, tg.Image]) -> tg.Attachment:
        clear: Any = (1.0 if name == "depth" else (0, 0, 0, 1)) if target.load == "clear" else None
        return tg.Attachment(made[target.image], clear=clear, load_op=None if clear is not None else target.load, store_op=target.store,
                             resolve=None if target.resolve is None else made[target.resolve])  # fmt: skip

    def _draw(self, device: tg.Device, rp: tg.RenderPass, step: Step, draw: Any, made: dict[str, tg.Image]) -> None:
        if isinstance(draw, tuple):
            rp.clear((0, 0, 0, 1), rect=draw)
            return
        if isinstance(draw, str):
            rp.clear(depth=1.0)
            return
        names = sorted(name for name in step.targets if name != "depth")
        colors = [made[step.targets[name].image] for name in names]
        body = "".join(f"layout(location={i}) out vec4 o{i};\n" for i in range(len(colors))) + "".join(
            f"layout(binding={i}) uniform sampler2D s{i};\n" for i in range(len(step.samples_from)))  # fmt: skip
        read = "".join(f" + texelFetch(s{i}, ivec2(gl_FragCoord.xy), 0) * 0.25" for i in range(len(step.samples_from)))
        body += TINT + "void main() {" + "".join(f"o{i} = tint{read};" for i in range(len(colors))) + "}"
        depth: dict[str, Any] = {}
        if "depth" in step.targets:
            depth = {"depth": made[step.targets["depth"].image].format, "depth_compare": "less" if draw.tests else "always",
                     "depth_write": draw.tests}  # fmt: skip
        samples = step.samples or (colors or [made[step.targets["depth"].image]])[0].samples
        body, formats = "#version 450\n" + body, [c.format for c in colors]
        pipeline = device.pipeline(COVER, body, color=formats, blend="alpha", samples=samples, **depth)
        bind = {f"s{i}": (made[name], device.sampler()) for i, name in enumerate(step.samples_from)}
        rp.draw(pipeline, count=3, push={"tint": draw.tint, "z": draw.z}, scissor=draw.scissor, bind=bind or None)


def ledger_B(frame: tg.Frame) -> int:
    """All that moved; what transaction elimination saved as well, which saves nothing when the picture moves."""
    return sum(n.stats.moved_B if isinstance(n.stats, CommandStats) else sum_B(n.stats.traffic) for n in frame.nodes if n.stats is not None)


def done(plan: Plan, finding: Finding) -> Plan:
    """The plan with what the finding says."""
    new = copy.deepcopy(plan)
    gone = {cut.node for cut in finding.cuts if not cut.attachment}
    change = finding.change
    if isinstance(change, Without):
        target = new.steps[change.node].targets[change.attachment]
        target.store = "dont_care"
    elif isinstance(change, WithoutResolve):
        target = new.steps[change.node].targets[change.attachment]
        target.resolve, target.store = None, "dont_care" if change.of_store else target.store
    elif isinstance(change, ClearInPass):
        for name, _ in change.attached:
            target = new.steps[change.node].targets[name]
            target.load = "clear"
    elif isinstance(change, ResolveInPass):
        for name, _ in change.attached:
            target = new.steps[change.node].targets[name]
            (target.resolve,) = (plan.steps[n].images[1] for n in gone)
            target.store = target.store if change.samples_too else "dont_care"
    elif isinstance(change, Join):
        first, second = new.steps[change.first], new.steps[change.second]
        join(first, second, change, plan.size)
        gone |= {change.second}
    assert change is not None or gone
    new.steps = [step for number, step in enumerate(new.steps) if number not in gone]
    return new


def join(first: Step, second: Step, change: Join, size: tuple[int, int]) -> None:
    by_image = {target.image: (name, target) for name, target in first.targets.items()}
    dropped = {first.targets[name].image for name, one in change.of_first if one.key in change.dropped}
    for image in dropped:
        by_image[image][1].store = "dont_care"
    area = second.area or (0, 0, *size)
    for name, target in second.targets.items():
        if target.image in by_image:
            mine = by_image[target.image][1]
            mine.store, mine.resolve = target.store, target.resolve
            if target.load == "clear":
                first.draws.append("clear depth")
            if target.clear_after:
                first.draws.append(area)
        else:
            first.targets[name if name not in first.targets else f"color{len(first.targets)}"] = target
    for draw in second.draws:
        assert isinstance(draw, Draw)
        x, y = max(draw.scissor[0], area[0]), max(draw.scissor[1], area[1])
        right, bottom = (min(draw.scissor[k] + draw.scissor[k + 2], area[k] + area[k + 2]) for k in (0, 1))
        draw.scissor = (x, y, max(0, right - x), max(0, bottom - y))
        first.draws.append(draw)


def _rect(rng: np.random.Generator, size: tuple[int, int]) -> tuple[int, int, int, int]:
    if rng.random() < 0.3:
        return (0, 0, *size)
    x, y = (int(rng.integers(0, side)) for side in size)
    return x, y, int(rng.integers(1, size[0] - x + 1)), int(rng.integers(1, size[1] - y + 1))


def random_plan(seed: int) -> Plan:
    rng = np.random.default_rng(seed)
    size = (int(rng.integers(20, 150)), int(rng.integers(20, 150)))
    samples = int(rng.choice([1, 1, 4]))
    tiling = str(rng.choice(["linear", "linear", "block_compressed"])) if samples == 1 else "linear"
    how = {"format": str(rng.choice(FORMATS)), "samples": samples, "tiling": tiling}
    images: dict[str, dict[str, Any]] = {"out": how, "z": {"format": "d32_sfloat", "samples": samples},
                                         "z2": {"format": "d32_sfloat", "samples": samples}, "flat": {**how, "samples": 1}}  # fmt: skip
    steps = [Step("clear", images=("out",))] if rng.random() < 0.5 else []
    for number in range(int(rng.integers(1, 4))):
        load = str(rng.choice(["load", "clear", "load"] if number else ["load", "clear", "clear"]))
        again = load == "load" and rng.random() < 0.15
        target = Target("out", load, "store", clear_after=again)
        depth = rng.random()
        mostly_one = rng.random() < 0.7
        step = Step("pass", {"color0": target}, area=_rect(rng, size) if rng.random() < 0.4 and tiling == "linear" else None)
        if depth < 0.6:
            image = "z" if rng.random() < 0.8 else "z2"
            op = "clear" if mostly_one else str(rng.choice(["load", "clear", "dont_care"]))
            store = "none" if op == "dont_care" else str(rng.choice(["store", "dont_care"]))
            step.targets["depth"] = Target(image, op, store)
        if samples > 1 and rng.random() < 0.3:
            target.resolve = "flat"
        for _ in range(int(rng.integers(0, 3))):
            tint = tuple(float(v) for v in rng.random(4))
            step.draws.append(Draw(_rect(rng, size), tint, float(rng.random()), "depth" in step.targets and op != "dont_care"))  # type: ignore[arg-type]
        steps.append(step)
    if samples == 1 and tiling == "linear":
        for step in steps:
            step.samples = 4 if step.kind == "pass" and seed % 3 == 0 else 0
    outputs = ["out"]
    if samples > 1 and rng.random() < 0.7:
        steps.append(Step("resolve", images=("out", "flat")))
        outputs = ["flat"] if rng.random() < 0.7 else ["flat", "out"]
    elif samples == 1 and rng.random() < 0.2:
        steps.append(Step("copy", images=("out", "flat")))
    return Plan(size, images, steps, outputs)


def g_buffer_plan(seed: int) -> Plan:
    """One pass fills images that the next one alone reads, each at its own pixel."""
    rng = np.random.default_rng(seed)
    size = (int(rng.integers(20, 150)), int(rng.integers(20, 150)))
    how = {"format": str(rng.choice(FORMATS))}
    whole = (0, 0, *size)
    draw = Draw(whole if rng.random() < 0.5 else _rect(rng, size), (0.5, 0.25, 0.125, 1), 0.5, False)
    fill = Step("pass", {"color0": Target("a", "clear", "store"), "color1": Target("b", "clear", "store")}, draws=[draw])
    if rng.random() < 0.5:
        fill.targets["depth"] = Target("z", "clear", str(rng.choice(["store", "dont_care"])))
    light = Draw(whole if rng.random() < 0.5 else _rect(rng, size), (0.5, 0.25, 0.125, 1), 0.25, False)
    shade = Step("pass", {"color0": Target("out", str(rng.choice(["clear", "load"])), "store")}, draws=[light], samples_from=("a", "b"))
    images: dict[str, dict[str, Any]] = dict.fromkeys(("a", "b", "out"), how) | {"z": {"format": "d32_sfloat"}}
    return Plan(size, images, [fill, shade], ["out"])


def kind_of(finding: Finding) -> str:
    change = finding.change
    if isinstance(change, Without):
        return change.causes[0]
    return "command" if change is None else type(change).__name__ + (" with a clear" if "between them" in finding else "") + (
        " of a g-buffer" if isinstance(change, Join) and change.dropped else "")  # fmt: skip


def check(plan: Plan, profile: str) -> list[str]:
    """Does all that lint says of a plan, one at a time; what it said."""
    device = tg.Device(profile, threads=1)
    frame, made = plan.run(device)
    kinds = []
    for finding in frame.lint():
        if not finding.saves_B:
            continue
        kind = kind_of(finding)
        better, images = done(plan, finding).run(device)
        assert ledger_B(frame) - ledger_B(better) == finding.saves_B, f"{profile}: {finding}"
        same = "what reads them" not in finding and "g-buffer" not in kind  # whose shader the plan has not
        for name in plan.outputs if same else ():
            assert np.array_equal(made[name].numpy(), images[name].numpy()), f"{profile}: another picture: {finding}"
        kinds.append(kind)
    return kinds


@pytest.mark.filterwarnings("ignore::tilegpu.UndefinedContentsWarning", "ignore::tilegpu.UnusedNameWarning")
def test_what_lint_says_done_literally() -> None:
    """Every kind of finding that names bytes."""
    seen: dict[str, int] = {}
    for seed in range(100):
        for kind in check(random_plan(seed) if seed % 5 else g_buffer_plan(seed), PROFILES[seed % 7 % len(PROFILES)]):
            seen[kind] = seen.get(kind, 0) + 1
    kinds = {"store", "load", "command", "WithoutResolve", "ClearInPass", "ResolveInPass"}
    assert seen.keys() == kinds | {"Join", "Join with a clear", "Join of a g-buffer"}, seen


def _scene_and_weapon(second_depth: str) -> Plan:
    size = (64, 64)
    images = {"out": {"format": FORMATS[0]}, "z": {"format": "d32_sfloat"}, "z2": {"format": "d32_sfloat"}}
    near, far = Draw((0, 0, 64, 64), (1, 0, 0, 1), 0.25, True), Draw((0, 0, 64, 64), (0, 1, 0, 1), 0.5, True)
    world = Step("pass", {"color0": Target("out", "clear", "store"), "depth": Target("z", "clear", "dont_care")}, [near])
    weapon = Step("pass", {"color0": Target("out", "load", "store"), "depth": Target(second_depth, "clear", "dont_care")}, [far])
    return Plan(size, images, [world, weapon], ["out"])


def test_a_join_that_changes_the_picture_is_not_advised() -> None:
    """A weapon before the world with a depth of its own: the draws of both in one pass would hide it, unless depth is cleared between."""
    dev = tg.Device("mali-g725", threads=1)
    (line,) = _scene_and_weapon("z").run(dev)[0].lint()
    assert "one pass with the draws of both, with rp.clear(depth=...) between them, saves 32,768 B" in line
    assert check(_scene_and_weapon("z"), "mali-g725") == ["Join with a clear"]
    assert _scene_and_weapon("z2").run(dev)[0].lint() == []


@pytest.mark.parametrize("profile", PROFILES)
def test_what_a_corner_saves(profile: str) -> None:
    """What is drawn over a corner is loaded and stored there alone, and so much the joined pass saves; of an area too."""
    scene = Step("pass", {"color0": Target("out", "clear", "store")}, [Draw((0, 0, 256, 256), (1, 0, 0, 1), 0.5, False)])
    corner = Step("pass", {"color0": Target("out", "load", "store")}, [Draw((0, 0, 64, 64), (0, 1, 0, 1), 0.5, False)])
    plan = Plan((256, 256), {"out": {"format": FORMATS[0]}}, [scene, corner], ["out"])
    dev = tg.Device(profile, threads=1)
    frame, _ = plan.run(dev)
    (line,) = frame.lint()
    second = frame.nodes[1].stats
    assert line.saves_B == second.bytes("load") + second.bytes("store") == (2 * 262144 if profile == "adreno-a740" else 32768)
    (change,) = [one for one in frame.what_if(["mali-g610"]).changes if one["text"].startswith("pass 1")]
    assert change["saves"]["mali-g610"]["read_B"] + change["saves"]["mali-g610"]["write_B"] == 32768
    corner.area, corner.draws = (0, 0, 128, 128), scene.draws
    frame, _ = plan.run(dev)
    (line,) = frame.lint()
    second = frame.nodes[1].stats  # the same picture again: where transaction elimination works, nothing of it was written
    assert line.saves_B == second.bytes("load") + second.bytes("store") and "with its area as scissor" in line
    assert line.saves_B == (65536 if profile.startswith(("mali", "immortalis")) else 131072)


def test_bytes_are_written_one_way() -> None:
    dev = tg.Device("mali-g725", threads=1)
    image, depth = dev.image((200, 100), FORMATS[0]), dev.image((200, 100), "d32_sfloat")
    dev.clear(image, (0, 0, 0, 1))
    with dev.render_pass(color=image, depth=tg.Attachment(depth, clear=1.0)) as rp:
        rp.clear((1, 0, 0, 1))
    assert rp.lint() == ["color0: is loaded and then cleared; load_op clear saves 80,000 B",
                         "depth: is stored; if nothing reads it after the pass, store_op dont_care saves 80,000 B"]  # fmt: skip
    packed = dev.image((64, 64), FORMATS[0], tiling="block_compressed")
    dev.clear(packed, (0, 0, 0, 1))
    with dev.render_pass(color=tg.Attachment(packed, clear=(1, 0, 0, 1)), area=(3, 5, 20, 20)) as rp:
        pass
    (line,) = rp.lint()
    assert "not aligned to 16x16 px: blocks at its border are read and written whole" in line and "saves" not in line


@pytest.mark.parametrize("size", [(64, 64), (512, 512)])
@pytest.mark.parametrize("read", [False, True])
def test_samples_that_are_stored_and_resolved(size: tuple[int, int], read: bool) -> None:
    dev = tg.Device(threads=1)
    samples, out = dev.image(size, "r8g8b8a8_unorm", samples=4, label="ms"), dev.image(size, "r8g8b8a8_unorm", label="o")
    cleared = tg.Attachment(samples, clear=(0, 0, 0, 1), resolve=out)
    with dev.frame("f", outputs=[out, samples] if read else out) as frame, dev.render_pass(color=cleared, label="m"):
        pass
    stored = size[0] * size[1] * 4 * 4
    found = frame.lint()
    assert [one.saves_B for one in found] == [stored]
    said = "all samples are stored although the pass resolves them" if read else "is stored, and nobody has read it yet"
    assert said in found[0] and "65,536" in found[0] if stored == 65536 else said in found[0]


# -- without tiles: by the cost model, as no ledger has bytes there

WITHOUT_TILES: list[tuple[str, dict[str, Any]]] = [("desktop-immediate", {}), ("adreno-a650", {"render_mode": "sysmem"})]


def modelled_B(frame: tg.Frame) -> float:
    """Of all that it executes, as the model has it."""
    costs = [node.render_pass.costs() for node in frame.nodes if node.render_pass is not None]
    commands = sum(node.stats.moved_B for node in frame.nodes if isinstance(node.stats, CommandStats))
    return commands + sum(one.total("read_B") + one.total("write_B") for one in costs)


@pytest.mark.filterwarnings("ignore::tilegpu.UndefinedContentsWarning", "ignore::tilegpu.UnusedNameWarning")
@pytest.mark.parametrize(("profile", "how"), WITHOUT_TILES)
def test_what_lint_says_without_tiles_done_literally(profile: str, how: dict[str, Any]) -> None:
    """What saves nothing there is not said; what saves another amount says that amount."""
    device = tg.Device(profile, threads=1, **how)
    seen: set[tuple[str, bool]] = set()
    for seed in range(70):
        plan = random_plan(seed) if seed % 5 else g_buffer_plan(seed)
        plan.trace = True
        frame, _ = plan.run(device)
        assert [str(one) for one in frame.lint()] == [str(one) for one in frame._findings() if one.is_said]
        for finding in (one for one in frame._findings() if one.cuts):
            better, _ = done(plan, finding).run(device)
            saved = modelled_B(frame) - modelled_B(better)
            if finding.is_said:
                assert finding.saves_B == pytest.approx(saved, abs=4), finding
                assert bytes_text(finding.saves_B) in finding or kind_of(finding) == "command", finding
            elif not isinstance(finding.change, Join):  # of which a cache that is cold at each pass's begin would be all
                assert saved < 1, finding
            seen.add((kind_of(finding), finding.is_said))
    assert {kind for kind, said in seen if said} == {"command", "WithoutResolve", "ClearInPass"}
    assert {kind for kind, said in seen if not said} >= {"store", "ResolveInPass", "Join", "Join of a g-buffer"}


@pytest.mark.filterwarnings("ignore::tilegpu.UndefinedContentsWarning", "ignore::tilegpu.UnusedNameWarning")
@pytest.mark.parametrize("drawn_on", ["mali-g57", "desktop-immediate"])
def test_what_a_gpu_without_tiles_is_asked_done_literally(drawn_on: str) -> None:
    """Whoever drew the frame: and one that was drawn there is judged for GPUs with tiles too."""
    device, profile = tg.Device(drawn_on, threads=1), "desktop-immediate"

    def bytes_of(frame: tg.Frame) -> tuple[float, dict[str, Any]]:
        found = frame.what_if([profile])
        return found.profiles[0]["read_B"] + found.profiles[0]["write_B"], {one["text"]: one["saves"] for one in found.changes}

    seen: set[tuple[str, bool]] = set()
    for seed in range(40):
        plan = random_plan(seed) if seed % 5 else g_buffer_plan(seed)
        frame, _ = plan.run(device)
        findings = [one for one in frame._findings() if one.cuts]
        before_B, changes = bytes_of(frame) if findings else (0.0, {})
        for finding in findings:
            saves = changes.get(finding.advice, {}).get(profile)
            seen.add((kind_of(finding), saves is not None))
            saved = before_B - bytes_of(done(plan, finding).run(device)[0])[0]
            if saves is not None:
                assert saves["read_B"] + saves["write_B"] == pytest.approx(saved, abs=1), finding
            elif not isinstance(finding.change, Join) and kind_of(finding) != "load":  # which is for splits, and none is split there
                assert saved < 0.002 * before_B, finding  # less than what is worth a line
    assert {kind for kind, told in seen if told} == {"command", "WithoutResolve", "ClearInPass"}
    assert {kind for kind, told in seen if not told} >= {"store", "ResolveInPass"}


@pytest.mark.parametrize(("profile", "format", "count"), [("desktop-immediate", FORMATS[0], 1), ("adreno-a650", "r32g32b32a32_sfloat", 8)])
def test_a_resolve_and_a_clear_in_memory(profile: str, format: str, count: int) -> None:
    """The pass moves what the command does; of attachments that no GMEM holds as well. On a GPU with tiles both save what they save."""
    dev, size = tg.Device(profile, threads=1), (64, 64)
    many = [dev.image(size, format, samples=8, label=f"many{k}") for k in range(count)]
    out, z = dev.image(size, format, label="out"), dev.image(size, "d32_sfloat", samples=8, label="z")
    body = "#version 450\n" + "".join(f"layout(location={k}) out vec4 o{k};\n" for k in range(count))
    body += "void main() {" + "".join(f"o{k} = vec4(1);" for k in range(count)) + "}"
    cover = "#version 450\nvoid main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, 0.5, 1); }"
    pipeline = dev.pipeline(cover, body, color=[format] * count, depth="d32_sfloat", depth_compare="less", samples=8)

    def draw(clears: bool, resolves: bool) -> tg.Frame:
        with dev.frame("f", outputs=out) as frame:
            if not clears:
                dev.clear(z, depth=1.0)
            colors = [tg.Attachment(one, clear=(0, 0, 0, 1)) for one in many]
            if resolves:
                colors[0] = tg.Attachment(many[0], clear=(0, 0, 0, 1), store_op="dont_care", resolve=out)
            depth = tg.Attachment(z, clear=1.0 if clears else None, store_op="dont_care")
            with dev.render_pass(color=colors, depth=depth) as rp:
                rp.draw(pipeline, count=3)
            if not resolves:
                dev.resolve(many[0], out)
        return frame

    frame = draw(False, False)
    told = {one.nodes: one.saves_B for one in frame.lint() if "by a command" in one}
    before_B = modelled_B(frame)
    clear_B = round(before_B - modelled_B(draw(True, False)))
    # Cleared depth has low-resolution Z of its own to clear, a few bytes that no advice counts.
    assert told == {(0, 1): pytest.approx(clear_B, abs=4)} and clear_B > 0
    assert modelled_B(draw(False, True)) >= before_B
    texts = {one["text"]: one["saves"] for one in frame.what_if([profile, "immortalis-g925"]).changes if "by a command" in one["text"]}
    on = {text.partition(" by a command")[0][-8:]: {name: s["read_B"] + s["write_B"] for name, s in saves.items()}
          for text, saves in texts.items()}  # fmt: skip
    assert len(on) == 2
    (filled,) = (saves for saves in on.values() if profile in saves)
    assert filled[profile] == pytest.approx(clear_B, abs=4) and all(saves["immortalis-g925"] > 0 for saves in on.values())
