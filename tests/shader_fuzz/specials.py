"""What stages and capabilities have of their own: barriers, subgroups, atomics, derivatives, helper invocations, pointers as values.

Whatever is undefined where invocations are not together (barriers, derivatives, shuffles) stands where all of them come by.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.shader_fuzz.flow import Flows
from tests.shader_fuzz.palette import like
from tests.shader_fuzz.values import Block, Flow

#: Slots behind those of the invocations in the buffer of atomics: an operation each, which no order changes.
SHARED_ATOMICS = ("IAdd", "Or", "And", "Xor", "UMax", "UMin", "SMax", "SMin")
SUBGROUP_SCOPE, WORKGROUP_SCOPE, DEVICE_SCOPE = 3, 2, 1


class Specials(Flows):
    """Statements for :meth:`Flows.special`."""

    local_size: int
    variable_pointers: bool
    quad_control = False

    @property
    def count(self) -> int:
        """Invocations."""
        raise NotImplementedError

    def scope(self, number: int) -> str:
        """A scope, and memory semantics, as a constant."""
        return self.d.constant("u32", number)

    def special(self, depth: int) -> None:
        """Any."""
        body = self.function.name == "body"
        top = depth == 0 and not self.left and body
        ways: list[Callable[[], None]] = [
            self.write,
            self.copy_memory,
            self.undefined,
            self.expect,
            self.length,
            self.in_two_parts,
        ]
        if body:
            ways += [self.atomic] * 3
        if body and self.stage in ("compute", "fragment"):
            ways += [self.vote, self.ballot] * 2 + [self.reduce] * 4
            if self.quad_control:
                ways += [self.quad_vote] * 3
        if top and self.stage == "compute":
            ways += (
                [self.exchange] * 4
                + [self.exchange_in_loop] * 2
                + ([self.shuffle] * 3 if self.local_size % 4 == 0 else [])
            )
        if top and (self.stage == "fragment" or (self.stage == "compute" and self.local_size % 4 == 0)):
            ways += [self.derivative] * (7 if self.stage == "fragment" else 2)
        if self.stage == "fragment" and self.function.kills:
            ways += [self.demote] * 2
        if self.stage == "geometry" and body:
            ways += [lambda: self.line(self.rng.choice(["OpEmitVertex", "OpEndPrimitive"]))] * 2
        if self.modern:
            ways += [self.copy_logical]
        if self.variable_pointers:
            ways += [self.pointers] * 3
        self.rng.choice(ways)()

    def barrier(self) -> None:
        """Of the workgroup, with its memory."""
        scope = self.scope(WORKGROUP_SCOPE)
        self.line(f"OpControlBarrier {scope} {scope} {self.scope(0x108)}")

    def exchange(self) -> None:
        """Through shared memory."""
        value = self.value("u32")
        pointer = self.d.pointer("Workgroup", "u32")
        mine, theirs = "%" + self.new("q"), "%" + self.new("q")
        self.line(f"{mine} = OpAccessChain {pointer} %shared %local")
        self.line(f"OpStore {mine} {value}")
        self.barrier()
        turned = self.emit("OpIAdd", "u32", "%local", self.d.constant("u32", self.rng.randrange(1, 5)), keep=False)
        at = self.emit("OpUMod", "u32", turned, self.d.constant("u32", self.local_size), keep=False)
        self.line(f"{theirs} = OpAccessChain {pointer} %shared {at}")
        self.mix("u32", self.emit("OpLoad", "u32", theirs))
        self.barrier()

    def exchange_in_loop(self) -> None:
        """As often as all invocations agree on."""
        header, body, latch, merge = (self.new("L") for _ in range(4))
        before = self.branch(header)
        block, counter, step = Block(header), "%" + self.new("i"), "%" + self.new("i")
        self.function.blocks.append(block)
        self.at = Flow(block, dict(before.env), dict(before.values), before.places)
        zero, one = (self.d.constant("u32", k) for k in (0, 1))
        bound = self.emit("OpBitwiseAnd", "u32", self.rng.choice(self.uniforms), self.d.constant("u32", 3), keep=False)
        test = self.emit("OpULessThan", "bool", counter, bound, keep=False)
        block.merge = f"OpLoopMerge %{merge} %{latch} None"
        source = self.at.copy()
        block.end = f"OpBranchConditional {test} %{body} %{merge}"
        self.open(body, [source])
        for _ in range(self.rng.randint(1, 2)):
            self.exchange()
            self.write()
        if self.rng.random() < 0.3 and self.local_size % 4 == 0:
            self.shuffle()
        self.open(latch, [self.branch(latch)])
        self.line(f"{step} = OpIAdd {self.d.type('u32')} {counter} {one}")
        latch_label = self.at.block.label if self.at else latch
        self.branch(header)
        block.phis.append(f"{counter} = OpPhi {self.d.type('u32')} {zero} %{before.block.label} {step} %{latch_label}")
        self.finish(merge, [source])

    def derivative(self) -> None:
        """Of a float of 32 bits, or of a vector of such."""
        if "f32" not in self.scalars:
            return self.write()
        op = self.rng.choice(["OpDPdx", "OpDPdy", "OpFwidth"]) + self.rng.choice(["", "Fine", "Coarse"])
        if op[-1] == "e":
            self.d.need("DerivativeControl")
        if self.stage == "compute":
            self.d.need("ComputeDerivativeGroupLinearNV", "SPV_NV_compute_shader_derivatives")
        type_ = self.rng.choice(["f32", f"f32v{self.rng.randint(2, 4)}"])
        self.mix(type_, self.emit(op, type_, self.value(type_)))
        return None

    def scoped(self, op: str, type_: str, *operands: str) -> str:
        """OpGroupNonUniform*; what it gives is seen."""
        found = self.emit(f"OpGroupNonUniform{op}", type_, self.scope(SUBGROUP_SCOPE), *operands)
        self.mix(type_, found)
        return found

    def vote(self) -> None:
        """Of those that are here."""
        if self.rng.random() < 0.3 and not self.modern:
            self.d.need("SubgroupVoteKHR", "SPV_KHR_subgroup_vote")
            self.emit(
                self.rng.choice(["OpSubgroupAllKHR", "OpSubgroupAnyKHR", "OpSubgroupAllEqualKHR"]),
                "bool",
                self.value("bool"),
            )
            return
        self.d.need("GroupNonUniform")
        op = self.rng.choice(["Elect", "All", "Any", "AllEqual"])
        if op != "Elect":
            self.d.need("GroupNonUniformVote")
        type_ = self.rng.choice(self.scalars) if op == "AllEqual" else "bool"
        operands = [] if op == "Elect" else [self.value(type_) if self.rng.random() < 0.5 else self.one_differs(type_)]
        self.scoped(op, "bool", *operands)

    def quad_vote(self) -> None:
        """Of those of the quad that are here, helper invocations too."""
        self.d.need("QuadControlKHR", "SPV_KHR_quad_control")
        op = self.rng.choice(["OpGroupNonUniformQuadAllKHR", "OpGroupNonUniformQuadAnyKHR"])
        self.mix("bool", self.emit(op, "bool", self.value("bool") if self.rng.random() < 0.5 else self.one_differs("bool")))

    def one_differs(self, type_: str) -> str:
        """A value that one place of four has, the others have another."""
        d = self.d
        place = self.emit("OpBitwiseAnd", "u32", self.invocation, d.constant("u32", 3), keep=False)
        here = self.emit("OpIEqual", "bool", place, d.constant("u32", self.rng.randrange(4)), keep=False)
        return self.emit("OpSelect", type_, here, self.constant(type_), self.constant(type_), keep=False)

    def ballot(self) -> None:
        """And what is made of one."""
        rng = self.rng
        self.d.need("GroupNonUniformBallot")
        bits_ = self.scoped("Ballot", "u32v4", self.value("bool"))
        k = rng.randrange(5)
        if k == 0:
            self.scoped("BallotBitCount", "u32", rng.choice(["Reduce", "InclusiveScan", "ExclusiveScan"]), bits_)
        elif k == 1:
            self.scoped("InverseBallot", "bool", bits_)
        elif k == 2:
            self.scoped(rng.choice(["BallotFindLSB", "BallotFindMSB"]), "u32", bits_)
        elif k == 3:
            self.scoped("BallotBitExtract", "bool", rng.choice([bits_, self.value("u32v4")]), self.value("u32"))
        type_ = rng.choice(self.scalars)
        self.scoped("BroadcastFirst", type_, self.value(type_))

    def shuffle(self) -> None:
        """Where all four are."""
        rng, d = self.rng, self.d
        type_ = rng.choice(self.scalars)
        op = rng.choice(
            ["Shuffle", "ShuffleXor", "ShuffleUp", "ShuffleDown", "QuadBroadcast", "QuadSwap", "RotateKHR", "Broadcast"]
        )
        if op in ("Shuffle", "ShuffleXor"):
            d.need("GroupNonUniformShuffle")
        elif op in ("ShuffleUp", "ShuffleDown"):
            d.need("GroupNonUniformShuffleRelative")
        elif op == "RotateKHR":
            d.need("GroupNonUniformRotateKHR", "SPV_KHR_subgroup_rotate")
        else:
            d.need("GroupNonUniformQuad" if op[0] == "Q" else "GroupNonUniformBallot")
        fixed = op in ("QuadBroadcast", "QuadSwap", "Broadcast")
        by = d.constant("u32", rng.randrange(3 if op == "QuadSwap" else 4))
        if not fixed:
            by = self.emit("OpBitwiseAnd", "u32", self.value("u32"), d.constant("u32", 3))
        if op in ("ShuffleUp", "ShuffleDown", "RotateKHR"):
            # What comes from beyond the subgroup is open: places wrap in tilegpu. Rotation goes by the same number everywhere.
            by = d.constant("u32", rng.randrange(4))
        cluster = [d.constant("u32", rng.choice([1, 2, 4]))] if op == "RotateKHR" and rng.random() < 0.5 else []
        self.scoped(op, type_, self.value(type_), by, *cluster)

    def reduce(self) -> None:
        """Sums and their kind, of those that are here."""
        rng = self.rng
        type_ = rng.choice(self.scalars)
        if rng.random() < 0.3:
            type_ = f"{type_}v{rng.randint(2, 4)}"
        ops = {"b": ["LogicalAnd", "LogicalOr", "LogicalXor"], "f": ["FAdd", "FMul", "FMin", "FMax"]}
        mark = type_[0].replace("i", "s").upper()
        some = ops.get(type_[0], ["IAdd", "IMul", "BitwiseAnd", "BitwiseOr", "BitwiseXor", f"{mark}Min", f"{mark}Max"])
        how = rng.choice(["Reduce", "InclusiveScan", "ExclusiveScan", "ClusteredReduce"])
        self.d.need("GroupNonUniformClustered" if how[0] == "C" else "GroupNonUniformArithmetic")
        cluster = [self.d.constant("u32", rng.choice([1, 2, 4]))] if how[0] == "C" else []
        self.scoped(rng.choice(some), type_, how, self.value(type_), *cluster)

    def atomic(self) -> None:
        """On a word of its own, or, without a look at the result, on one that all share."""
        rng, d = self.rng, self.d
        own = rng.random() < 0.6
        slot = rng.randrange(len(SHARED_ATOMICS))
        index = self.invocation if own else d.constant("u32", self.count + slot)
        op = (
            rng.choice([*SHARED_ATOMICS, "ISub", "Exchange", "IIncrement", "IDecrement", "CompareExchange", "Load"])
            if own
            else SHARED_ATOMICS[slot]
        )
        pointer = "%" + self.new("q")
        self.line(
            f"{pointer} = OpAccessChain {d.pointer('StorageBuffer', 'u32')} %atomic {d.constant('u32', 0)} {index}"
        )
        scope, none = d.constant("u32", 1), d.constant("u32", 0)
        operands = [] if op in ("IIncrement", "IDecrement", "Load") else [self.value("u32")]
        if op == "CompareExchange":
            operands = [none, self.value("u32"), self.value("u32")]
        self.emit(f"OpAtomic{op}", "u32", pointer, scope, none, *operands, keep=own)

    # -- helper invocations, memory, pointers

    def demote(self) -> None:
        """From here on nobody's, or asked whether it is."""
        self.d.need("DemoteToHelperInvocation", "SPV_EXT_demote_to_helper_invocation")
        self.left = True
        if self.rng.random() < 0.3:
            self.line("OpDemoteToHelperInvocation")
        else:
            self.emit("OpIsHelperInvocationEXT", "bool")

    def copy_memory(self) -> None:
        """From one place to another."""
        type_ = self.rng.choice([p.type for p in self.roots if p.storage in ("Function", "Private")] or ["u32"])
        if self.rng.random() < 0.5:
            type_ = self.some_way(type_)[1]
        to, of = self.place(type_, 1, writable=True), self.place(type_, 1)
        if to and of:
            self.line(f"OpCopyMemory {to} {of}")

    def copy_logical(self) -> None:
        """A structure with a layout as one without."""
        self.d.structs.setdefault("SNP", self.d.structs["SN"])
        place = self.place("SN", 1)
        if place:
            self.emit("OpCopyLogical", "SNP", self.emit("OpLoad", "SN", place))

    def undefined(self) -> None:
        """OpUndef is zero."""
        self.emit("OpUndef", self.any_type())

    def any_type(self) -> str:
        """For a variable; see program.py."""
        raise NotImplementedError

    def expect(self) -> None:
        """What an optimiser may hope for."""
        self.d.need("ExpectAssumeKHR", "SPV_KHR_expect_assume")
        type_ = self.rng.choice(["bool", "u32"])
        if self.rng.random() < 0.5:
            self.emit("OpExpectKHR", type_, self.value(type_), self.constant(type_))
        else:
            self.line(f"OpAssumeTrueKHR {self.d.constant('bool', True)}")

    def length(self) -> None:
        """Of a run-time array."""
        self.emit("OpArrayLength", "u32", self.rng.choice(["%in", "%tin", "%atomic"]), "0")

    def in_two_parts(self) -> None:
        """Modf and Frexp with a pointer."""
        scalar = self.scalar_of(("f16", "f32", "f64"))
        if scalar is None:
            return self.assign()
        type_ = self.rng.choice([scalar, f"{scalar}v{self.rng.randint(2, 4)}"])
        op = self.rng.choice(["Modf", "Frexp"])
        place = self.place(type_ if op == "Modf" else like(type_, "i32"), 1, writable=True)
        if place:
            self.ext(op, type_, self.value(type_), place)
        return None

    def pointers(self) -> None:
        """Elements further on, comparisons, distances."""
        d, pointer = self.d, self.d.pointer("StorageBuffer", "u32")
        if "ptr_stride" not in d.known:
            d.known.add("ptr_stride")
            d.decorations.append(f"OpDecorate {pointer} ArrayStride 4")
        found = []
        for _ in range(2):
            at = self.emit("OpBitwiseAnd", "u32", self.value("u32"), d.constant("u32", 31), keep=False)
            base, element = "%" + self.new("q"), "%" + self.new("q")
            self.line(f"{base} = OpAccessChain {pointer} %in {d.constant('u32', 0)} {at}")
            step = self.emit("OpBitwiseAnd", "u32", self.value("u32"), d.constant("u32", 31), keep=False)
            self.line(f"{element} = OpPtrAccessChain {pointer} {base} {step}")
            found.append(element)
        if self.modern:
            type_, op = self.rng.choice([("bool", "OpPtrEqual"), ("bool", "OpPtrNotEqual"), ("i32", "OpPtrDiff")])
            self.emit(op, type_, *found)
        self.emit("OpLoad", "u32", self.rng.choice(found))


__all__ = ["SHARED_ATOMICS", "Specials"]
