// python.exe, and with NO_CONSOLE pythonw.exe: all that they do is in python3XX.dll.
#include <windows.h>

__declspec(dllimport) int Py_Main(int count, wchar_t **words);

#ifdef NO_CONSOLE
int WINAPI wWinMain(HINSTANCE program, HINSTANCE before, PWSTR line, int show) { return Py_Main(__argc, __wargv); }
#else
int wmain(int count, wchar_t **words) { return Py_Main(count, words); }
#endif
