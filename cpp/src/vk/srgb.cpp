// vk/srgb.cpp -- sRGB transfer function as tables: 8 bits to linear float (correctly rounded), and back (round to nearest).
//
// In: 8-bit codes or linear floats. Out: linear floats or codes. Source: Vulkan specification, "sRGB EOTF"; the tables were computed
// with 60 decimal digits. The way back guesses by linear interpolation in 1/8 octaves (never off by more than one) and
// corrects the guess against the exact thresholds, so that the result is the nearest code for every float.
#include "vk/format.hpp"

#include <bit>
#include <cassert>

namespace tilegpu::vk {

const float kSrgbToLinear[256] = {
    0x0.0p+0f,      0x1.3e4568p-12f, 0x1.3e4568p-11f, 0x1.dd681cp-11f, 0x1.3e4568p-10f, 0x1.8dd6c2p-10f, 0x1.dd681cp-10f, 0x1.167cbap-9f,
    0x1.3e4568p-9f, 0x1.660e14p-9f,  0x1.8dd6c2p-9f,  0x1.b6a31cp-9f,  0x1.e1e31ep-9f,  0x1.07c38cp-8f,  0x1.1fcc2cp-8f,  0x1.390ffap-8f,
    0x1.53936cp-8f, 0x1.6f5adep-8f,  0x1.8c6a94p-8f,  0x1.aac6c0p-8f,  0x1.ca7382p-8f,  0x1.eb74e2p-8f,  0x1.06e76cp-7f,  0x1.18c2a6p-7f,
    0x1.2b4e0ap-7f, 0x1.3e8b7cp-7f,  0x1.527cd6p-7f,  0x1.6723eep-7f,  0x1.7c8292p-7f,  0x1.929a88p-7f,  0x1.a96d92p-7f,  0x1.c0fd68p-7f,
    0x1.d94bbep-7f, 0x1.f25a44p-7f,  0x1.061552p-6f,  0x1.135f3ep-6f,  0x1.210bb8p-6f,  0x1.2f1b8cp-6f,  0x1.3d8f84p-6f,  0x1.4c6866p-6f,
    0x1.5ba6fap-6f, 0x1.6b4c04p-6f,  0x1.7b5842p-6f,  0x1.8bcc74p-6f,  0x1.9ca958p-6f,  0x1.adefaap-6f,  0x1.bfa020p-6f,  0x1.d1bb74p-6f,
    0x1.e4425ap-6f, 0x1.f73586p-6f,  0x1.054ad4p-5f,  0x1.0f31bap-5f,  0x1.194fccp-5f,  0x1.23a55ep-5f,  0x1.2e32c8p-5f,  0x1.38f860p-5f,
    0x1.43f678p-5f, 0x1.4f2d64p-5f,  0x1.5a9d76p-5f,  0x1.664702p-5f,  0x1.722a56p-5f,  0x1.7e47c8p-5f,  0x1.8a9fa4p-5f,  0x1.97323ap-5f,
    0x1.a3ffd8p-5f, 0x1.b108d0p-5f,  0x1.be4d6cp-5f,  0x1.cbcdfap-5f,  0x1.d98ac6p-5f,  0x1.e7841cp-5f,  0x1.f5ba48p-5f,  0x1.0216cap-4f,
    0x1.096f26p-4f, 0x1.10e65cp-4f,  0x1.187c90p-4f,  0x1.2031e8p-4f,  0x1.280688p-4f,  0x1.2ffa92p-4f,  0x1.380e2ap-4f,  0x1.404174p-4f,
    0x1.489494p-4f, 0x1.5107acp-4f,  0x1.599adep-4f,  0x1.624e4ep-4f,  0x1.6b221ep-4f,  0x1.741670p-4f,  0x1.7d2b66p-4f,  0x1.866120p-4f,
    0x1.8fb7c0p-4f, 0x1.992f68p-4f,  0x1.a2c83ap-4f,  0x1.ac8256p-4f,  0x1.b65ddcp-4f,  0x1.c05aecp-4f,  0x1.ca79a8p-4f,  0x1.d4ba30p-4f,
    0x1.df1ca2p-4f, 0x1.e9a120p-4f,  0x1.f447cap-4f,  0x1.ff10bcp-4f,  0x1.04fe0cp-3f,  0x1.0a84fep-3f,  0x1.101d44p-3f,  0x1.15c6eep-3f,
    0x1.1b8208p-3f, 0x1.214ea6p-3f,  0x1.272cd4p-3f,  0x1.2d1ca2p-3f,  0x1.331e1ep-3f,  0x1.393158p-3f,  0x1.3f5660p-3f,  0x1.458d42p-3f,
    0x1.4bd60ep-3f, 0x1.5230d4p-3f,  0x1.589da0p-3f,  0x1.5f1c84p-3f,  0x1.65ad8ap-3f,  0x1.6c50c4p-3f,  0x1.73063ep-3f,  0x1.79ce06p-3f,
    0x1.80a82ep-3f, 0x1.8794c0p-3f,  0x1.8e93ccp-3f,  0x1.95a55ep-3f,  0x1.9cc986p-3f,  0x1.a40052p-3f,  0x1.ab49cep-3f,  0x1.b2a60ap-3f,
    0x1.ba1512p-3f, 0x1.c196f4p-3f,  0x1.c92bbep-3f,  0x1.d0d37cp-3f,  0x1.d88e3ep-3f,  0x1.e05c0ep-3f,  0x1.e83cfcp-3f,  0x1.f03116p-3f,
    0x1.f83866p-3f, 0x1.00297ep-2f,  0x1.044072p-2f,  0x1.086116p-2f,  0x1.0c8b70p-2f,  0x1.10bf86p-2f,  0x1.14fd60p-2f,  0x1.194502p-2f,
    0x1.1d9676p-2f, 0x1.21f1bep-2f,  0x1.2656e4p-2f,  0x1.2ac5ecp-2f,  0x1.2f3edep-2f,  0x1.33c1c0p-2f,  0x1.384e98p-2f,  0x1.3ce56cp-2f,
    0x1.418642p-2f, 0x1.463120p-2f,  0x1.4ae60ep-2f,  0x1.4fa510p-2f,  0x1.546e2cp-2f,  0x1.59416cp-2f,  0x1.5e1ed0p-2f,  0x1.630664p-2f,
    0x1.67f82ap-2f, 0x1.6cf428p-2f,  0x1.71fa68p-2f,  0x1.770aecp-2f,  0x1.7c25bcp-2f,  0x1.814adcp-2f,  0x1.867a54p-2f,  0x1.8bb428p-2f,
    0x1.90f860p-2f, 0x1.964700p-2f,  0x1.9ba010p-2f,  0x1.a10394p-2f,  0x1.a67192p-2f,  0x1.abea10p-2f,  0x1.b16d14p-2f,  0x1.b6faa4p-2f,
    0x1.bc92c6p-2f, 0x1.c2357ep-2f,  0x1.c7e2d2p-2f,  0x1.cd9acap-2f,  0x1.d35d6ap-2f,  0x1.d92ab6p-2f,  0x1.df02b8p-2f,  0x1.e4e570p-2f,
    0x1.ead2e8p-2f, 0x1.f0cb26p-2f,  0x1.f6ce2cp-2f,  0x1.fcdc00p-2f,  0x1.017a56p-1f,  0x1.048c18p-1f,  0x1.07a34ap-1f,  0x1.0abfeep-1f,
    0x1.0de208p-1f, 0x1.11099ap-1f,  0x1.1436a8p-1f,  0x1.176932p-1f,  0x1.1aa13ep-1f,  0x1.1ddecap-1f,  0x1.2121dep-1f,  0x1.246a7ap-1f,
    0x1.27b8a0p-1f, 0x1.2b0c54p-1f,  0x1.2e6598p-1f,  0x1.31c46ep-1f,  0x1.3528dcp-1f,  0x1.3892e0p-1f,  0x1.3c0280p-1f,  0x1.3f77bcp-1f,
    0x1.42f29ap-1f, 0x1.467318p-1f,  0x1.49f93ep-1f,  0x1.4d850ap-1f,  0x1.511682p-1f,  0x1.54ada4p-1f,  0x1.584a78p-1f,  0x1.5becfep-1f,
    0x1.5f9538p-1f, 0x1.634328p-1f,  0x1.66f6d4p-1f,  0x1.6ab03ap-1f,  0x1.6e6f60p-1f,  0x1.723448p-1f,  0x1.75fef4p-1f,  0x1.79cf64p-1f,
    0x1.7da59ep-1f, 0x1.8181a4p-1f,  0x1.856378p-1f,  0x1.894b1cp-1f,  0x1.8d3892p-1f,  0x1.912bdep-1f,  0x1.952500p-1f,  0x1.9923fep-1f,
    0x1.9d28d8p-1f, 0x1.a13392p-1f,  0x1.a5442cp-1f,  0x1.a95aacp-1f,  0x1.ad7710p-1f,  0x1.b1995ep-1f,  0x1.b5c198p-1f,  0x1.b9efbep-1f,
    0x1.be23d4p-1f, 0x1.c25ddep-1f,  0x1.c69ddcp-1f,  0x1.cae3d2p-1f,  0x1.cf2fc0p-1f,  0x1.d381aap-1f,  0x1.d7d994p-1f,  0x1.dc377ep-1f,
    0x1.e09b6ap-1f, 0x1.e5055cp-1f,  0x1.e97556p-1f,  0x1.edeb5cp-1f,  0x1.f2676cp-1f,  0x1.f6e98cp-1f,  0x1.fb71bcp-1f,  0x1.000000p+0f,
};

const float kLinearToSrgbThreshold[257] = {
    0x0.0p+0f,        0x1.3e4568p-13f, 0x1.dd681cp-12f, 0x1.8dd6c2p-11f, 0x1.167cbcp-10f, 0x1.660e16p-10f, 0x1.b59f70p-10f, 0x1.029866p-9f,
    0x1.2a6112p-9f,   0x1.5229bep-9f,  0x1.79f26cp-9f,  0x1.a1e5a2p-9f,  0x1.cbf736p-9f,  0x1.f86806p-9f,  0x1.13a0c0p-8f,  0x1.2c4666p-8f,
    0x1.46297ap-8f,   0x1.614e62p-8f,  0x1.7db96ep-8f,  0x1.9b6edap-8f,  0x1.ba72cep-8f,  0x1.dac95ep-8f,  0x1.fc768cp-8f,  0x1.0fbf22p-7f,
    0x1.21f236p-7f,   0x1.34d664p-7f,  0x1.486d90p-7f,  0x1.5cb98ep-7f,  0x1.71bc34p-7f,  0x1.877748p-7f,  0x1.9dec90p-7f,  0x1.b51dc8p-7f,
    0x1.cd0ca8p-7f,   0x1.e5bae2p-7f,  0x1.ff2a1ep-7f,  0x1.0cae04p-6f,  0x1.1a291ep-6f,  0x1.28072cp-6f,  0x1.3648f8p-6f,  0x1.44ef4cp-6f,
    0x1.53faf0p-6f,   0x1.636ca6p-6f,  0x1.734530p-6f,  0x1.838552p-6f,  0x1.942dc6p-6f,  0x1.a53f48p-6f,  0x1.b6ba96p-6f,  0x1.c8a064p-6f,
    0x1.daf16ap-6f,   0x1.edae5cp-6f,  0x1.006bf8p-5f,  0x1.0a3768p-5f,  0x1.1439d8p-5f,  0x1.1e73a0p-5f,  0x1.28e514p-5f,  0x1.338e8ap-5f,
    0x1.3e7058p-5f,   0x1.498acep-5f,  0x1.54de44p-5f,  0x1.606b08p-5f,  0x1.6c316ep-5f,  0x1.7831c8p-5f,  0x1.846c64p-5f,  0x1.90e194p-5f,
    0x1.9d91a4p-5f,   0x1.aa7ce6p-5f,  0x1.b7a3a6p-5f,  0x1.c50630p-5f,  0x1.d2a4d4p-5f,  0x1.e07fdcp-5f,  0x1.ee9794p-5f,  0x1.fcec48p-5f,
    0x1.05bf20p-4f,   0x1.0d26e4p-4f,  0x1.14ad96p-4f,  0x1.1c5356p-4f,  0x1.24184ep-4f,  0x1.2bfc9ep-4f,  0x1.34006ap-4f,  0x1.3c23d8p-4f,
    0x1.446708p-4f,   0x1.4cca20p-4f,  0x1.554d40p-4f,  0x1.5df08ep-4f,  0x1.66b42ap-4f,  0x1.6f9836p-4f,  0x1.789cd6p-4f,  0x1.81c228p-4f,
    0x1.8b0852p-4f,   0x1.946f72p-4f,  0x1.9df7acp-4f,  0x1.a7a11ep-4f,  0x1.b16beap-4f,  0x1.bb5832p-4f,  0x1.c56614p-4f,  0x1.cf95b2p-4f,
    0x1.d9e72ap-4f,   0x1.e45aa0p-4f,  0x1.eef02ep-4f,  0x1.f9a7f8p-4f,  0x1.02410ep-3f,  0x1.07bf5cp-3f,  0x1.0d4ef6p-3f,  0x1.12efecp-3f,
    0x1.18a24cp-3f,   0x1.1e6628p-3f,  0x1.243b8ap-3f,  0x1.2a2286p-3f,  0x1.301b2ap-3f,  0x1.362584p-3f,  0x1.3c41a2p-3f,  0x1.426f96p-3f,
    0x1.48af6cp-3f,   0x1.4f0132p-3f,  0x1.5564fap-3f,  0x1.5bdad0p-3f,  0x1.6262c2p-3f,  0x1.68fce0p-3f,  0x1.6fa938p-3f,  0x1.7667d8p-3f,
    0x1.7d38cep-3f,   0x1.841c2ap-3f,  0x1.8b11f6p-3f,  0x1.921a44p-3f,  0x1.993520p-3f,  0x1.a06298p-3f,  0x1.a7a2bap-3f,  0x1.aef594p-3f,
    0x1.b65b34p-3f,   0x1.bdd3a8p-3f,  0x1.c55efcp-3f,  0x1.ccfd3ep-3f,  0x1.d4ae7cp-3f,  0x1.dc72c4p-3f,  0x1.e44a22p-3f,  0x1.ec34a4p-3f,
    0x1.f43258p-3f,   0x1.fc434ap-3f,  0x1.0233c4p-2f,  0x1.064f8ep-2f,  0x1.0a750cp-2f,  0x1.0ea444p-2f,  0x1.12dd3ap-2f,  0x1.171ff8p-2f,
    0x1.1b6c82p-2f,   0x1.1fc2e0p-2f,  0x1.242316p-2f,  0x1.288d2cp-2f,  0x1.2d012ap-2f,  0x1.317f12p-2f,  0x1.3606eep-2f,  0x1.3a98c4p-2f,
    0x1.3f3498p-2f,   0x1.43da70p-2f,  0x1.488a56p-2f,  0x1.4d444cp-2f,  0x1.52085cp-2f,  0x1.56d688p-2f,  0x1.5baedap-2f,  0x1.609154p-2f,
    0x1.657e00p-2f,   0x1.6a74e2p-2f,  0x1.6f7600p-2f,  0x1.748162p-2f,  0x1.79970ap-2f,  0x1.7eb702p-2f,  0x1.83e14ep-2f,  0x1.8915f2p-2f,
    0x1.8e54f8p-2f,   0x1.939e64p-2f,  0x1.98f23cp-2f,  0x1.9e5084p-2f,  0x1.a3b944p-2f,  0x1.a92c82p-2f,  0x1.aeaa42p-2f,  0x1.b4328cp-2f,
    0x1.b9c564p-2f,   0x1.bf62d0p-2f,  0x1.c50ad4p-2f,  0x1.cabd7ap-2f,  0x1.d07ac6p-2f,  0x1.d642bap-2f,  0x1.dc1562p-2f,  0x1.e1f2bep-2f,
    0x1.e7dad6p-2f,   0x1.edcdb0p-2f,  0x1.f3cb50p-2f,  0x1.f9d3bcp-2f,  0x1.ffe6fcp-2f,  0x1.03028ap-1f,  0x1.061704p-1f,  0x1.0930eep-1f,
    0x1.0c504ep-1f,   0x1.0f7524p-1f,  0x1.129f72p-1f,  0x1.15cf3ep-1f,  0x1.190488p-1f,  0x1.1c3f54p-1f,  0x1.1f7fa4p-1f,  0x1.22c57cp-1f,
    0x1.2610dcp-1f,   0x1.2961c8p-1f,  0x1.2cb844p-1f,  0x1.301452p-1f,  0x1.3375f4p-1f,  0x1.36dd2cp-1f,  0x1.3a49fep-1f,  0x1.3dbc6cp-1f,
    0x1.413478p-1f,   0x1.44b226p-1f,  0x1.483578p-1f,  0x1.4bbe70p-1f,  0x1.4f4d12p-1f,  0x1.52e15ep-1f,  0x1.567b5ap-1f,  0x1.5a1b06p-1f,
    0x1.5dc064p-1f,   0x1.616b7ap-1f,  0x1.651c48p-1f,  0x1.68d2d0p-1f,  0x1.6c8f16p-1f,  0x1.70511ep-1f,  0x1.7418e6p-1f,  0x1.77e674p-1f,
    0x1.7bb9cap-1f,   0x1.7f92eap-1f,  0x1.8371d6p-1f,  0x1.875690p-1f,  0x1.8b411ep-1f,  0x1.8f317ep-1f,  0x1.9327b6p-1f,  0x1.9723c6p-1f,
    0x1.9b25b0p-1f,   0x1.9f2d7ap-1f,  0x1.a33b24p-1f,  0x1.a74eb0p-1f,  0x1.ab6822p-1f,  0x1.af877cp-1f,  0x1.b3acbep-1f,  0x1.b7d7eep-1f,
    0x1.bc090cp-1f,   0x1.c0401cp-1f,  0x1.c47d20p-1f,  0x1.c8c018p-1f,  0x1.cd090ap-1f,  0x1.d157f6p-1f,  0x1.d5ace0p-1f,  0x1.da07cap-1f,
    0x1.de68b4p-1f,   0x1.e2cfa4p-1f,  0x1.e73c9ap-1f,  0x1.ebaf98p-1f,  0x1.f028a2p-1f,  0x1.f4a7bap-1f,  0x1.f92ce2p-1f,  0x1.fdb81cp-1f,
    __builtin_inff(),
};

const float kLinearToSrgbBase[104] = {
    0.902172852f, 0.952444458f, 1.00271606f, 1.05298767f, 1.10325928f, 1.15353088f, 1.20380249f, 1.2540741f,  1.3043457f,  1.40488892f,
    1.50543213f,  1.60597534f,  1.70651855f, 1.80706177f, 1.90760498f, 2.00814819f, 2.10869141f, 2.30977783f, 2.51086426f, 2.71195068f,
    2.91303711f,  3.11412354f,  3.31520996f, 3.51629639f, 3.71738281f, 4.11955566f, 4.52172852f, 4.92390137f, 5.32607422f, 5.72824707f,
    6.13041992f,  6.53259277f,  6.93476562f, 7.73911133f, 8.54345703f, 9.34780273f, 10.1521484f, 10.9535521f, 11.7211995f, 12.4574851f,
    13.1656605f,  14.5082127f,  15.7662896f, 16.9529285f, 18.0781723f, 19.1499469f, 20.1746333f, 21.1574566f, 22.1027574f, 23.8948496f,
    25.5741808f,  27.1581536f,  28.6601739f, 30.0908213f, 31.4586136f, 32.7705253f, 34.0323505f, 36.4245065f, 38.6661448f, 40.7804948f,
    42.7854514f,  44.6951366f,  46.5209202f, 48.2721122f, 49.9564467f, 53.149592f,  56.1418201f, 58.9641388f, 61.6404347f, 64.1895586f,
    66.6266873f,  68.9642483f,  71.2125651f, 75.4749027f, 79.469048f,  83.2363914f, 86.808818f,  90.2114901f, 93.4646666f, 96.5849361f,
    99.5860791f,  105.275617f,  110.607161f, 115.635962f, 120.404579f, 124.946601f, 129.289071f, 133.454131f, 137.460176f, 145.054798f,
    152.171556f,  158.884199f,  165.24954f,  171.312412f, 177.108914f, 182.668602f, 188.016031f, 198.153635f, 207.653367f, 216.61367f,
    225.11038f,   233.203344f,  240.940746f, 248.362039f,
};

const float kLinearToSrgbSlope[104] = {
    4.79427399e-08f, 4.79427399e-08f, 4.79427399e-08f, 4.79427399e-08f, 4.79427399e-08f, 4.79427399e-08f, 4.79427399e-08f, 4.79427399e-08f,
    9.58854798e-08f, 9.58854798e-08f, 9.58854798e-08f, 9.58854798e-08f, 9.58854798e-08f, 9.58854798e-08f, 9.58854798e-08f, 9.58854798e-08f,
    1.9177096e-07f,  1.9177096e-07f,  1.9177096e-07f,  1.9177096e-07f,  1.9177096e-07f,  1.9177096e-07f,  1.9177096e-07f,  1.9177096e-07f,
    3.83541919e-07f, 3.83541919e-07f, 3.83541919e-07f, 3.83541919e-07f, 3.83541919e-07f, 3.83541919e-07f, 3.83541919e-07f, 3.83541919e-07f,
    7.67083839e-07f, 7.67083839e-07f, 7.67083839e-07f, 7.67083839e-07f, 7.64278057e-07f, 7.32085653e-07f, 7.02176625e-07f, 6.75368722e-07f,
    1.28035755e-06f, 1.19979567e-06f, 1.13166697e-06f, 1.07311616e-06f, 1.02212387e-06f, 9.77217106e-07f, 9.37293343e-07f, 9.01509087e-07f,
    1.70907229e-06f, 1.60153507e-06f, 1.51059418e-06f, 1.43243821e-06f, 1.36437167e-06f, 1.30442834e-06f, 1.25113651e-06f, 1.20337026e-06f,
    2.2813378e-06f,  2.13779284e-06f, 2.01640131e-06f, 1.91207562e-06f, 1.82121768e-06f, 1.74120293e-06f, 1.67006688e-06f, 1.60630658e-06f,
    3.04522062e-06f, 2.85361109e-06f, 2.69157283e-06f, 2.55231474e-06f, 2.43103395e-06f, 2.32422707e-06f, 2.22927183e-06f, 2.14416204e-06f,
    4.06488185e-06f, 3.80911381e-06f, 3.59281868e-06f, 3.40693143e-06f, 3.245041e-06f,   3.10247092e-06f, 2.97572088e-06f, 2.86211295e-06f,
    5.42596629e-06f, 5.08455692e-06f, 4.79583757e-06f, 4.54770786e-06f, 4.33161005e-06f, 4.14130184e-06f, 3.97211082e-06f, 3.82046243e-06f,
    7.24279605e-06f, 6.78706922e-06f, 6.40167512e-06f, 6.07046169e-06f, 5.78200573e-06f, 5.52797474e-06f, 5.30213183e-06f, 5.09970551e-06f,
    9.66797283e-06f, 9.05965048e-06f, 8.54521109e-06f, 8.1030942e-06f,  7.71805169e-06f, 7.37896099e-06f, 7.07749688e-06f, 6.80729016e-06f,
};

float srgb_to_linear(uint8_t value) { return kSrgbToLinear[value]; }

uint8_t linear_to_srgb(float value) {
  // NaN fails the first comparison and becomes code 0.
  const float low = value > 0x1p-13f ? value : 0x1p-13f;
  const float clamped = low < 0x1.fffffep-1f ? low : 0x1.fffffep-1f;
  const uint32_t bits = std::bit_cast<uint32_t>(clamped);
  const uint32_t bucket = (bits >> 20) - 912;
  int code = static_cast<int>(kLinearToSrgbBase[bucket] + static_cast<float>(bits & 0xfffff) * kLinearToSrgbSlope[bucket]);
  assert(bucket < 104 && code >= 0 && code <= 255);
  code -= clamped < kLinearToSrgbThreshold[code];
  code += clamped >= kLinearToSrgbThreshold[code + 1];
  return static_cast<uint8_t>(code);
}

}  // namespace tilegpu::vk
