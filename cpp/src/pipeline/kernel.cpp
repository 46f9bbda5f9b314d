// pipeline/kernel.cpp -- see kernel.hpp.
#include "pipeline/kernel.hpp"

#include "shader/module/module_record.hpp"
#include "tilegpu/device_info.hpp"
#include "vk/cooperative_matrices.hpp"

namespace tilegpu {

std::vector<CooperativeMatrixProduct> cooperative_matrix_products() {
  std::vector<CooperativeMatrixProduct> products;
  for (const vk::CooperativeMatrixRow& row : vk::cooperative_matrices())
    products.push_back({row.size, row.size, row.size, static_cast<uint32_t>(row.a), static_cast<uint32_t>(row.b),
                        static_cast<uint32_t>(row.c), row.saturates});
  return products;
}

ComputePipeline::ComputePipeline(ComputePipelineCreateInfo info, Ptr<const pipeline::Program> program, Ptr<const pipeline::Kernel> kernel)
    : info_(std::move(info)), program_(std::move(program)), kernel_(std::move(kernel)) {}
ComputePipeline::~ComputePipeline() = default;

std::array<uint32_t, 3> ComputePipeline::workgroup_size() const { return program_->stages.front().traits.workgroup_size; }
uint32_t ComputePipeline::shared_memory_B() const { return program_->stages.front().traits.shared_memory_B; }
bool ComputePipeline::orders_workgroups() const { return program_->stages.front().traits.orders_groups; }

}  // namespace tilegpu

namespace tilegpu::pipeline {

Expected<Ptr<ComputePipeline>> create_compute_pipeline(shader::Jit& jit, ComputePipelineCreateInfo info, const Leniency& leniency) {
  auto program = make_compute_program(info, leniency);
  if (!program) return program.error();
  const Stage& stage = (*program)->stages.front();
  auto code = shader::compile_compute(jit, {stage.module, stage.specialization, stage.resources}, stage.traits, shader::When::later);
  if (!code) return Error{code.error().code, "pipeline '" + info.label + "': compute shader: " + code.error().message};
  shader::keep_record(jit, *stage.module);
  auto kernel = std::make_shared<Kernel>();
  kernel->code = *code, kernel->lanes = shader::compute_lanes(jit, stage.traits);
  kernel->coming.label = info.label;
  kernel->coming.add(kernel->code, "compute shader");
  return std::make_shared<ComputePipeline>(std::move(info), *program, std::move(kernel));
}

}  // namespace tilegpu::pipeline
