"""What CUDA targets tell one another."""

CudaInfo = provider(
    doc = "Compiled CUDA sources that no library holds yet.",
    fields = {
        "objects": "depset of Files: objects that the host's linker can take as they are.",
        "rdc_objects": "depset of Files: objects with relocatable device code, which need a device link.",
    },
)

CudaArchsInfo = provider(
    doc = "The architectures to compile for.",
    fields = {"gencode": "list of strings: the values of nvcc's -gencode, in order; empty for nvcc's own choice."},
)
