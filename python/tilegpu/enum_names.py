"""What other interfaces call the values of Vulkan's enumerations and the fields of state, for error messages.

In: the name of an enumeration, and one that it has not. Out: its own names that are meant, likeliest first; several where interfaces
differ. What is only misspelt is found by :func:`tilegpu.errors.near_names`; that alone led ``lequal`` to ``equal``, ``anticlockwise`` to
``clockwise`` and ``zfail`` to ``fail``, which run and are something else.

Sources: OpenGL 4.6 (glDepthFunc, glStencilOp, glBlendFunc, glTexParameter), WebGPU (GPUCompareFunction, GPUStencilOperation, ...),
Direct3D 12 (D3D12_COMPARISON_FUNC, D3D12_STENCIL_OP, D3D12_BLEND, ...), Metal (MTLCompareFunction, ...). Names are suggested, never taken.
"""

from __future__ import annotations

import re

#: By enumeration: Vulkan's name, and the foreign ones in lower case without ``_``. A word at several names means any of them.
_WORDS: dict[str, dict[str, str]] = {
    "compare_op": {
        "less": "lt lessthan < lesser smaller",
        "less_or_equal": "lequal le lte leq lessequal lessthanequal lessthanorequal <= =<",
        "greater": "gt greaterthan > larger",
        "greater_or_equal": "gequal ge gte geq greaterequal greaterthanequal greaterthanorequal >= =>",
        "equal": "eq == = equals",
        "not_equal": "notequal ne neq != <> unequal notequals",
        "always": "true on all",
        "never": "false off",
    },
    "stencil_op": {
        "increment_and_clamp": "incr increment inc incrsat incrementclamp incrementsaturate incsat incrclamp",
        "increment_and_wrap": "incrwrap incrementwrap incwrap incr increment inc",
        "decrement_and_clamp": "decr decrement dec decrsat decrementclamp decrementsaturate decsat decrclamp",
        "decrement_and_wrap": "decrwrap decrementwrap decwrap decr decrement dec",
        "keep": "nothing none nop noop",
        "zero": "clear 0",
        "replace": "set write reference ref",
        "invert": "not inverse bitwiseinvert",
    },
    "cull_mode": {
        "none": "off no disable disabled false neither never",
        "back": "backface backfaces backfacing",
        "front": "frontface frontfaces frontfacing",
        "front_and_back": "both all frontback frontandbackfaces always",
    },
    "front_face": {
        "counter_clockwise": "ccw anticlockwise counterclock counterclockwise acw frontcounterclockwise windingcounterclockwise",
        "clockwise": "cw windingclockwise",
    },
    "polygon_mode": {"line": "wireframe wire lines edges outline", "fill": "solid filled faces triangles", "point": "points vertices"},
    "primitive_topology": {
        "triangle_list": "triangles triangle tris",
        "triangle_strip": "trianglestrips strip tristrip",
        "triangle_fan": "trianglefans fan",
        "line_list": "lines line segments",
        "line_strip": "lineloop linestrips polyline",
        "point_list": "points point pointcloud vertices",
        "patch_list": "patches patch patchlist controlpoints",
        "triangle_list_with_adjacency": "trianglesadjacency trianglelistadj trianglelistadjacency",
        "triangle_strip_with_adjacency": "trianglestripadjacency trianglestripadj",
        "line_list_with_adjacency": "linesadjacency linelistadj linelistadjacency",
        "line_strip_with_adjacency": "linestripadjacency linestripadj",
    },
    "attachment_load_op": {"load": "preserve keep read", "dont_care": "discard dontcare undefined invalidate ignore", "none": "noaccess"},
    "attachment_store_op": {"store": "preserve keep write save", "dont_care": "discard dontcare undefined invalidate", "none": "noaccess"},
    "resolve_mode": {
        "average": "mean avg box", "sample_zero": "first sample0 samplezero", "min": "minimum least", "max": "maximum most",
    },
    "blend_factor": {
        "src_color": "src source sourcecolor srcrgb",
        "one_minus_src_color": "invsrccolor oneminussrc oneminussource oneminussourcecolor invsrc",
        "dst_color": "dst destination dest destcolor destinationcolor dstrgb",
        "one_minus_dst_color": "invdestcolor oneminusdst oneminusdestinationcolor oneminusdestcolor invdstcolor",
        "src_alpha": "sourcealpha alpha",
        "one_minus_src_alpha": "invsrcalpha oneminussourcealpha inversesrcalpha oneminusalpha",
        "dst_alpha": "destalpha destinationalpha",
        "one_minus_dst_alpha": "invdestalpha oneminusdestinationalpha oneminusdestalpha invdstalpha",
        "constant_color": "constant blendcolor blendfactor blendconstant",
        "one_minus_constant_color": "oneminusconstant oneminusblendcolor invblendfactor invconstantcolor",
        "constant_alpha": "blendalpha alphafactor",
        "one_minus_constant_alpha": "oneminusblendalpha invalphafactor invconstantalpha",
        "src_alpha_saturate": "srcalphasat srcalphasaturated sourcealphasaturated",
        "src1_color": "src1 source1color", "one_minus_src1_color": "oneminussrc1 invsrc1color oneminussource1color",
        "src1_alpha": "source1alpha", "one_minus_src1_alpha": "invsrc1alpha oneminussource1alpha",
        "zero": "0 none", "one": "1",
    },
    "blend_op": {
        "add": "funcadd sum +",
        "subtract": "funcsubtract sub -",
        "reverse_subtract": "funcreversesubtract revsubtract reversesub subtractreverse",
        "min": "minimum", "max": "maximum",
        "src_over": "normal over", "multiply": "mul modulate *",
        "hsl_hue": "hue", "hsl_saturation": "saturation", "hsl_color": "color", "hsl_luminosity": "luminosity",
    },
    "logic_op": {
        "no_op": "nop noop keep", "equivalent": "equiv xnor nxor eqv", "invert": "not inverse", "copy": "replace", "clear": "zero",
        "copy_inverted": "notcopy copynot", "nand": "notand", "and_inverted": "notand",
        "and_reverse": "andnot", "or_reverse": "ornot", "nor": "notor", "set": "one",
    },
    "filter": {
        "nearest": "point nearestmipmapnearest nearestmipmaplinear none pixel closest",
        "linear": "bilinear trilinear linearmipmaplinear linearmipmapnearest smooth anisotropic",
        "cubic": "bicubic tricubic catmullrom",
    },
    "sampler_mipmap_mode": {"nearest": "point none", "linear": "trilinear bilinear smooth"},
    "sampler_address_mode": {
        "repeat": "wrap tile tiled repeated",
        "mirrored_repeat": "mirror mirrored mirrorrepeat mirrorwrap",
        "clamp_to_edge": "clamp edge clampedge extend",
        "clamp_to_border": "border clampborder clamptozero clamptobordercolor",
        "mirror_clamp_to_edge": "mirroronce mirrorclamp mirrorclamptoedge",
    },
    "border_color": {
        "float_transparent_black": "transparent transparentblack zero",
        "int_transparent_black": "transparentblack",
        "float_opaque_black": "black opaqueblack",
        "int_opaque_black": "opaqueblack black",
        "float_opaque_white": "white opaquewhite one",
        "int_opaque_white": "opaquewhite white",
    },
    "sampler_reduction_mode": {"weighted_average": "average mean standard filter linear", "min": "minimum", "max": "maximum"},
    "sampler_ycbcr_model_conversion": {
        "ycbcr_709": "bt709 rec709 709 hd", "ycbcr_601": "bt601 rec601 601 sd jpeg", "ycbcr_2020": "bt2020 rec2020 2020 uhd",
        "rgb_identity": "rgb none", "ycbcr_identity": "ycbcr yuv",
    },
    "sampler_ycbcr_range": {"itu_full": "full pc jpeg", "itu_narrow": "narrow limited video tv studio mpeg"},
    "chroma_location": {"cosited_even": "cosited left topleft", "midpoint": "center centre middle"},
    "conservative_rasterization_mode": {"disabled": "off none", "overestimate": "over outer on", "underestimate": "under inner"},
    "fragment_shading_rate_combiner_op": {
        "keep": "passthrough first", "replace": "override second", "min": "minimum", "max": "maximum", "mul": "multiply product sum",
    },
    "discard_rectangle_mode": {"inclusive": "inside within keep", "exclusive": "outside without discard"},
    "line_rasterization_mode": {"rectangular_smooth": "smooth antialiased", "bresenham": "aliased", "rectangular": "quads rectangle"},
    "tessellation_domain_origin": {"upper_left": "topleft upper top", "lower_left": "bottomleft lower bottom"},
    "vertex_input_rate": {"vertex": "pervertex pervertexdata", "instance": "perinstance perinstancedata"},
    "image_usage": {
        "transfer_src": "copysrc copysource", "transfer_dst": "copydst copydest copydestination",
        "sampled": "texturebinding texture shaderresource shaderread", "storage": "storagebinding unorderedaccess uav shaderwrite",
        "color_attachment": "renderattachment rendertarget attachment target color",
        "depth_stencil_attachment": "renderattachment depthstencil depth stencil attachment depthattachment",
    },
    "buffer_usage": {
        "transfer_src": "copysrc copysource", "transfer_dst": "copydst copydest copydestination",
        "uniform_buffer": "ubo constant constantbuffer cbv", "storage_buffer": "ssbo shaderstorage unorderedaccess uav structured",
        "index_buffer": "elementarray ibo indices ebo", "vertex_buffer": "array vbo vertices",
        "indirect_buffer": "drawindirect dispatchindirect indirectargument",
        "shader_device_address": "address deviceaddress bufferaddress",
        "transform_feedback_buffer": "streamoutput streamout",
    },
    "shader_stage": {
        "vertex": "vert vs", "fragment": "frag pixel ps fs", "compute": "comp cs kernel", "geometry": "geom gs",
        "task": "amplification as", "mesh": "ms",
        "tessellation_control": "hull hs tesc tcs control", "tessellation_evaluation": "domain ds tese tes evaluation",
    },
    "descriptor_type": {
        "uniform_buffer": "uniform ubo constant cbv", "storage_buffer": "storage ssbo readonlystorage",
        "storage_image": "storage image image2d storagetexture uav", "combined_image_sampler": "texture sampler2d",
        "sampled_image": "texture texture2d srv",
    },
    # Fields of state, and states themselves
    "stencil field": {
        "compare": "func function comparefunction comparison", "fail": "sfail stencilfail",
        "depth_fail": "zfail dpfail depthfailop passdepthfail", "pass": "zpass dppass passop depthpass",
        "reference": "ref value", "compare_mask": "mask valuemask readmask", "write_mask": "writemask",
    },
    "blend field": {
        "src_color": "src srcrgb srcfactor srccolorfactor srccolorblendfactor srcblend source",
        "dst_color": "dst dstrgb dstfactor dstcolorfactor dstcolorblendfactor destblend destination",
        "src_alpha": "srcalphafactor srcalphablendfactor srcblendalpha", "dst_alpha": "dstalphafactor dstalphablendfactor destblendalpha",
        "color_op": "equation operation colorblendop blendop oprgb", "alpha_op": "alphablendop blendopalpha equationalpha",
        "write_mask": "mask colorwritemask rendertargetwritemask",
    },
    "blend preset": {
        "alpha": "alphablend blend normal transparent transparency over translucent mix",
        "premultiplied": "premul premultipliedalpha premultiplyalpha", "additive": "add plusblend glow lighter",
        "multiply": "mul modulate multiplicative",
    },
    "fragment_shading_rate field": {
        "fragment_size": "size rate fragmentsize shadingrate", "combiner_ops": "combiners combiner ops combinerops",
    },
    "depth_bias field": {"slope": "factor slopefactor slopescale", "constant": "units bias constantfactor"},
    "dynamic state": {
        "cull_mode": "cull", "primitive_topology": "topology", "rasterization_samples": "samples",
        "depth_compare_op": "depthcompare depthfunc depthcomparefunction", "depth_test_enable": "depthtest",
        "depth_write_enable": "depthwrite depthmask", "color_blend_equation": "blend blendequation blendfunc",
        "color_write_mask": "writemask colormask", "line_rasterization_mode": "linemode",
        "tessellation_domain_origin": "domainorigin", "stencil_test_enable": "stenciltest", "stencil_op": "stencilfront stencilback",
        "stencil_reference": "reference stencilref", "rasterizer_discard_enable": "rasterizerdiscard discard",
        "fragment_shading_rate": "shadingrate vrs variablerateshading fragmentsize",
        "conservative_rasterization_mode": "conservative", "provoking_vertex_mode": "provokingvertex",
        "depth_clip_negative_one_to_one": "negativeonetoone", "blend_constants": "blendcolor blendconstant blendfactor",
        "depth_bounds_test_enable": "depthboundstest", "depth_bias_enable": "polygonoffset",
    },
}  # fmt: skip
_PREFIX = re.compile(r"^(gl|d3d1[12]|vk|mtl|gpu|wgpu)_?(?=[a-z])")
_meant: dict[tuple[str, str], list[str]] = {}
for _kind, _names in _WORDS.items():
    for _own, _foreign in _names.items():
        for _word in _foreign.split():
            _meant.setdefault((_kind, _word), []).append(_own)


def meant(kind: str, name: object) -> list[str]:
    """Own names of an enumeration, or of fields, that another interface's name stands for."""
    if not isinstance(name, str):
        return []
    text = name.strip().lower().replace("-", "").replace(" ", "")
    for squashed in (text.replace("_", ""), _PREFIX.sub("", text).replace("_", "")):
        if found := _meant.get((kind, squashed)):
            return list(found)
    return []
