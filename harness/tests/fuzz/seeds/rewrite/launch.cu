# 1 "a.cu"
__global__ void k(float* p);
void f(float* p) {
  k<<<1, 32>>>(p);
  n::k<A<B>, 3><<<g, b, 0, s>>>(0, {1, 2},
    a...);
  cudaLaunchKernel((void*)k<int>, g, b, a);
}
