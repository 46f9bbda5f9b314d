// Every instruction that base/intrinsics.hpp gives other processors under x86's names does what x86 does: bits of results, as a hash of
// many operands. The hashes below are x86-64's; on x86-64 the test holds the table to the processor.
// Of arithmetic NaN is one: which one results differs, and no result of the core shows it (min, max and moves keep the operand's bits).
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/default_floats.hpp"
#include "base/simd.hpp"
#include "check.hpp"

using namespace tilegpu;

namespace {

struct alignas(32) Operand {
  std::array<uint32_t, 8> words;
  __m256i i() const { return _mm256_load_si256(reinterpret_cast<const __m256i*>(words.data())); }
  __m256 f() const { return _mm256_castsi256_ps(i()); }
  __m256d d() const { return _mm256_castsi256_pd(i()); }
  __m128i i4() const { return _mm256_castsi256_si128(i()); }
  __m128 f4() const { return _mm256_castps256_ps128(f()); }
};

// Specials side by side with anything, so that each meets each.
std::vector<Operand> make_operands() {
  const uint32_t special[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f000000, 0x3fc00000, 0x40200000, 0xbf000000,
                              0x3f800000, 0xbf800000, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f800000, 0x7f7fffff, 0xff7fffff,
                              0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7fc12345, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001,
                              0x38800000, 0x387fffff, 0x7fffffff, 0xffffffff, 0x00ff8001, 0x80007fff, 0x01020304, 0x4b000001, 0x4afffffd};
  std::vector<Operand> all;
  uint32_t state = 0x9e3779b9;
  const auto next = [&] { return state ^= state << 13, state ^= state >> 17, state ^= state << 5; };
  for (uint32_t k = 0; k < 400; ++k) {
    Operand o{};
    for (uint32_t& w : o.words) {
      const uint32_t any = next();
      w = k % 3 == 0 ? special[any % std::size(special)] : k % 3 == 1 ? any : any % 5 ? (any & 0x8fffffff) | 0x3c000000 : special[any % 36];
    }
    all.push_back(o);
  }
  return all;
}

class Hash {
 public:
  void word(uint32_t w) { value_ = (value_ ^ w) * 0x100000001b3u; }
  void operator()(uint32_t w) { word(w); }
  void operator()(int32_t w) { word(static_cast<uint32_t>(w)); }
  void operator()(int64_t w) { word(static_cast<uint32_t>(w)), word(static_cast<uint32_t>(w >> 32)); }
  void operator()(uint64_t w) { (*this)(static_cast<int64_t>(w)); }
  void operator()(float x) { word(std::bit_cast<uint32_t>(x)); }
  void lanes(const __m256i& v) {
    alignas(32) uint32_t words[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(words), v);
    for (uint32_t w : words) word(w);
  }
  void lanes(const __m256& v) { lanes(_mm256_castps_si256(v)); }
  void lanes4(const __m128i& v) {
    alignas(16) uint32_t words[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(words), v);
    for (uint32_t w : words) word(w);
  }
  void lanes4(const __m128& v) { lanes4(_mm_castps_si128(v)); }
  void arithmetic(const __m256& v) {
    alignas(32) float values[8];
    _mm256_store_ps(values, v);
    for (float x : values) word(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
  }
  void arithmetic4(const __m128& v) {
    alignas(16) float values[4];
    _mm_store_ps(values, v);
    for (float x : values) word(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
  }
  void doubles(const __m256d& v) {
    double values[4];
    std::memcpy(values, &v, sizeof values);
    for (double x : values) (*this)(std::isnan(x) ? int64_t{0x7ff8000000000000} : std::bit_cast<int64_t>(x));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

using Hashes = std::map<std::string, uint64_t>;

template <class Body>
void each(Hashes& out, const char* name, const std::vector<Operand>& operands, Body&& body) {
  Hash h;
  for (size_t k = 0; k + 2 < operands.size(); ++k) body(h, operands[k], operands[k + 1], operands[k + 2]);
  out[name] = h.value();
}

#define OF(name, ...)                                                                                      \
  each(out, name, operands,                                                                                \
       [&]([[maybe_unused]] Hash& h, [[maybe_unused]] const Operand& a, [[maybe_unused]] const Operand& b, \
           [[maybe_unused]] const Operand& c) { __VA_ARGS__; })

void hash_floats(Hashes& out, const std::vector<Operand>& operands) {
  OF("add_ps", h.arithmetic(_mm256_add_ps(a.f(), b.f())));
  OF("mul_ps", h.arithmetic(_mm256_mul_ps(a.f(), b.f())));
  OF("fmadd_ps", h.arithmetic(_mm256_fmadd_ps(a.f(), b.f(), c.f())));
  OF("add_ps 4", h.arithmetic4(_mm_add_ps(a.f4(), b.f4())));
  OF("sub_ps 4", h.arithmetic4(_mm_sub_ps(a.f4(), b.f4())));
  OF("mul_ps 4", h.arithmetic4(_mm_mul_ps(a.f4(), b.f4())));
  OF("div_ps 4", h.arithmetic4(_mm_div_ps(a.f4(), b.f4())));
  OF("fmadd_ps 4", h.arithmetic4(_mm_fmadd_ps(a.f4(), b.f4(), c.f4())));
  OF("min_ps", h.lanes(_mm256_min_ps(a.f(), b.f())));
  OF("max_ps", h.lanes(_mm256_max_ps(a.f(), b.f())));
  OF("min_ps 4", h.lanes4(_mm_min_ps(a.f4(), b.f4())));
  OF("max_ps 4", h.lanes4(_mm_max_ps(a.f4(), b.f4())));
  OF("cmp_ps", h.lanes(_mm256_cmp_ps(a.f(), b.f(), _CMP_LT_OQ)); h.lanes(_mm256_cmp_ps(a.f(), b.f(), _CMP_GT_OQ));
     h.lanes(_mm256_cmp_ps(a.f(), b.f(), _CMP_LE_OQ)); h.lanes(_mm256_cmp_ps(a.f(), b.f(), _CMP_GE_OQ));
     h.lanes(_mm256_cmp_ps(a.f(), b.f(), _CMP_EQ_OQ)); h.lanes(_mm256_cmp_ps(a.f(), b.f(), _CMP_UNORD_Q));
     h.lanes(_mm256_cmp_ps(a.f(), b.f(), _CMP_NEQ_UQ)); h.lanes(_mm256_cmp_ps(a.f(), b.f(), _CMP_ORD_Q)));
  OF("blendv_ps", h.lanes(_mm256_blendv_ps(a.f(), b.f(), c.f())));
  OF("movemask_ps", h(_mm256_movemask_ps(a.f())); h(_mm_movemask_ps(a.f4())));
  OF("add_pd", h.doubles(_mm256_add_pd(a.d(), b.d())));
  OF("sub_pd", h.doubles(_mm256_sub_pd(a.d(), b.d())));
  OF("mul_pd", h.doubles(_mm256_mul_pd(a.d(), b.d())));
  OF("shuffle_ps", h.lanes(_mm256_shuffle_ps(a.f(), b.f(), 0x88)); h.lanes(_mm256_shuffle_ps(a.f(), b.f(), 0xdd));
     h.lanes(_mm256_shuffle_ps(a.f(), b.f(), 0x44)); h.lanes(_mm256_shuffle_ps(a.f(), b.f(), 0xee)));
  OF("shuffle_ps 4", h.lanes4(_mm_shuffle_ps(a.f4(), b.f4(), 0x44)); h.lanes4(_mm_shuffle_ps(a.f4(), b.f4(), 0xee)));
  OF("unpack_ps", h.lanes(_mm256_unpacklo_ps(a.f(), b.f())); h.lanes(_mm256_unpackhi_ps(a.f(), b.f()));
     h.lanes4(_mm_unpacklo_ps(a.f4(), b.f4())); h.lanes4(_mm_unpackhi_ps(a.f4(), b.f4())));
  OF("permute2f128_ps", h.lanes(_mm256_permute2f128_ps(a.f(), b.f(), 0x20)); h.lanes(_mm256_permute2f128_ps(a.f(), b.f(), 0x31)));
  OF("insertf128_ps", h.lanes(_mm256_insertf128_ps(a.f(), b.f4(), 1)); h.lanes(_mm256_set_m128(a.f4(), b.f4()));
     h.lanes(_mm256_setr_m128(a.f4(), b.f4())); h.lanes4(_mm256_extractf128_ps(a.f(), 1)));
  OF("loadh_pi", h.lanes4(_mm_loadh_pi(a.f4(), reinterpret_cast<const __m64*>(b.words.data() + 2))));
}

void hash_conversions(Hashes& out, const std::vector<Operand>& operands) {
  OF("cvtps_epi32", h.lanes(_mm256_cvtps_epi32(a.f())); h(_mm_cvtss_si32(_mm_set_ss(std::bit_cast<float>(a.words[0])))));
  OF("cvttps_epi32", h.lanes(_mm256_cvttps_epi32(a.f())));
  OF("cvtepi32_ps", h.lanes(_mm256_cvtepi32_ps(a.i())); h.lanes4(_mm_cvtepi32_ps(a.i4())));
  OF("cvtepi32_pd", h.doubles(_mm256_cvtepi32_pd(a.i4())));
  OF("cvtps_pd", h.doubles(_mm256_cvtps_pd(a.f4())));
  OF("cvtpd_ps", h.arithmetic4(_mm256_cvtpd_ps(a.d())));
  OF("cvtpd_ps of products", h.arithmetic4(_mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(a.f4()), _mm256_cvtps_pd(b.f4())))));
  OF("cvtpd_epi32", h.lanes4(_mm256_cvtpd_epi32(a.d())));
  OF("cvtpd_epi32 of floats", h.lanes4(_mm256_cvtpd_epi32(_mm256_cvtps_pd(a.f4()))));
  OF("cvtsd_si64", h(static_cast<int64_t>(_mm_cvtsd_si64(_mm_set_sd(std::bit_cast<double>(a.words[0] | uint64_t{a.words[1]} << 32))))));
  OF("cvtph_ps", alignas(32) float v[8]; _mm256_store_ps(v, _mm256_cvtph_ps(a.i4())); for (float x : v) h(std::isnan(x) ? 0.5f : x));
  OF("cvtps_ph", alignas(32) float v[8]; _mm256_store_ps(v, a.f()); for (float& x : v) x = std::isnan(x) ? 1.0f : x;
     h.lanes4(_mm256_cvtps_ph(_mm256_load_ps(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
  OF("to_unorm", h.lanes4((__m128i)to_unorm((f32x4)a.f4(), 16777215.0)); h.lanes4((__m128i)to_unorm((f32x4)a.f4(), 65535.0)));
  OF("cvtepu", h.lanes4(_mm_cvtepu8_epi32(a.i4())); h.lanes4(_mm_cvtepu16_epi32(a.i4())));
}

void hash_integers(Hashes& out, const std::vector<Operand>& operands) {
  OF("add", h.lanes(_mm256_add_epi16(a.i(), b.i())); h.lanes(_mm256_add_epi32(a.i(), b.i())); h.lanes(_mm256_add_epi64(a.i(), b.i()));
     h.lanes4(_mm_add_epi32(a.i4(), b.i4())));
  OF("sub", h.lanes(_mm256_sub_epi16(a.i(), b.i())); h.lanes(_mm256_sub_epi32(a.i(), b.i())); h.lanes(_mm256_sub_epi64(a.i(), b.i())));
  OF("logic", h.lanes(_mm256_and_si256(a.i(), b.i())); h.lanes(_mm256_or_si256(a.i(), b.i())); h.lanes(_mm256_xor_si256(a.i(), b.i()));
     h.lanes4(_mm_and_si128(a.i4(), b.i4())); h.lanes4(_mm_andnot_si128(a.i4(), b.i4())); h.lanes4(_mm_or_si128(a.i4(), b.i4()));
     h.lanes4(_mm_xor_si128(a.i4(), b.i4())));
  OF("blend_epi32", h.lanes(_mm256_blend_epi32(a.i(), b.i(), 0xaa)));
  OF("blendv_epi8", h.lanes(_mm256_blendv_epi8(a.i(), b.i(), c.i())); h.lanes4(_mm_blendv_epi8(a.i4(), b.i4(), c.i4())));
  OF("cmpgt", h.lanes(_mm256_cmpgt_epi64(a.i(), b.i())); h.lanes(_mm256_cmpgt_epi8(a.i(), b.i())));
  OF("madd_epi16", h.lanes(_mm256_madd_epi16(a.i(), b.i())));
  OF("mul_epi32", h.lanes(_mm256_mul_epi32(a.i(), b.i())));
  OF("max", h.lanes(_mm256_max_epi8(a.i(), b.i())); h.lanes(_mm256_max_epi16(a.i(), b.i())); h.lanes(_mm256_max_epi32(a.i(), b.i()));
     h.lanes(_mm256_max_epu8(a.i(), b.i())); h.lanes(_mm256_max_epu16(a.i(), b.i())); h.lanes(_mm256_max_epu32(a.i(), b.i()));
     h.lanes4(_mm_max_epi32(a.i4(), b.i4())));
  OF("min", h.lanes(_mm256_min_epi8(a.i(), b.i())); h.lanes(_mm256_min_epi16(a.i(), b.i())); h.lanes(_mm256_min_epi32(a.i(), b.i()));
     h.lanes(_mm256_min_epu8(a.i(), b.i())); h.lanes(_mm256_min_epu16(a.i(), b.i())); h.lanes(_mm256_min_epu32(a.i(), b.i()));
     h.lanes4(_mm_min_epi32(a.i4(), b.i4())));
  OF("movemask_epi8", h(_mm256_movemask_epi8(a.i())));
  OF("packs", h.lanes(_mm256_packs_epi16(a.i(), b.i())); h.lanes(_mm256_packs_epi32(a.i(), b.i())));
  OF("packus", h.lanes(_mm256_packus_epi16(a.i(), b.i())); h.lanes(_mm256_packus_epi32(a.i(), b.i()));
     h.lanes4(_mm_packus_epi16(a.i4(), b.i4())); h.lanes4(_mm_packus_epi32(a.i4(), b.i4())));
  OF("permute", h.lanes(_mm256_permute2x128_si256(a.i(), b.i(), 0x20)); h.lanes(_mm256_permute2x128_si256(a.i(), b.i(), 0x31));
     h.lanes(_mm256_permute4x64_epi64(a.i(), 0xd8)); h.lanes4(_mm256_extracti128_si256(a.i(), 1)));
  OF("sad_epu8", h.lanes(_mm256_sad_epu8(a.i(), b.i())));
  OF("shuffle", h.lanes4(_mm_shuffle_epi32(a.i4(), 0x4e)); h.lanes4(_mm_shuffle_epi8(a.i4(), b.i4())));
  // Counts beyond the width too: nothing is left, or signs.
  OF("shifts by a register", const __m128i by = _mm_cvtsi32_si128(static_cast<int>(b.words[0] % 40)); h.lanes(_mm256_sll_epi32(a.i(), by));
     h.lanes(_mm256_srl_epi32(a.i(), by)); h.lanes(_mm256_sra_epi32(a.i(), by)); h.lanes(_mm256_srl_epi16(a.i(), by));
     h.lanes(_mm256_sra_epi16(a.i(), by)); h.lanes4(_mm_sll_epi32(a.i4(), by)); h.lanes4(_mm_srl_epi32(a.i4(), by)));
  OF("shifts", h.lanes(_mm256_slli_epi16(a.i(), 5)); h.lanes(_mm256_slli_epi32(a.i(), 7)); h.lanes(_mm256_srai_epi16(a.i(), 5));
     h.lanes(_mm256_srai_epi32(a.i(), 31)); h.lanes(_mm256_srli_epi16(a.i(), 8)); h.lanes(_mm256_srli_epi32(a.i(), 9));
     h.lanes(_mm256_srli_epi64(a.i(), 32)));
  OF("test", h(_mm256_testc_si256(a.i(), b.i())); h(_mm256_testz_si256(a.i(), b.i())); h(_mm_testc_si128(a.i4(), a.i4()));
     h(_mm_testz_si128(a.i4(), b.i4())); h(_mm256_testz_si256(a.i(), _mm256_setzero_si256())));
  OF("unpack", h.lanes(_mm256_unpacklo_epi8(a.i(), b.i())); h.lanes(_mm256_unpackhi_epi8(a.i(), b.i()));
     h.lanes(_mm256_unpacklo_epi16(a.i(), b.i())); h.lanes(_mm256_unpackhi_epi16(a.i(), b.i()));
     h.lanes4(_mm_unpacklo_epi32(a.i4(), b.i4())); h.lanes4(_mm_unpackhi_epi32(a.i4(), b.i4()));
     h.lanes4(_mm_unpacklo_epi64(a.i4(), b.i4())); h.lanes4(_mm_unpackhi_epi64(a.i4(), b.i4())));
  OF("i32gather_ps", const __m256i at = _mm256_srli_epi32(b.i(), 29);
     h.lanes(_mm256_i32gather_ps(reinterpret_cast<const float*>(a.words.data()), at, 4)));
  OF("maskstore_epi32", alignas(16) int32_t to[4] = {1, 2, 3, 4}; _mm_maskstore_epi32(to, c.i4(), a.i4()); for (int32_t w : to) h(w));
  OF("pdep, pext", const uint64_t x = a.words[0] | uint64_t{a.words[1]} << 32, m = b.words[0] | uint64_t{b.words[1]} << 32;
     h(static_cast<uint64_t>(_pdep_u64(x, m))); h(static_cast<uint64_t>(_pext_u64(x, m))));
}

void hash_core(Hashes& out, const std::vector<Operand>& operands) {
  OF("ends", const Ends e = ends((i32x8)a.i(), (i32x8)b.i()); h(e.least); h(e.most); h(smallest((i32x8)a.i())); h(largest((i32x8)a.i())));
  OF("clamp", h.lanes((__m256)clamp((f32x8)a.f(), -0.0f, 1.0f)); h.lanes4((__m128)clamp((f32x4)a.f4(), 0.0f, 1.0f)));
  OF("expand", h.lanes((__m256i)expand8(a.words[0] & 0xff)); h.lanes4((__m128i)expand4(a.words[0] & 0xf)));
  OF("sign_bits", h(sign_bits((i32x8)a.i())); h(sign_bits((i32x4)a.i4())));
}

#undef OF

const Hashes kExpected = {
    {"add", 0x64b4c30d46bf68cbu},
    {"add_pd", 0x666702edd21f0a57u},
    {"add_ps", 0x3c3ed008fbbb76bbu},
    {"add_ps 4", 0x81ff180bc2b4c0e1u},
    {"blend_epi32", 0x3524dfdf398e1b01u},
    {"blendv_epi8", 0xce61b2b59737576eu},
    {"blendv_ps", 0x7446f7d95f167c8du},
    {"clamp", 0x3d4751cfd35bbc03u},
    {"cmp_ps", 0x9c9db02a33724d59u},
    {"cmpgt", 0xc2563e84a7c7d84bu},
    {"cvtepi32_pd", 0x97000edfa4bd20edu},
    {"cvtepi32_ps", 0xfd6bf4bd339da6a2u},
    {"cvtepu", 0x73369b8000d3a97au},
    {"cvtpd_epi32", 0xff11b881c43b2b49u},
    {"cvtpd_epi32 of floats", 0x3506ba0dcd36b188u},
    {"cvtpd_ps", 0x641900791d2264c1u},
    {"cvtpd_ps of products", 0xc95dc71482a24ac1u},
    {"cvtph_ps", 0x9edac820c15ecbe5u},
    {"cvtps_epi32", 0xb56b982e1717cdebu},
    {"cvtps_pd", 0x0e910527a17c1da4u},
    {"cvtps_ph", 0xf9f8fc6d47ad42f5u},
    {"cvtsd_si64", 0x4e18c293cc788af0u},
    {"cvttps_epi32", 0x593ee009ff06e60au},
    {"div_ps 4", 0xed5d6ee565361146u},
    {"ends", 0xefb82b53fb1f2ab0u},
    {"expand", 0xd943bd98c8122f54u},
    {"fmadd_ps", 0xb8e5374a402178b3u},
    {"fmadd_ps 4", 0x7980b4abcbf1b20fu},
    {"i32gather_ps", 0x448bcc360ff5f952u},
    {"insertf128_ps", 0x4467ac83bea3f12eu},
    {"loadh_pi", 0x3bd801b4cd99fb2du},
    {"logic", 0x8e29e9b91caa76a9u},
    {"madd_epi16", 0x5183c10db4eb408du},
    {"maskstore_epi32", 0x21010a94a84be7adu},
    {"max", 0x920a4aa75146e425u},
    {"max_ps", 0xa0ac9b7ba373b399u},
    {"max_ps 4", 0x75a390a05d6a6e52u},
    {"min", 0x2f76b446724a83d5u},
    {"min_ps", 0x642d2e6da8e3fc2fu},
    {"min_ps 4", 0x17003e6d58f7eb7bu},
    {"movemask_epi8", 0x8433995cd683d64du},
    {"movemask_ps", 0xc49ea97cbdfe5cc1u},
    {"mul_epi32", 0xe3d4f007fe9c2d0au},
    {"mul_pd", 0xcfa1bf0da94b1c87u},
    {"mul_ps", 0x6da8f2e7fd2b3c60u},
    {"mul_ps 4", 0xc95dc71482a24ac1u},
    {"packs", 0xd9d4ab2555cd3386u},
    {"packus", 0x0f1c463426722473u},
    {"pdep, pext", 0x12e7b54a35f35a87u},
    {"permute", 0x14f32fa52e248b85u},
    {"permute2f128_ps", 0x8b575db32febff07u},
    {"sad_epu8", 0x337d8b2be39b0b80u},
    {"shifts", 0x1e4df09be4cdf38au},
    {"shifts by a register", 0x6a7925c3fd9ef8b4u},
    {"shuffle", 0x840ad3eb8ba22148u},
    {"shuffle_ps", 0xee291048d09a54b1u},
    {"shuffle_ps 4", 0x6c25c26597c66851u},
    {"sign_bits", 0xc49ea97cbdfe5cc1u},
    {"sub", 0x9040748750bf977du},
    {"sub_pd", 0xd5a65c5021965f83u},
    {"sub_ps 4", 0x2caebd381791ca2cu},
    {"test", 0x93af0d45dd70731du},
    {"to_unorm", 0x399370b34168a5ccu},
    {"unpack", 0xb08dad0ce9bddeb7u},
    {"unpack_ps", 0x57fb0aba119cc49du},
};

void test_float_control() {
  const FloatControl before = float_control();
  {
    const DefaultFloats floats;
    volatile float tiny = 0x1p-140f;
    CHECK(float_control() == kDefaultFloatControl && tiny * 0.5f != 0);
  }
  CHECK(float_control() == before);
}

void test_fill() {
  uint8_t bytes[40] = {};
  fill_words(bytes + 3, 0x0807060504030201u, 4);
  for (uint32_t k = 0; k < sizeof bytes; ++k) CHECK(bytes[k] == (k < 3 || k >= 35 ? 0 : (k - 3) % 8 + 1));
}

}  // namespace

int main(int argc, char**) {
  const std::vector<Operand> operands = make_operands();
  Hashes found;
  hash_floats(found, operands);
  hash_conversions(found, operands);
  hash_integers(found, operands);
  hash_core(found, operands);
  if (argc > 1)  // what the table is made of, on x86-64
    for (const auto& [name, hash] : found) std::printf("    {\"%s\", 0x%016llxu},\n", name.c_str(), static_cast<unsigned long long>(hash));
  CHECK(found.size() == kExpected.size());
  for (const auto& [name, hash] : kExpected) CHECK(found.count(name) && found.at(name) == hash, "%s", name.c_str());
  test_float_control();
  test_fill();
  return test::finish("intrinsics");
}
