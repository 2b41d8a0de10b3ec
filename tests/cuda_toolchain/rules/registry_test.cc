#include "tests/cuda_toolchain/rules/registry.h"

#include <gtest/gtest.h>

TEST(RegistryTest, Registrations) { EXPECT_EQ(cuda_toolchain::registrations(), EXPECTED); }
