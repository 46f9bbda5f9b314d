// pipeline/pipeline.cpp -- stage: pipeline creation. In: GraphicsPipelineCreateInfo. Out: a Pipeline: its program, what it fixes of the
// state, and, where that is enough, what its draws run.
#include "pipeline/create.hpp"
#include "pipeline/dynamic_state.hpp"
#include "pipeline/resolve.hpp"
#include "pipeline/shading_rate.hpp"

namespace tilegpu {

Pipeline::Pipeline(GraphicsPipelineCreateInfo info, DynamicStates dynamic, Ptr<const pipeline::Program> program,
                   Ptr<const pipeline::Resolved> resolved)
    : info_(std::move(info)), dynamic_(dynamic), program_(std::move(program)), resolved_(std::move(resolved)) {}
Pipeline::~Pipeline() = default;

Expected<Ptr<const pipeline::Program>> Pipeline::without(uint32_t absent) const {
  if (!absent) return program_;
  {
    const std::lock_guard guard(variants_mutex_);
    if (const auto found = variants_.find(absent); found != variants_.end()) return found->second;
  }
  GraphicsPipelineCreateInfo info = info_;
  auto made = pipeline::make_program(info, program_->leniency, absent);
  if (!made) return made.error();
  const std::lock_guard guard(variants_mutex_);
  return variants_.emplace(absent, std::move(*made)).first->second;  // that of the thread that was first
}

}  // namespace tilegpu

namespace tilegpu::pipeline {

void leave_out_tests(VkImageAspectFlags aspects, DepthStencilState& state) {
  assert(!(aspects & ~(VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT)));
  if (aspects & VK_IMAGE_ASPECT_DEPTH_BIT) state.depth_test = state.depth_write = state.depth_bounds_test = false;
  if (aspects & VK_IMAGE_ASPECT_STENCIL_BIT) state.stencil_test = false;
}

Expected<Ptr<Pipeline>> create_pipeline(shader::Jit& jit, ResolveCache& cache, GraphicsPipelineCreateInfo info, uint32_t threads,
                                        const Leniency& leniency) {
  auto dynamic = dynamic_states(info.dynamic_states);
  if (!dynamic) return Error{dynamic.error().code, "pipeline '" + info.label + "': " + dynamic.error().message};
  const VkImageAspectFlags tests = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
  if (info.untested_aspects & ~tests)
    return Error{VK_ERROR_INITIALIZATION_FAILED, "pipeline '" + info.label + "': untested_aspects is " +
                                                     std::to_string(info.untested_aspects) + "; depth (2) and stencil (4) are allowed"};
  if (info.rasterization.rasterization_stream >= kMaxStreams)
    return Error{VK_ERROR_INITIALIZATION_FAILED, "pipeline '" + info.label + "': rasterization_stream is " +
                                                     std::to_string(info.rasterization.rasterization_stream) + "; there are 0 to " +
                                                     std::to_string(kMaxStreams - 1)};
  if (!dynamic->has(DynamicState::fragment_shading_rate))
    if (Status ok = check_shading_rate(info.shading_rate, "pipeline '" + info.label + "'"); !ok) return ok.error();
  leave_out_tests(info.untested_aspects, info.depth_stencil);
  auto program = make_program(info, leniency);
  if (!program) return program.error();
  // A dynamic topology is of the state's class, unless any is allowed: what is there is known to be wrong where it is fixed.
  if (!dynamic->has(DynamicState::primitive_topology) && !dynamic->has(DynamicState::patch_control_points))
    if (Status ok = check_topology(**program, info); !ok) return ok.error();
  if (Status ok = check_lines(**program, info, *dynamic); !ok) return ok.error();
  // Smooth lines have code of their own, and what is drawn may be dynamic.
  const bool perhaps_smooth = info.rasterization.line_mode == VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT &&
                              (dynamic->has(DynamicState::primitive_topology) || dynamic->has(DynamicState::polygon_mode));
  const bool fixed = !(dynamic->bits & resolving_states().bits) && !perhaps_smooth;
  // Nor is a guess made of vertex input that is still to come.
  const bool guesses = !dynamic->has(DynamicState::vertex_input) || feeds_all_inputs(**program, info);
  auto resolved = fixed     ? resolve(jit, *program, info, threads)
                  : guesses ? cache.find(jit, *program, info, threads)
                            : Expected<Ptr<const Resolved>>(Ptr<const Resolved>());
  if (fixed && !resolved) return resolved.error();
  // Of a state that is not fixed nothing is known to be wrong: the draw that comes with it will say so.
  return std::make_shared<Pipeline>(std::move(info), *dynamic, *program, fixed ? *resolved : nullptr);
}

}  // namespace tilegpu::pipeline
