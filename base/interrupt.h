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
// Cancels the change of the KB that this process is making for another one (web/handoff.h) and nothing else:
// interrupted() stays as it was. Such changes run one at a time.
void cancel_change();
void clear_cancelled_change();
// Error cancelled when the flag is set, or a change was cancelled: what every change of the KB asks on its
// way.
Status check_interrupt();

}  // namespace askbase::base
