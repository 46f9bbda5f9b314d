// base/json.hpp -- JSON, written member by member. Source: RFC 8259. In: members. Out: text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>

namespace tilegpu {

/// Bytes of the UTF-8 sequence that begins at `at`; 0: none does. Source: RFC 3629, section 4.
inline size_t utf8_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  const uint32_t first = byte(at);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const uint32_t second = byte(at + 1);  // not longer than it need be, no surrogate, not beyond the last
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
                     (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

/// Quoted; bytes that are no UTF-8, as names of programs may hold, become U+FFFD.
inline std::string json_text(const std::string& value) {
  std::string out = "\"";
  for (size_t at = 0; at < value.size(); ++at) {
    const char c = value[at];
    const size_t length = utf8_length(value, at);
    if (length != 1) {
      length ? out.append(value, at, length) : out.append("\\ufffd");
      at += length ? length - 1 : 0;
    } else if (c == '"' || c == '\\') {
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
  JsonObject& real(const std::string& key, double value) {
    if (!std::isfinite(value)) return raw(key, "null");
    char text[512];  // not std::to_string: the program may have set a locale with another point
    return raw(key, {text, std::to_chars(text, std::end(text), value, std::chars_format::fixed, 6).ptr});
  }
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
