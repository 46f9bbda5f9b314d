// bindings/bind_compute.cpp -- tilegpu/compute.hpp: compute pipelines, dispatches, what they cost.
#include "bindings.hpp"
#include "tilegpu/compute.hpp"

namespace tilegpu::bindings {

void bind_compute(py::module_& m) {
  m.attr("MAX_WORKGROUPS") = kMaxWorkgroups;
  py::class_<ComputePipeline, Ptr<ComputePipeline>>(m, "ComputePipeline")
      .def(py::init([](Device& device, Ptr<ShaderModule> module, std::vector<std::pair<uint32_t, uint64_t>> specialization,
                       std::string label, const std::vector<Ptr<DescriptorSetLayout>>& sets) {
             ReleasedGil release;
             return unwrap(device.create_pipeline(
                 ComputePipelineCreateInfo{{std::move(module), std::move(specialization)}, shared_layout(sets), std::move(label)}));
           }),
           py::arg("device"), py::arg("module").none(false), py::arg("specialization"), py::arg("label"), py::arg("sets"))
      .def_property_readonly("label", [](const ComputePipeline& p) { return text(p.info().label); })
      .def_property_readonly("workgroup_size", &ComputePipeline::workgroup_size)
      .def_property_readonly("shared_memory_B", &ComputePipeline::shared_memory_B)
      .def_property_readonly("orders_workgroups", &ComputePipeline::orders_workgroups)
      .def_property_readonly("push_constants_B", [](const ComputePipeline& p) { return p.info().layout->push_constants_B; })
      .def_property_readonly("set_layouts", [](const ComputePipeline& p) {
        std::vector<Ptr<DescriptorSetLayout>> layouts;
        for (const auto& set : p.info().layout->sets) layouts.push_back(std::const_pointer_cast<DescriptorSetLayout>(set));
        return layouts;
      });

  py::class_<DispatchStats>(m, "DispatchStats")
      .def_readonly("workgroups", &DispatchStats::workgroups)
      .def_readonly("invocations", &DispatchStats::invocations)
      .def_readonly("shared_memory_B", &DispatchStats::shared_memory_B)
      .def_readonly("lanes", &DispatchStats::lanes)
      .def_readonly("threads", &DispatchStats::threads)
      .def_readonly("ordered", &DispatchStats::ordered)
      .def_readonly("waiting_memory_B", &DispatchStats::waiting_memory_B)
      .def_readonly("time_ms", &DispatchStats::time_ms);
}

}  // namespace tilegpu::bindings
