"""Architectures: from `compute_80:compute_80,sm_80;sm_90a` to the values of nvcc's -gencode."""

load(":providers.bzl", "CudaArchsInfo")

_SYNTAX = "expected 'compute_XX', 'sm_XX' or 'compute_XX:CODE,...' where CODE is 'compute_XX' or 'sm_XX' " + \
          "and XX is digits and perhaps a letter, as in 'compute_80:compute_80,sm_80;sm_90a'"

def _number(arch, prefix):
    """The `90a` of `sm_90a`; None if `arch` is not of that form."""
    number = arch.removeprefix(prefix)
    if number == arch:
        return None
    digits = number[:-1] if number[-1:] in ["a", "f"] else number
    return number if digits.isdigit() and len(digits) >= 2 else None

def _gencode(spec):
    """(the -gencode value of one specification, None), or (None, what is wrong with it)."""
    virtual, colon, codes = [part.strip() for part in spec.partition(":")]
    if not colon:
        codes = virtual
        if _number(virtual, "sm_"):
            virtual = "compute_" + _number(virtual, "sm_")
    if not _number(virtual, "compute_"):
        return None, "got '{}'".format(spec)
    codes = [code.strip() for code in codes.split(",")]
    for code in codes:
        if not _number(code, "compute_") and not _number(code, "sm_"):
            return None, "got '{}' in '{}'".format(code, spec)
    return "arch={},code=[{}]".format(virtual, ",".join(codes)), None

def parse_archs(text, where):
    """Parses a specification of architectures.

    Args:
      text: specifications, separated by `;`. Empty: none.
      where: the flag or attribute, for the message about a wrong one.
    Returns:
      list of strings, the values of nvcc's -gencode. A specification that comes twice counts once.
    """
    found = []
    for spec in text.split(";") if text.strip() else []:
        gencode, error = _gencode(spec.strip())
        if error:
            fail("{}: {}; {}".format(where, _SYNTAX, error))
        if gencode not in found:
            found.append(gencode)
    return found

def _cuda_archs_flag_impl(ctx):
    return [CudaArchsInfo(gencode = parse_archs(ctx.build_setting_value, str(ctx.label)))]

cuda_archs_flag = rule(
    doc = "A flag that names architectures.",
    implementation = _cuda_archs_flag_impl,
    build_setting = config.string(flag = True),
)
