# 1 "a.cu" 1 3
extern "C" { namespace n { extern __shared__ char s[]; } }
void f() { static __shared__ __attribute__((aligned(16))) A<int, 3> x, (*q)[3];
  extern __shared__ float t[]; }
