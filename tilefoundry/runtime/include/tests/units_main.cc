// Runs the two units of unit_kernel.cc in one binary; the exit status says whether both saw their own
// program.
#include <cstdio>

extern "C" int first_threads();
extern "C" int first_ctas();
extern "C" void first_run(int* out);
extern "C" int second_threads();
extern "C" int second_ctas();
extern "C" void second_run(int* out);

namespace {

bool check(char const* name, int threads, int ctas, int got_threads, int got_ctas, void (*run)(int*)) {
  int coordinates[256] = {};
  run(coordinates);
  bool good = got_threads == threads && got_ctas == ctas;
  for (int id = 0; id < 256; ++id) {
    good = good && coordinates[id] == 10000 * (id / 128) + 100 * (id / 32 % 4) + id % 32;
  }
  std::printf("%s: %d threads, %d CTAs: %s\n", name, got_threads, got_ctas, good ? "good" : "WRONG");
  return good;
}

}  // namespace

int main() {
  bool const first = check("first", 128, 2, first_threads(), first_ctas(), first_run);
  bool const second = check("second", 32, 8, second_threads(), second_ctas(), second_run);
  return first && second ? 0 : 1;
}
