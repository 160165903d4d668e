// Ctrl-C and SIGTERM as a flag that long work looks at.
#pragma once

#include "base/result.h"

namespace askbase::base {

// Installs the handlers. The first signal sets the flag; a second one ends the process at once.
void watch_interrupts();
bool interrupted();
// Sets the flag from code (tests, a closing server); clears it.
void request_interrupt();
void clear_interrupt();
// Error cancelled when the flag is set.
Status check_interrupt();

}  // namespace askbase::base
