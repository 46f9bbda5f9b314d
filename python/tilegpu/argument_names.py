"""What other interfaces call arguments and methods, for error messages.

In: a name that a call does not take, or an object has not. Out: our own names that are meant, likeliest first, or where it is said instead.
What is only misspelt is found by :func:`tilegpu.errors.near_names`; that alone led ``cull_mode`` to ``line_mode``.

Sources: Vulkan 1.4, members of the CreateInfo structures and parameters of vkCmd*; WebGPU, the descriptors' members (camel case, as in
wgpu-py snake case); moderngl's and OpenGL's words; Direct3D 12, D3D12_GRAPHICS_PIPELINE_STATE_DESC. Names are suggested, never taken.
"""

from __future__ import annotations

from collections.abc import Collection

#: Foreign names, in lower case and without ``_``, by the argument that says the same.
_WORDS: dict[str, str] = {
    # Pipelines
    "vert": "vs vertexshader vertexsource vertexmodule vertexglsl",
    "frag": "fs ps fragmentshader fragmentsource fragmentmodule pixelshader fragmentglsl",
    "comp": "cs computeshader computesource shader source code module glsl compute",
    "tessellation_control": "hullshader hs tesscontrol tesscontrolshader tcs",
    "tessellation_evaluation": "domainshader ds tesseval tessevaluation tessevalshader tes",
    "geometry": "geometryshader gs geom",
    "task": "taskshader ts amplification amplificationshader",
    "mesh": "meshshader ms",
    "vertex": "vertexinput vertexinputstate vertexlayout vertexformat vertexbuffers inputlayout vertexattributes attributes dtype buffers",
    "instance": "instanceinput instancelayout perinstance instancedtype",
    "topology": "primitivetopology primitive primitivetype mode drawmode",
    "primitive_restart": "primitiverestartenable stripindexformat",
    "cull": "cullmode cullface culling facecull backfaceculling",
    "front_face": "frontface winding frontccw frontcounterclockwise",
    "polygon_mode": "wireframe fillmode polygon",
    "samples": "samplecount rasterizationsamples msaa multisample msaasamples numsamples multisamplestate count",
    "depth_test": "depthtestenable depthenable enabledepth",
    "depth_write": "depthwriteenable depthwriteenabled depthwritemask depthmask",
    "depth_compare": "depthcompareop depthfunc depthcomparefunction depthfunction zfunc",
    "depth_bias": "depthbiasenable polygonoffset depthbiasconstantfactor depthbiasslopefactor depthbiasslopescale",
    "depth_clamp": "depthclampenable unclippeddepth",
    "depth_bounds": "depthboundstest depthboundstestenable",
    "rasterizer_discard": "rasterizerdiscardenable discard",
    "stencil_test": "stenciltestenable stencilenable",
    "stencil_front": "front stencilop frontstencil",
    "stencil_back": "back backstencil",
    "blend": "blending blendenable blendmode blendstate colorblend alphablend blendfunc colorblendstate alpha",
    "blend_constants": "blendconstant blendcolor blendfactor",
    "write_mask": "colorwritemask colormask writemask rendertargetwritemask",
    "logic_op": "logicop logicopenable",
    "alpha_to_coverage": "alphatocoverageenable alphatocoverageenabled",
    "alpha_to_one": "alphatooneenable",
    "sample_shading": "sampleshadingenable minsampleshading pershading",
    "set_layouts": "layout pipelinelayout bindgrouplayouts descriptorsetlayouts setlayout rootsignature",
    "dynamic": "dynamicstate dynamicstates",
    "constants": "specialization specializationconstants specializationinfo overrides",
    "defines": "macros definitions",
    "include": "includes includedirs includepath includepaths",
    "patch_control_points": "patchvertices patchsize",
    "conservative": "conservativerasterization conservativerasterizationmode",
    "fragment_shading_rate": "shadingrate variablerateshading vrs fragmentsize coarseshading rsshadingrate",
    # Draws
    "count": "vertexcount indexcount numvertices numindices vertices drawcount",
    "first": "firstvertex firstindex startvertex baseindex",
    "vertex_offset": "basevertex",
    "instances": "instancecount numinstances instancing",
    "first_instance": "baseinstance",
    "vertices": "vertexbuffer vbo vertexdata mesh positions",
    "indices": "indexbuffer ibo indexdata faces ebo",
    "push": "pushconstants pushconstant uniforms rootconstants immediates immediatedata",
    "bind": "bindings bindgroup bindgroups descriptors resources textures uniforms samplers",
    "sets": "descriptorsets descriptorset bindgroup bindgroups",
    "viewport": "viewports viewportstate",
    "scissor": "scissors scissorrect scissorstate",
    "stencil_reference": "stencilref reference ref",
    "indirect": "indirectbuffer argumentbuffer commands",
    "draw_count": "maxdrawcount drawcount",
    "groups": "groupcount workgroups groupcounts workgroupcount threadgroups grid dispatch",
    "invocations": "threads globalsize",
    # Attachments and passes
    "load_op": "load loadop",
    "store_op": "store storeop",
    "clear": "clearvalue clearcolor clearvalues depthclearvalue stencilclearvalue background",
    "resolve": "resolvetarget resolveimage resolveview resolveimageview resolveattachment",
    "resolve_mode": "resolvemode",
    "level": "miplevel basemiplevel mip lod",
    "layer": "basearraylayer arraylayer slice face",
    "color": "colors colorattachments colorattachment colorformats colorformat targets rendertargets attachments framebuffer rtvformats "
             "rendertarget fragmentoutputs",
    "depth": "depthstencil depthattachment depthformat depthstencilattachment depthstencilformat dsvformat depthbuffer depthstencilstate",
    "stencil": "stencilattachment stencilformat",
    "area": "renderarea rect region size resolution",
    "view_mask": "viewmask multiview views",
    # Images, textures, samplers, buffers
    "size": "extent dimensions resolution shape widthheight dimension width height length bytes",
    "format": "pixelformat internalformat dtype textureformat colorformat",
    "mip_levels": "mipmaps miplevels miplevelcount levels mips mipmap mipcount",
    "mipmaps": "miplevels mips levels generatemipmaps buildmipmaps",
    "layers": "arraylayers arraylayercount arraysize depthorarraylayers layercount",
    "pixels": "image array content data values file path",
    "data": "array contents content initialdata values buffer size length nbytes bytes",
    "usage": "usages bufferusage imageusage textureusage",
    "transient": "memoryless lazilyallocated",
    "label": "name debugname title",
    "address": "wrap addressmode addressmodeu addressmodev wrapmode addressing repeat clamp wraps wrapt tiling boundary",
    "filter": "filtering interpolation magminfilter",
    "mag_filter": "magnification mag",
    "min_filter": "minification min",
    "mipmap_mode": "mipmapfilter mipfilter mip",
    "min_lod": "lodminclamp minlod",
    "max_lod": "lodmaxclamp maxlod",
    "mip_lod_bias": "lodbias bias miplodbias",
    "compare": "compareop comparefunction comparefunc compareenable",
    "max_anisotropy": "anisotropy anisotropyenable maxanisotropy aniso",
    "border_color": "bordercolor border",
    "reduction": "reductionmode",
    # Devices
    "threads": "workers numthreads cores threadcount",
    "profile": "gpu adapter device",
    "hsr": "hiddensurfaceremoval",
    "strict": "validation validate debug validationlayers",
    # Jobs of farms
    "of": "frames framecount numframes framescount total",
    # Copies
    "source": "src srcimage srcbuffer from",
    "destination": "dst dest dstimage dstbuffer target to",
    "source_offset": "srcoffset",
    "destination_offset": "dstoffset destoffset",
    "source_level": "srclevel srcmiplevel",
    "destination_level": "dstlevel dstmiplevel",
    "source_layer": "srclayer srcarraylayer",
    "destination_layer": "dstlayer dstarraylayer",
}  # fmt: skip
_MEANT: dict[str, list[str]] = {}
for _own, _foreign in _WORDS.items():
    for _word in _foreign.split():
        _MEANT.setdefault(_word, []).append(_own)

_OF_ATTACHMENT = "it is of an attachment: tg.Attachment(image, {}=...)"
_OF_SHAPE = "the number of sizes says it: (width,) is 1d, (width, height) 2d, (width, height, depth) 3d"
#: Arguments that another call has: where what they say is said. By call and name without ``_``.
_ELSEWHERE: dict[tuple[str, str], str] = {
    ("dev.image", "type"): _OF_SHAPE + "; cube=True a cube",
    ("dev.image", "imagetype"): _OF_SHAPE + "; cube=True a cube",
    ("dev.image", "dimension"): _OF_SHAPE,
    ("dev.image", "depth"): "it is the third number of size: (width, height, depth)",
    ("dev.image", "width"): "it is the first number of size: (width, height)",
    ("dev.image", "height"): "it is the second number of size: (width, height)",
    ("dev.image", "data"): "dev.texture(pixels) makes and fills one; image.write(pixels) fills it later",
    ("dev.image", "pixels"): "dev.texture(pixels) makes and fills one; image.write(pixels) fills it later",
    ("dev.image", "sampler"): 'it is of what is bound: bind={"name": (image, dev.sampler())}; dev.texture(pixels, filter=) has its own',
    ("dev.render_pass", "resolve"): _OF_ATTACHMENT.format("resolve"),
    ("dev.render_pass", "loadop"): _OF_ATTACHMENT.format("load_op"),
    ("dev.render_pass", "storeop"): _OF_ATTACHMENT.format("store_op"),
    ("dev.render_pass", "viewport"): "it is of draws: rp.draw(..., viewport=), or rp.set(viewport=)",
    ("dev.render_pass", "scissor"): "it is of draws: rp.draw(..., scissor=), or rp.set(scissor=)",
    ("dev.pipeline", "viewport"): "it is of draws: rp.draw(..., viewport=); without, the whole of the pass",
    ("dev.pipeline", "scissor"): "it is of draws: rp.draw(..., scissor=); without, the whole of the pass",
    ("dev.pipeline", "push"): "it is of draws: rp.draw(..., push=); the pipeline takes the block from its shaders",
    ("dev.pipeline", "pushconstants"): "they are of draws: rp.draw(..., push=); the pipeline takes the block from its shaders",
    ("dev.pipeline", "bind"): "it is of draws: rp.draw(..., bind=)",
    ("dev.pipeline", "clear"): _OF_ATTACHMENT.format("clear"),
    ("rp.draw", "topology"): "it is of the pipeline: dev.pipeline(..., topology=)",
    ("rp.draw", "cull"): "it is of the pipeline: dev.pipeline(..., cull=), or dynamic: rp.set(cull_mode=)",
    ("rp.draw", "blend"): "it is of the pipeline: dev.pipeline(..., blend=)",
    ("rp.draw", "clear"): _OF_ATTACHMENT.format("clear") + ", or rp.clear(...)",
}
for _name in ("clear", "clearcolor", "clearvalue", "clearvalues"):
    _ELSEWHERE["dev.render_pass", _name] = _OF_ATTACHMENT.format("clear")


def plain(name: str) -> str:
    """As the tables have it."""
    return name.replace("_", "").lower()


def meant(name: str, known: Collection[str]) -> list[str]:
    """Arguments of ``known`` that other interfaces call so, or write so (``cullMode``)."""
    word = plain(name)
    own = [n for n in known if plain(n) == word]  # camel case
    return own + [n for n in _MEANT.get(word, []) if n in known and n not in own]


def foreign(name: str) -> list[str]:
    """What other interfaces' word is here, whatever takes it."""
    return _MEANT.get(plain(name), [])


def elsewhere(what: str, name: str) -> str:
    """Where what an argument says is said instead; "" if nobody knows."""
    return _ELSEWHERE.get((what, plain(name)), "")


#: Foreign names of methods and attributes, by ours.
_METHODS: dict[str, str] = {
    "buffer": "createbuffer createbufferwithdata makebuffer newbuffer",
    "image": "createimage createtexture texture2d rendertarget renderbuffer depthtexture",
    "texture": "loadtexture createtexturefromimage",
    "sampler": "createsampler",
    "pipeline": "createrenderpipeline creategraphicspipeline creategraphicspipelines program renderpipeline createpipeline shaderprogram",
    "compute_pipeline": "createcomputepipeline computeshader computeprogram",
    "render_pass": "beginrenderpass beginrendering renderpassbegin createrenderpass beginpass renderingpass",
    "descriptor_set": "createbindgroup bindgroup allocatedescriptorsets",
    "descriptor_set_layout": "createbindgrouplayout createdescriptorsetlayout",
    "dispatch": "dispatchworkgroups rundispatch run compute",
    "secondary": "renderbundle createrenderbundleencoder commandbuffer",
    "copy": "copybuffer copyimage copytexturetotexture copybuffertobuffer copytexture copybuffertotexture copytexturetobuffer",
    "blit": "blitimage blitframebuffer",
    "resolve": "resolveimage",
    "wait_idle": "waitidle finish flush devicewaitidle synchronize",
    "draw": "drawindexed drawindices drawarrays drawelements drawinstanced drawvertices render drawmesh",
    "draw_indirect": "drawindexedindirect drawindirectcount multidrawindirect",
    "set": "setviewport setscissor setscissorrect setblendconstant setblendconstants setstencilreference setcullmode setdepthbias "
           "setlinewidth",
    "execute_commands": "executebundles",
    "numpy": "read readpixels read_into map mapasync mapped getdata todata tonumpy toarray readtexture readbuffer asarray array",
    "write": "upload update setdata writetexture writebuffer subdata fill",
    "save": "export imsave",
    "generate_mipmaps": "buildmipmaps genmipmaps generatemips generatemipmap",
    "view": "createview createimageview",
}
_METHODS_MEANT: dict[str, list[str]] = {}
for _own, _foreign in _METHODS.items():
    for _word in _foreign.split():
        _METHODS_MEANT.setdefault(plain(_word), []).append(_own)
#: What the package's own modules call of objects, and users don't: no name to offer where one is misspelt.
_OF_THE_PACKAGE = (
    "accesses add_command add_dispatch add_pass all_layers before block_bytes border_numbers build built_before candidates check_order "
    "compares content_hash core create device end_of_pass ended entered fitting forget_rows host_wrote images_used index_kind keep_sources "
    "kinds_at late layers_read left levels_of levels_read linear lod_bias lods look_whether_plain made_by matrices may_write mip_linear "
    "only_stores open_frame pack_push part_shown plane_of push_bytes read_aspect reads_buffer reads_layer require_filter require_device "
    "require_identity number_rows row_shape rows_at said_of sampler_pairs samplers_apart say_foreign say_left_out say_never_entered "
    "stores_to take_matrices takes_inner undefined undefined_part uses view_info warn_of_defines warn_short warn_unused watch "
    "why_undefined with_lengths"
)
INTERNAL = frozenset(_OF_THE_PACKAGE.split())
FREED = "nothing has to be freed: it lives as long as something names it"
_AT_THE_DRAW = "what is bound is given to the draw: rp.draw(pipeline, vertices, indices=, bind={...}, push={...})"
_DONE = "leaving the with block of a pass draws it, and waits"
#: By class and name without ``_``; "" for any class.
_METHOD_ELSEWHERE: dict[tuple[str, str], str] = {
    **{("", name): FREED for name in ("destroy", "release", "free", "close", "delete", "dispose", "destroybuffer", "destroyimage")},
    **{("RenderPass", name): _AT_THE_DRAW for name in (
        "setpipeline", "bindpipeline", "setbindgroup", "binddescriptorsets", "setvertexbuffer", "bindvertexbuffers", "setindexbuffer",
        "bindindexbuffer", "pushconstants", "setpushconstants", "bind", "usetexture", "bindvertexarrays", "bindpipelinestate")},
    **{("Device", name): _DONE for name in ("submit", "queue", "queuesubmit", "present", "swapbuffers", "getqueue")},
    ("RenderPass", "submit"): _DONE,
    ("RenderPass", "endrendering"): _DONE,
    ("RenderPass", "endrenderpass"): _DONE,
    ("Image", "clear"): "dev.clear(image, color), or clear= of its attachment in a pass",
    ("Image", "resize"): "an image keeps its size: make another one, dev.image(size, format)",
    ("Image", "use"): "what is bound is given to the draw: bind={'name': (image, dev.sampler())}",
    ("Image", "shape"): "image.size is (width, height); image.numpy().shape is (height, width, channels)",
    ("Image", "resolve"): "dev.resolve(image, target), or resolve= of its attachment in a pass",
    ("Buffer", "clear"): "buffer.numpy()[:] = 0",
    ("Buffer", "shape"): "buffer.numpy().shape; buffer.size is its bytes",
    ("Buffer", "tobytes"): "buffer.numpy().tobytes()",
    ("Device", "shadermodule"): "GLSL or SPIR-V is given to the pipeline: dev.pipeline(VERT, FRAG, ...)",
    ("Device", "createshadermodule"): "GLSL or SPIR-V is given to the pipeline: dev.pipeline(VERT, FRAG, ...)",
    ("Device", "createcommandencoder"): "commands are methods: with dev.render_pass(...) as rp, dev.dispatch(...), dev.copy(...)",
    ("Device", "vertexarray"): "a draw takes arrays and buffers: rp.draw(pipeline, vertices)",
}  # fmt: skip


def methods_meant(name: str, known: Collection[str]) -> list[str]:
    """Of methods and attributes: :func:`meant`."""
    word = plain(name)
    return [n for n in known if plain(n) == word] + [n for n in _METHODS_MEANT.get(word, []) if n in known]


def method_elsewhere(cls: str, name: str) -> str:
    """Of a class's methods and attributes: :func:`elsewhere`."""
    return _METHOD_ELSEWHERE.get((cls, plain(name))) or _METHOD_ELSEWHERE.get(("", plain(name)), "")
