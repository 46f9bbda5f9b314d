// compiler/main.cpp -- the program tilegpu-compiler, which devices with isolate_compiler start beside libtilegpu.so. In: a socket. Out:
// answers.
#include "tilegpu/compiler_process.hpp"

int main(int count, char** arguments) { return tilegpu::run_compiler_process(count, arguments); }
