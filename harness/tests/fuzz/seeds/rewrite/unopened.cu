# exshared__ char s[]; }}
void f() { static __shared__ __attribute__)(
