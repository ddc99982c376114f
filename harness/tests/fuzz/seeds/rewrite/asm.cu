{ asm volatile("mov.u32 %0, 1;" : "=r"(x)); asm("" ::: "memory"); }
void f() __asm__("g");
auto s = R"x(k<<<1)x", c = '\''; x = 0x1p-3 + 1'000;
