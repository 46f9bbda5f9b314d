// pipeline/vertex_fields.hpp -- vertex input by name: the fields of the user's vertex data to Vulkan's attributes.
//
// In: fields (of NumPy dtypes, say) and the vertex shader's inputs. Out: attributes, and the names of fields that feed nothing; or what
// does not fit, and what would. Source: Vulkan specification, "Vertex Input Description"; the matching is the front end's own: by name, or
// by order = location where no name matches.
#pragma once

#include <functional>

#include "tilegpu/pipeline.hpp"

namespace tilegpu::pipeline {

struct VertexField {
  uint32_t binding = 0;
  std::string name;     // "": the data has no fields
  char kind = 'f';      // NumPy's: f, i, u or b; anything else can't be vertex data
  uint32_t size_B = 0;  // of a component
  std::vector<uint32_t> shape;
  uint32_t offset_B = 0;
};

struct VertexMatch {
  std::vector<VkVertexInputAttributeDescription> attributes;
  std::vector<std::string> unused;
};

/// `locations`: those that attributes given outright feed already. `type_of(k)`: what messages call the type of fields[k].
Expected<VertexMatch> match_vertex_fields(const std::vector<VertexField>& fields, const std::vector<ReflectedVariable>& inputs,
                                          const std::vector<uint32_t>& locations, bool has_bindings, const std::string& who,
                                          const std::function<std::string(size_t)>& type_of);

}  // namespace tilegpu::pipeline
