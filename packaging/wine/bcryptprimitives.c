// The random numbers that Rust asks Windows 10 for. Wine has them from version 8.9 on; Debian 12 has
// 8.0. Tests put this next to the program.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) {
    return SystemFunction036(bytes, (ULONG)length);
}
