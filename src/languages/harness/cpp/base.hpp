// The standard headers, once; compiled beforehand where the machine could.
#ifndef ROLECALL_BASE
#define ROLECALL_BASE
#include <bits/stdc++.h>
#include <cxxabi.h>
#endif
