// base/json.hpp -- JSON, written member by member. Source: RFC 8259.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace tilegpu {

inline std::string json_text(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr const char* kHex = "0123456789abcdef";
      out += "\\u00";
      out += kHex[c >> 4 & 15];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

class JsonObject {
 public:
  JsonObject& text(const std::string& key, const std::string& value) { return raw(key, json_text(value)); }
  JsonObject& number(const std::string& key, uint64_t value) { return raw(key, std::to_string(value)); }
  JsonObject& real(const std::string& key, double value) { return raw(key, std::isfinite(value) ? std::to_string(value) : "null"); }
  JsonObject& boolean(const std::string& key, bool value) { return raw(key, value ? "true" : "false"); }
  JsonObject& raw(const std::string& key, const std::string& json) {
    if (!body_.empty()) body_.append(", ");
    body_.append(json_text(key)).append(": ").append(json);
    return *this;
  }
  std::string json() const { return std::string("{").append(body_).append("}"); }

 private:
  std::string body_;
};

/// Of items that are JSON already.
class JsonArray {
 public:
  JsonArray& add(const std::string& json) {
    if (!body_.empty()) body_.append(", ");
    body_.append(json);
    return *this;
  }
  std::string json() const { return std::string("[").append(body_).append("]"); }

 private:
  std::string body_;
};

}  // namespace tilegpu
