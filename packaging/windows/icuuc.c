// A stand-in for icuuc.dll, which Windows 10 has and Wine 8 has not. Qt6Core.dll is linked with these names, and calls
// them to read old encodings alone; ucnv_open answers that there is none, after which Qt calls no other.
enum { U_FILE_ACCESS_ERROR = 4 };

#define NEVER_CALLED(name) __declspec(dllexport) void *name(void) { return 0; }

__declspec(dllexport) void *ucnv_open(const char *encoding, int *error) { *error = U_FILE_ACCESS_ERROR; return 0; }
NEVER_CALLED(UCNV_FROM_U_CALLBACK_SUBSTITUTE)
NEVER_CALLED(UCNV_TO_U_CALLBACK_SUBSTITUTE)
NEVER_CALLED(ucnv_cbFromUWriteUChars)
NEVER_CALLED(ucnv_cbToUWriteUChars)
NEVER_CALLED(ucnv_close)
NEVER_CALLED(ucnv_countAvailable)
NEVER_CALLED(ucnv_fromUCountPending)
NEVER_CALLED(ucnv_fromUnicode)
NEVER_CALLED(ucnv_getAvailableName)
NEVER_CALLED(ucnv_getFromUCallBack)
NEVER_CALLED(ucnv_getMaxCharSize)
NEVER_CALLED(ucnv_getName)
NEVER_CALLED(ucnv_getStandardName)
NEVER_CALLED(ucnv_getToUCallBack)
NEVER_CALLED(ucnv_reset)
NEVER_CALLED(ucnv_setFromUCallBack)
NEVER_CALLED(ucnv_setToUCallBack)
NEVER_CALLED(ucnv_toUCountPending)
NEVER_CALLED(ucnv_toUnicode)

int DllMain(void *module, unsigned reason, void *reserved) { return 1; }
