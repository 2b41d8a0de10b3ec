#include "scale_rows.h"

#include <cstdio>
#include <vector>

int main() {
  for (int64_t rows : {0, 1, 63, 64, 65, 200}) {
    std::vector<float> x(rows * embedding::kColumns), scale(rows), y(rows * embedding::kColumns, -1.0f);
    for (int64_t i = 0; i < rows * embedding::kColumns; ++i) x[i] = static_cast<float>(i % 101);
    for (int64_t r = 0; r < rows; ++r) scale[r] = static_cast<float>(r % 7) * 0.5f;
    embedding::scale_rows(x.data(), scale.data(), y.data(), rows);
    for (int64_t i = 0; i < rows * embedding::kColumns; ++i) {
      float const expected = x[i] * scale[i / embedding::kColumns];
      if (y[i] != expected) {
        std::printf("rows=%lld: y[%lld] is %g, expected %g\n", static_cast<long long>(rows),
                    static_cast<long long>(i), y[i], expected);
        return 1;
      }
    }
  }
  return 0;
}
