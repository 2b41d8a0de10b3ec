// Keeps 64 values alive at once: as many registers, unless ptxas is told to use fewer.
extern "C" __global__ void many_registers(float* x) {
  float value[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) value[i] = x[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) x[64 * i] = value[(7 * i) % 64];
}
