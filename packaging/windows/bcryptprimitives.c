// A stand-in for bcryptprimitives.dll, which Windows 10 has and Wine 8 has not. Rust's standard library, and so rpds of
// check-jsonschema, is linked with it for random bytes, which advapi32.dll has under another name.
__declspec(dllimport) unsigned char SystemFunction036(void *bytes, unsigned long count);

__declspec(dllexport) int ProcessPrng(unsigned char *bytes, unsigned long long count)
{
    return SystemFunction036(bytes, (unsigned long)count);
}

int DllMain(void *module, unsigned reason, void *reserved) { return 1; }
