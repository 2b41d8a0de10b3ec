#pragma once

__device__ int quadruple(int value);
