// tests/test_operands.cpp -- which operands are ids, compared with the machine-readable grammar of SPIR-V (spirv-headers).
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "check.hpp"
#include "shader/spirv/operands.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

/// The strings and numbers after `"key" :`, in order, that stand in `text`.
std::vector<std::pair<size_t, std::string>> values_of(const std::string& text, const std::string& key) {
  std::vector<std::pair<size_t, std::string>> found;
  const std::string quoted = '"' + key + '"';
  for (size_t at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at + 1)) {
    size_t begin = text.find_first_not_of(" :\"", at + quoted.size());
    found.emplace_back(at, text.substr(begin, text.find_first_of("\",\n }", begin) - begin));
  }
  return found;
}

std::string grammar() {
  std::ifstream file(TILEGPU_SPIRV_GRAMMAR);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool stands_in_no_block(const std::string& group) {
  static const std::set<std::string> kGroups = {"Type-Declaration", "Constant-Creation", "Annotation", "Debug",
                                                "Mode-Setting",     "Extension"};
  return kGroups.count(group) != 0;
}

/// OpenCL's, or of capabilities that are refused.
bool is_foreign(const std::string& name) {
  for (const char* start :
       {"OpGenericCast", "OpLifetime", "OpGroupI", "OpGroupF", "OpGroupU", "OpGroupS", "OpConstantPipe", "OpImageSparse"})
    if (name.starts_with(start)) return true;
  return false;
}

/// Of what the compiler takes in blocks (lower/), as ranges of numbers. Others are refused before anything asks for their operands.
bool is_taken(uint32_t op) {
  const auto within = [&](spv::Op first, spv::Op last) { return op >= uint32_t(first) && op <= uint32_t(last); };
  return within(spv::OpExtInst, spv::OpExtInst) || within(spv::OpFunctionCall, spv::OpImageTexelPointer) ||
         within(spv::OpLoad, spv::OpCopyMemory) || within(spv::OpAccessChain, spv::OpArrayLength) ||
         within(spv::OpVectorExtractDynamic, spv::OpTerminateInvocation) || within(spv::OpSDot, spv::OpSUDotAccSat) ||
         within(spv::OpGroupNonUniformElect, spv::OpGroupNonUniformQuadSwap) || within(spv::OpEmitMeshTasksEXT, spv::OpSetMeshOutputsEXT);
}

void compare(const std::string& name, uint32_t op, const std::string& operands, int& compared) {
  const auto kinds = values_of(operands, "kind");
  uint32_t k = 0;
  for (size_t n = 0; n < kinds.size(); ++n) {
    const std::string& kind = kinds[n].second;
    if (kind == "IdResult" || kind == "IdResultType") continue;
    const size_t end = n + 1 < kinds.size() ? kinds[n + 1].first : operands.size();
    const bool id = kind.starts_with("Id"), many = operands.substr(kinds[n].first, end - kinds[n].first).find('*') != std::string::npos;
    // Labels name no value: either answer will do, where a literal may stand between them.
    const bool label = op == spv::OpSwitch || op == spv::OpSelectionMerge || op == spv::OpLoopMerge;
    for (uint32_t more = 0; more < (many ? 4u : 1u); ++more, ++k) {
      if (kind == "PairIdRefIdRef" || (id && label)) continue;
      CHECK(is_id(static_cast<spv::Op>(op), k) == id, "%s, operand %u, a %s", name.c_str(), k, kind.c_str());
      compared++;
    }
  }
}

}  // namespace

int main() {
  const std::string text = grammar();
  if (text.empty()) return std::printf("test_operands: there is no %s, nothing compared\n", TILEGPU_SPIRV_GRAMMAR), 0;
  const auto names = values_of(text, "opname");
  int compared = 0;
  for (size_t n = 0; n < names.size(); ++n) {
    const std::string one = text.substr(names[n].first, (n + 1 < names.size() ? names[n + 1].first : text.size()) - names[n].first);
    const auto group = values_of(one, "class"), number = values_of(one, "opcode");
    if (number.empty()) continue;
    const auto op = static_cast<uint32_t>(std::stoul(number[0].second));
    if (!is_taken(op) || is_foreign(names[n].second) ||
        (!group.empty() && stands_in_no_block(group[0].second) && names[n].second != "OpExtInst"))
      continue;
    const size_t operands = one.find("\"operands\"");
    if (operands != std::string::npos) compare(names[n].second, op, one.substr(operands, one.find(']', operands) - operands), compared);
  }
  CHECK(compared > 400, "%d operands were compared", compared);
  return test::finish("operands");
}
