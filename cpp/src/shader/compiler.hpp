// shader/compiler.hpp -- what the rest of the core asks of the shader compiler: analyse a stage, compile a stage, compile the
// sampler functions and the epilogue. One file each behind it: lower/, sampler/, epilogue/.
//
// In: parsed SPIR-V and keys. Out: machine code with the signatures of abi.hpp, kept by the Jit for the device's life.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "shader_abi/abi.hpp"
#include "shader_abi/code.hpp"
#include "tilegpu/pipeline.hpp"

namespace tilegpu::shader {

class Jit;  // shader/jit/jit.hpp

enum class Interpolation : uint8_t { smooth, noperspective, flat };

/// One scalar that travels from vertex to fragment shader; its index in the layout is its row in VertexArgs::varyings.
struct VaryingComponent {
  uint8_t location = 0, component = 0;
  Interpolation interpolation = Interpolation::smooth;
  bool centroid = false, sample = false;
  bool patch = false;         // of the patch: a word that all of its vertices share
  uint8_t corner = 0;         // 1 to 3: what vertex 0 to 2 of the primitive has there, all over it
  bool of_primitive() const;  // assembly writes it, no shader: each primitive has vertices of its own
  bool operator==(const VaryingComponent&) const = default;
};
/// Locations beyond all that a shader may name: built-ins that the next stage reads, or that transform feedback captures, travel like
/// varyings, with the element as component.
inline constexpr uint32_t kPositionLocation = 240, kPointSizeLocation = 241, kLayerLocation = 242, kViewportLocation = 243,
                          kPrimitiveIdLocation = 244, kOuterLevelLocation = 245, kInnerLevelLocation = 246, kBarycentricLocation = 247,
                          kLinearBarycentricLocation = 248, kShadingRateLocation = 249, kPrimitiveIndicesLocation = 250,
                          kCullPrimitiveLocation = 251, kClipDistanceLocation = 254, kCullDistanceLocation = 255;
inline bool VaryingComponent::of_primitive() const {
  return corner != 0 || location == kBarycentricLocation || location == kLinearBarycentricLocation;
}
struct VaryingLayout {
  std::vector<VaryingComponent> components;  // those that the fragment shader reads, by (location, component)
  int find(uint32_t location, uint32_t component, bool patch = false, uint32_t corner = 0) const;  // -1: not read
  bool of_primitive() const;                                                                       // any of them
  bool operator==(const VaryingLayout&) const = default;
};

static_assert(kDynamicSet == kMaxDescriptorSets);  // behind the sets

/// Elements of an array of descriptors that the shader gives no length, until it is placed.
inline constexpr uint32_t kUnbounded = ~0u;

/// Descriptors that code reads, and where: found in the module, placed by the pipeline's layout (pipeline/place.cpp).
struct DescriptorAddress {
  uint32_t offset_B = 0, stride_B = 0;  // in the set's memory: of element 0, from one to the next
  bool counted = false;                 // the set's first word says how many there are; one more, a null one, lies behind them
  bool operator==(const DescriptorAddress&) const = default;
};
/// Which elements of an array of descriptors a shader names: those of constant indices, and any where another index is among them.
/// None: only code that never runs names the variable.
struct NamedElements {
  std::vector<uint32_t> constant;  // in order
  std::vector<uint32_t> always;    // of these: by code that runs whenever the stage does
  bool any = false, any_always = false;
  bool operator==(const NamedElements&) const = default;
};
struct BufferSlot {
  uint32_t set = 0, binding = 0, count = 1;
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;  // as the shader has it
  bool writable = false;
  NamedElements named;
  uint32_t table = 0;  // the set, or kDynamicSet
  DescriptorAddress at;
  bool operator==(const BufferSlot&) const = default;
};
enum TextureUse : uint16_t {
  kUseGradient = 1,
  kUseLod = 2,
  kUseFetch = 4,
  kUseGather = 8,
  kUseImplicit = 16,
  kUseStore = 32,
  kUseAddress = 64,
  kUseQueryLod = 128,
  kUseMinLod = 256,
  kUseMany = 512,
};
/// Fewer look-ups of one descriptor in a block are not joined to one call (kUseMany).
inline constexpr uint32_t kFewestJoinedSamples = 3;
/// Those that filter texels at a level of detail.
inline constexpr uint16_t kUsesThatSample = kUseGradient | kUseLod | kUseImplicit | kUseMinLod | kUseMany;
/// Those of storage images and texel buffers alone: what they reach is written.
inline constexpr uint16_t kUsesThatWrite = kUseStore | kUseAddress;
struct TextureSlot {
  uint32_t image_set = 0, image_binding = 0;
  uint32_t sampler_set = 0, sampler_binding = 0;  // ~0u: the image alone is asked, for texels or its size
  uint32_t image_count = 1, sampler_count = 1;
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;  // of the image, as the shader has it
  NamedElements named;                                       // of the image's elements
  uint16_t uses = 0;                                         // TextureUse bits: the functions that must exist
  bool combined = false;                                     // one variable for both
  bool offsets = false;                                      // samples with texel offsets are among the uses
  bool normalized = false;           // some that samplers of unnormalised coordinates can't: implicit lod, bias, projection, comparison
  DescriptorAddress image, sampler;  // of ImageDescriptor and SamplerDescriptor; combined: image is of CombinedDescriptor
  bool is_alone() const { return sampler_set == ~0u; }
  bool is_written() const { return uses & kUsesThatWrite; }
  bool operator==(const TextureSlot&) const = default;
};
struct ResourceTable {
  std::vector<BufferSlot> buffers;
  std::vector<TextureSlot> textures;
  bool operator==(const ResourceTable&) const = default;
};

enum class DepthLayout : uint8_t { any, greater, less, unchanged };

/// A variable of type subpassInput or subpassInputMS that the stage uses, or a tile image (spirv/tile_images.hpp).
struct InputAttachment {
  uint32_t variable = 0;          // SPIR-V id
  uint32_t set = 0, binding = 0;  // of its descriptors
  uint32_t index = ~0u;           // InputAttachmentIndex, of the first element; ~0u: the variable has none
  uint32_t count = 1;             // elements of an array
  ReflectedType::Base base = {};  // f32, i32 or u32
  bool multisampled = false;
  bool tile_image = false;  // no descriptor, any samples; `index` is of spirv/tile_images.hpp
  std::string name;
  bool operator==(const InputAttachment&) const = default;
};
/// One element of it as the pipeline maps it: a plane of the tile, or what its descriptor has.
struct InputSource {
  uint32_t variable = 0, element = 0;
  uint32_t target = 0;                    // 0..7 colour, kInputDepth, kInputStencil, kInputMemory, kInputNothing
  VkFormat format = VK_FORMAT_UNDEFINED;  // of a plane
  bool in_tile() const { return target < kMaxTargets + 2; }
};
inline constexpr uint32_t kInputDepth = kMaxTargets, kInputStencil = kMaxTargets + 1, kInputMemory = kMaxTargets + 2;
inline constexpr uint32_t kInputNothing = kMaxTargets + 3;  // zeros: the pass has no such attachment

/// The execution modes of stages that take or make primitives. Source: Vulkan specification, "Tessellation", "Geometry Shading".
struct PrimitiveModes {
  enum class Domain : uint8_t { none, triangles, quads, isolines };
  enum class Spacing : uint8_t { none, equal, fractional_even, fractional_odd };
  enum class Order : uint8_t { none, clockwise, counter_clockwise };
  uint32_t input_vertices = 0;     // of a primitive, with its neighbours': geometry shaders
  uint32_t made_vertices = 0;      // of each primitive that comes out: 1 to 3
  uint32_t output_vertices = 0;    // of the patch: control shaders; at most, in all streams: geometry shaders; at most: mesh shaders
  uint32_t output_primitives = 0;  // at most: mesh shaders
  uint32_t invocations = 1;        // of a geometry shader for each primitive
  Domain domain = Domain::none;
  Spacing spacing = Spacing::none;
  Order order = Order::none;
  bool point_mode = false;
  bool operator==(const PrimitiveModes&) const = default;
};

/// A word that transform feedback captures of each vertex.
struct CapturedWord {
  uint32_t stream = 0, buffer = 0, offset_B = 0;
  uint32_t location = 0, component = 0;  // of VaryingComponent
  bool operator==(const CapturedWord&) const = default;
};
/// A word of a vertex, of a patch or of a primitive, in the memory from which a stage reads its inputs, or in which a control or mesh
/// shader leaves its outputs. Where each lane has its own memory (geometry shaders, of N lanes) offsets count N times, and lanes lie
/// scalar_B apart.
struct InterfaceWord {
  uint8_t location = 0, component = 0;    // of VaryingComponent
  bool patch = false, primitive = false;  // primitive: of a mesh shader, for each primitive; its "vertices" are these
  uint8_t scalar_B = 4, half_B = 0;       // 64 bits: 8, of which this is the lower word (0) or the upper one (4)
  uint32_t offset_B = 0, vertex_step_B = 0, vertices = 1;
  bool operator==(const InterfaceWord&) const = default;
};
struct InterfaceMemory {
  std::vector<InterfaceWord> words;
  uint32_t size_B = 0;  // of one lane
  bool operator==(const InterfaceMemory&) const = default;
};
struct TransformFeedback {
  std::vector<CapturedWord> words;                                // by stream, buffer, offset
  std::array<uint32_t, kMaxTransformFeedbackBuffers> stride_B{};  // from vertex to vertex; 0: nothing goes there
  bool operator==(const TransformFeedback&) const = default;
};

/// What the specialised stage does; everything that classification and hidden-surface removal ask.
struct StageTraits {
  // vertex, evaluation, geometry
  uint32_t clip_distances = 0, cull_distances = 0;  // clip first, then cull, in VertexArgs::clip_distance
  bool writes_layer = false, writes_viewport_index = false, writes_point_size = false;
  bool writes_shading_rate = false;  // of its primitives
  // before the rasterizer
  bool writes_primitive_id = false;
  PrimitiveModes modes;
  InterfaceMemory reads, leaves;                 // inputs of several vertices; outputs of a control or mesh shader
  uint32_t payload_offset_B = 0, payload_B = 0;  // task and mesh shaders: of what goes from one to the other, in shared memory
  TransformFeedback transform_feedback;
  // fragment
  bool discards = false, writes_depth = false, writes_sample_mask = false, writes_stencil = false;
  DepthLayout depth_layout = DepthLayout::any;
  bool reads_sample_mask = false, reads_helper = false, uses_centroid = false;
  bool interlocked = false;    // fragments that share a pixel run one after the other, in the order of their primitives
  bool asks_who_runs = false;  // subgroup operations whose result depends on which invocations take part: ballots, votes, sums
  bool per_sample = false;     // SampleId, SamplePosition or `sample` inputs
  bool reads_primitive_id = false, reads_front_facing = false, reads_frag_coord = false;
  bool early_fragment_tests = false;
  bool post_depth_coverage = false;  // SampleMask has what passed the early tests
  bool reads_tile = false;           // input attachments
  std::vector<InputAttachment> input_attachments;
  uint32_t outputs_written = 0;  // bit per location
  std::array<ReflectedType::Base, kMaxTargets> output_base{};
  bool dual_source = false;
  // compute
  std::array<uint32_t, 3> workgroup_size{};
  uint32_t shared_memory_B = 0;
  bool waits = false;          // barriers of the workgroup
  bool orders_lanes = false;   // an atomic gives what depends on the order of invocations
  bool orders_groups = false;  // the same of a buffer, which other workgroups see
  // all
  bool writes_memory = false, atomic_results_used = false, reads_written_memory = false;
  bool reads_addresses = false, writes_addresses = false;  // memory by address: of any buffer that has one
  bool loops = false, uses_images = false;
  bool open_loops = false;              // some loop is not known to count (lower/counted_loops.hpp)
  uint32_t open_loop_instructions = 0;  // of a round of the largest such loop
  bool loads_words = false;             // of buffers or shared memory, other ones for each lane
  bool tile_crosses_lanes = false;      // what was read from the tile reaches neighbours: a derivative, a coordinate with a computed level
  bool crosses_lanes = false;           // derivatives, sampling with a computed level, subgroup operations: neighbours' values count
  bool lanes_alone = true;              // what lanes ask of neighbours and of their place they can find out alone (pixel_slices.hpp)
  std::vector<std::pair<uint32_t, uint32_t>> written_bindings;  // (set, binding) that stores and atomics reach
  uint32_t instructions = 0;                                    // of the functions that the entry point reaches
  uint32_t private_memory_B = 0;                                // of VertexArgs/FragmentArgs::scratch, for N = kMaxLanes
  std::string side_effect_line;                                 // "file:line" of the first, for explanations
  std::string discard_line, tile_cross_line;
  bool uses_addresses() const { return reads_addresses || writes_addresses; }
  bool operator==(const StageTraits&) const = default;
};

Expected<StageTraits> analyze(const ShaderModule& module, const std::vector<std::pair<uint32_t, uint64_t>>& specialization);
/// The fragment stage's inputs, in layout order.
Expected<VaryingLayout> varying_layout(const ShaderModule& fragment, const std::vector<std::pair<uint32_t, uint64_t>>& specialization);
/// Merged over stages. As specialised: the lengths of arrays of descriptors.
struct StageModule {
  const ShaderModule* module = nullptr;
  const std::vector<std::pair<uint32_t, uint64_t>>* specialization = nullptr;
};
Expected<ResourceTable> resource_table(std::span<const StageModule> stages);
Expected<ResourceTable> resource_table(const ShaderModule& module, const std::vector<std::pair<uint32_t, uint64_t>>& specialization);

/// Of vertex shaders, and of tessellation evaluation shaders, which have no attributes.
struct VertexKey {
  Ptr<const ShaderModule> module;
  std::vector<std::pair<uint32_t, uint64_t>> specialization;
  std::vector<VertexInputBinding> bindings;
  std::vector<VkVertexInputAttributeDescription> attributes;
  VaryingLayout varyings;
  ResourceTable resources;
  bool position_only = false;  // sliced, for deferred vertex shading: gl_Position, clip and cull distances only
  bool is_evaluation() const { return module->reflection().stage == VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT; }
};
struct FragmentKey {
  Ptr<const ShaderModule> module;
  std::vector<std::pair<uint32_t, uint64_t>> specialization;
  VaryingLayout varyings;
  ResourceTable resources;
  std::vector<InputSource> inputs;  // of all input attachments, by (variable, element)
  uint32_t samples = 1;
  bool per_sample = false;     // one invocation a sample (sample shading)
  bool coverage_only = false;  // sliced: discard, depth, sample mask and colour[0].a (for alpha to coverage) only
  bool coverage_needs_alpha = false;
  bool coarse = false;  // fragments of several pixels, as many as FragmentArgs says
};

struct GeometryKey {
  Ptr<const ShaderModule> module;
  std::vector<std::pair<uint32_t, uint64_t>> specialization;
  VaryingLayout emits;  // all that is kept of an emitted vertex
  ResourceTable resources;
};

/// Compute, task and mesh shaders, and tessellation control shaders: a patch is a workgroup, of one invocation for each vertex that comes
/// out.
struct ComputeKey {
  Ptr<const ShaderModule> module;
  std::vector<std::pair<uint32_t, uint64_t>> specialization;
  ResourceTable resources;
};

/// Sampler functions of one (view, sampler) pair; their addresses are those of TextureDescriptor.
struct SamplerKey {
  VkFormat format = VK_FORMAT_UNDEFINED;  // of the view; depth formats read depth in R, stencil views stencil
  VkImageAspectFlagBits aspect = VK_IMAGE_ASPECT_COLOR_BIT;
  VkImageViewType dim = VK_IMAGE_VIEW_TYPE_2D;
  std::array<VkComponentSwizzle, 4> swizzle{};  // IDENTITY allowed
  bool multisampled = false;
  bool one_level = false;     // the view has no other, or the sampler's limits leave none
  bool has_sampler = false;   // false: fetch only
  bool min_lod = false;       // the view has a least LOD of its own, read at run time
  SamplerCreateInfo sampler;  // bias, lods, border and how much anisotropy are read at run time
};
struct SamplerFunctions {
  const CodeSlot *gradient = nullptr, *lod = nullptr, *fetch = nullptr, *gather = nullptr, *implicit = nullptr;
  const CodeSlot *store = nullptr, *address = nullptr, *query_lod = nullptr, *min_lod = nullptr, *many = nullptr;
};

/// The end of a packet: blend, logic op, masks, conversion, write to the tile. Reads FragmentArgs::color and live_coverage & alive.
struct EpilogueKey {
  uint32_t samples = 1;
  std::array<VkFormat, kMaxTargets> formats{};                            // UNDEFINED: no write
  std::array<uint8_t, kMaxTargets> locations = {0, 1, 2, 3, 4, 5, 6, 7};  // of FragmentArgs::color, that each target takes
  std::array<VkPipelineColorBlendAttachmentState, kMaxTargets> blend{};
  std::array<AdvancedBlend, kMaxTargets> advanced{};  // where the operator is an advanced one
  bool logic_op_enable = false;
  VkLogicOp logic_op = VK_LOGIC_OP_COPY;
  bool alpha_to_one = false;
  bool per_sample = false;  // the packet is of one sample: FragmentArgs::sample_index
};

Expected<Code<VertexFunction>> compile_vertex(Jit& jit, const VertexKey& key, When when = When::now);
/// The same function before anybody has asked for it: null until compile_vertex() has made it.
Code<VertexFunction> reserve_vertex(Jit& jit, const VertexKey& key);
Expected<Code<FragmentFunction>> compile_fragment(Jit& jit, const FragmentKey& key, When when = When::now);
Expected<Code<GeometryFunction>> compile_geometry(Jit& jit, const GeometryKey& key, When when = When::now);
Expected<Code<ComputeFunction>> compile_compute(Jit& jit, const ComputeKey& key, const StageTraits& traits, When when = When::now);
/// Invocations at a time: the Jit's lanes, or fewer where rows of the workgroup are shorter, or the order of atomics shall not depend on
/// it.
uint32_t compute_lanes(const Jit& jit, const StageTraits& traits);
Expected<SamplerFunctions> compile_sampler(Jit& jit, const SamplerKey& key, uint16_t uses);
/// Of a null descriptor: each of them gives four vectors of zeros, whatever it is asked.
Expected<SamplerFunctions> compile_null_sampler(Jit& jit);
Expected<Code<FragmentFunction>> compile_epilogue(Jit& jit, const EpilogueKey& key, When when = When::now);
/// Both in one function over whole blocks: the values stay in registers, and what is the same for all is made once. The bits are those of
/// the two. Possible where a body asks nothing but its place and its primitive. Short ones are made, others offered: the address is null
/// until a pass has wanted it.
bool suits_blocks(const FragmentKey& key, const StageTraits& traits);
Expected<Code<BlocksFunction>> compile_blocks(Jit& jit, const FragmentKey& key, const StageTraits& traits, const EpilogueKey& epilogue,
                                              When when = When::now);
/// Both in one function over a pixel packet (abi.hpp). Offered, not made: the address is null until a pass has wanted it. Possible where
/// lanes ask nothing of their neighbours, or little enough to find it out alone (pixel_slices.hpp), texels are replaced, and AVX-512 is
/// there.
bool suits_pixels(const Jit& jit, const FragmentKey& key, const StageTraits& traits, const EpilogueKey& epilogue);
Code<FragmentFunction> offer_pixels(Jit& jit, const FragmentKey& key, const EpilogueKey& epilogue);

}  // namespace tilegpu::shader
