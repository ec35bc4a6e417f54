// What an application has to give.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void DebugLog(const char* s);
#ifdef __cplusplus
}
#endif
