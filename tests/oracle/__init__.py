"""A brute-force model of the pipeline in NumPy, written from the Vulkan specification alone: slow, plain, and exact."""
