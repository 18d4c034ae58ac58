/* The one function of this library that Go's runtime needs, and that Wine before version 9 lacks. */
#include <stddef.h>

unsigned char __stdcall SystemFunction036(void *, unsigned long);

__declspec(dllexport) int ProcessPrng(unsigned char *data, size_t size)
{
	return SystemFunction036(data, (unsigned long)size);
}
