// vk/srgb.cpp -- sRGB transfer function as tables: 8 bits to linear float, and back (round to nearest).
//
// In: 8-bit codes or linear floats. Out: linear floats or codes. Source: Vulkan specification, "sRGB EOTF". The way there is defined as
// a polynomial of the code (kSrgbPolynomial), within 0.0013 of a code's step of the specification's curve, so that vectors decode without
// a table (a look-up by lane is 16 loads; sampling sRGB took 4 times as long as UNORM); the table has its values. Thresholds of the way
// back were computed with 60 decimal digits. It guesses by linear interpolation in 1/8 octaves (never off by more than one) and
// corrects the guess against the exact thresholds, so that the result is the nearest code for every float.
#include "vk/format.hpp"

#include <bit>
#include <cassert>

namespace tilegpu::vk {

const float kSrgbToLinear[256] = {
    0x0.0p+0f,      0x1.3e4568p-12f, 0x1.3e4568p-11f, 0x1.dd681cp-11f, 0x1.3e4568p-10f, 0x1.8dd6c2p-10f, 0x1.dd681cp-10f, 0x1.167cbcp-9f,
    0x1.3e4568p-9f, 0x1.660e14p-9f,  0x1.8dd6c2p-9f,  0x1.b6afaep-9f,  0x1.e1e41cp-9f,  0x1.07c02ap-8f,  0x1.1fc678p-8f,  0x1.390934p-8f,
    0x1.538c94p-8f, 0x1.6f54b8p-8f,  0x1.8c65aep-8f,  0x1.aac384p-8f,  0x1.ca722ep-8f,  0x1.eb7598p-8f,  0x1.06e8d2p-7f,  0x1.18c50ep-7f,
    0x1.2b5166p-7f, 0x1.3e8fb4p-7f,  0x1.5281d0p-7f,  0x1.67298ap-7f,  0x1.7c88aep-7f,  0x1.92a0fep-7f,  0x1.a9743ep-7f,  0x1.c10426p-7f,
    0x1.d9526ap-7f, 0x1.f260bcp-7f,  0x1.061862p-6f,  0x1.136214p-6f,  0x1.210e46p-6f,  0x1.2f1dc4p-6f,  0x1.3d915ap-6f,  0x1.4c69d2p-6f,
    0x1.5ba7f2p-6f, 0x1.6b4c80p-6f,  0x1.7b5840p-6f,  0x1.8bcbf0p-6f,  0x1.9ca84ep-6f,  0x1.adee18p-6f,  0x1.bf9e0ep-6f,  0x1.d1b8dcp-6f,
    0x1.e43f44p-6f, 0x1.f731f8p-6f,  0x1.0548d4p-5f,  0x1.0f2f84p-5f,  0x1.194d64p-5f,  0x1.23a2c8p-5f,  0x1.2e300ap-5f,  0x1.38f57cp-5f,
    0x1.43f378p-5f, 0x1.4f2a4ap-5f,  0x1.5a9a4cp-5f,  0x1.6643ccp-5f,  0x1.72271cp-5f,  0x1.7e448cp-5f,  0x1.8a9c70p-5f,  0x1.972f14p-5f,
    0x1.a3fcc6p-5f, 0x1.b105d8p-5f,  0x1.be4a94p-5f,  0x1.cbcb48p-5f,  0x1.d9883ep-5f,  0x1.e781c6p-5f,  0x1.f5b82ap-5f,  0x1.0215d8p-4f,
    0x1.096e54p-4f, 0x1.10e5acp-4f,  0x1.187c02p-4f,  0x1.203180p-4f,  0x1.280646p-4f,  0x1.2ffa78p-4f,  0x1.380e3ap-4f,  0x1.4041b0p-4f,
    0x1.4894fcp-4f, 0x1.51083ep-4f,  0x1.599b9cp-4f,  0x1.624f38p-4f,  0x1.6b2334p-4f,  0x1.7417b0p-4f,  0x1.7d2cd2p-4f,  0x1.8662b4p-4f,
    0x1.8fb97cp-4f, 0x1.99314ep-4f,  0x1.a2ca44p-4f,  0x1.ac8484p-4f,  0x1.b6602ep-4f,  0x1.c05d60p-4f,  0x1.ca7c38p-4f,  0x1.d4bcdep-4f,
    0x1.df1f6ap-4f, 0x1.e9a3fep-4f,  0x1.f44abcp-4f,  0x1.ff13c0p-4f,  0x1.04ff96p-3f,  0x1.0a868ep-3f,  0x1.101ed8p-3f,  0x1.15c884p-3f,
    0x1.1b83a0p-3f, 0x1.21503cp-3f,  0x1.272e6ap-3f,  0x1.2d1e34p-3f,  0x1.331fa8p-3f,  0x1.3932dcp-3f,  0x1.3f57dap-3f,  0x1.458eb2p-3f,
    0x1.4bd772p-3f, 0x1.523228p-3f,  0x1.589ee6p-3f,  0x1.5f1db8p-3f,  0x1.65aeaap-3f,  0x1.6c51d2p-3f,  0x1.730736p-3f,  0x1.79ceeap-3f,
    0x1.80a8f8p-3f, 0x1.879570p-3f,  0x1.8e9460p-3f,  0x1.95a5dap-3f,  0x1.9cc9e6p-3f,  0x1.a40094p-3f,  0x1.ab49f2p-3f,  0x1.b2a60ep-3f,
    0x1.ba14f8p-3f, 0x1.c196bap-3f,  0x1.c92b64p-3f,  0x1.d0d300p-3f,  0x1.d88da2p-3f,  0x1.e05b54p-3f,  0x1.e83c22p-3f,  0x1.f0301ap-3f,
    0x1.f8374cp-3f, 0x1.0028e2p-2f,  0x1.043fc6p-2f,  0x1.08605ap-2f,  0x1.0c8aa6p-2f,  0x1.10beaep-2f,  0x1.14fc7ap-2f,  0x1.19440ep-2f,
    0x1.1d9576p-2f, 0x1.21f0b2p-2f,  0x1.2655ccp-2f,  0x1.2ac4cep-2f,  0x1.2f3db4p-2f,  0x1.33c08cp-2f,  0x1.384d5ep-2f,  0x1.3ce42ap-2f,
    0x1.4184fap-2f, 0x1.462fd4p-2f,  0x1.4ae4bcp-2f,  0x1.4fa3bep-2f,  0x1.546cdap-2f,  0x1.594018p-2f,  0x1.5e1d7ep-2f,  0x1.630512p-2f,
    0x1.67f6dcp-2f, 0x1.6cf2dep-2f,  0x1.71f924p-2f,  0x1.7709aep-2f,  0x1.7c2484p-2f,  0x1.8149b0p-2f,  0x1.867932p-2f,  0x1.8bb310p-2f,
    0x1.90f758p-2f, 0x1.964606p-2f,  0x1.9b9f26p-2f,  0x1.a102b8p-2f,  0x1.a670c6p-2f,  0x1.abe958p-2f,  0x1.b16c70p-2f,  0x1.b6fa14p-2f,
    0x1.bc924ap-2f, 0x1.c23518p-2f,  0x1.c7e284p-2f,  0x1.cd9a92p-2f,  0x1.d35d4ap-2f,  0x1.d92ab0p-2f,  0x1.df02cap-2f,  0x1.e4e59ap-2f,
    0x1.ead32ep-2f, 0x1.f0cb84p-2f,  0x1.f6cea2p-2f,  0x1.fcdc92p-2f,  0x1.017aacp-1f,  0x1.048c7ap-1f,  0x1.07a3b8p-1f,  0x1.0ac06ap-1f,
    0x1.0de28ep-1f, 0x1.110a2ep-1f,  0x1.143746p-1f,  0x1.1769dcp-1f,  0x1.1aa1f0p-1f,  0x1.1ddf88p-1f,  0x1.2122a6p-1f,  0x1.246b4ap-1f,
    0x1.27b978p-1f, 0x1.2b0d34p-1f,  0x1.2e667ep-1f,  0x1.31c55ap-1f,  0x1.3529cap-1f,  0x1.3893d2p-1f,  0x1.3c0376p-1f,  0x1.3f78b4p-1f,
    0x1.42f390p-1f, 0x1.467410p-1f,  0x1.49fa34p-1f,  0x1.4d85fcp-1f,  0x1.51176ep-1f,  0x1.54ae8cp-1f,  0x1.584b5ap-1f,  0x1.5bedd6p-1f,
    0x1.5f9606p-1f, 0x1.6343eep-1f,  0x1.66f78ep-1f,  0x1.6ab0e6p-1f,  0x1.6e6ffep-1f,  0x1.7234d6p-1f,  0x1.75ff6ep-1f,  0x1.79cfcep-1f,
    0x1.7da5f6p-1f, 0x1.8181e8p-1f,  0x1.8563a4p-1f,  0x1.894b32p-1f,  0x1.8d3892p-1f,  0x1.912bc6p-1f,  0x1.9524d2p-1f,  0x1.9923b8p-1f,
    0x1.9d287ap-1f, 0x1.a1331cp-1f,  0x1.a5439ep-1f,  0x1.a95a08p-1f,  0x1.ad7654p-1f,  0x1.b1988cp-1f,  0x1.b5c0b4p-1f,  0x1.b9eec6p-1f,
    0x1.be22ccp-1f, 0x1.c25cc4p-1f,  0x1.c69cb8p-1f,  0x1.cae2a4p-1f,  0x1.cf2e8cp-1f,  0x1.d38076p-1f,  0x1.d7d860p-1f,  0x1.dc3652p-1f,
    0x1.e09a4cp-1f, 0x1.e50452p-1f,  0x1.e97462p-1f,  0x1.edea88p-1f,  0x1.f266bep-1f,  0x1.f6e910p-1f,  0x1.fb7178p-1f,  0x1.000000p+0f,
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
