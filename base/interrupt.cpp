#include "base/interrupt.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

namespace askbase::base {
namespace {

// Written from a signal handler, so it must be lock-free; looked at by every thread.
std::atomic<bool> interrupt_requested{false};
std::atomic<bool> change_cancelled{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int number) {
  if (interrupt_requested.exchange(true)) _exit(128 + number);
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a read that waits for the terminal returns, and its caller looks at the flag.
  // SA_ONSTACK: on threads that multiply matrices the handler must not run on their own stack
  // (nn/backend_onednn.cpp).
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_requested.load(std::memory_order_relaxed); }
void request_interrupt() { interrupt_requested.store(true); }
void clear_interrupt() { interrupt_requested.store(false); }

void cancel_change() { change_cancelled.store(true); }
void clear_cancelled_change() { change_cancelled.store(false); }

Status check_interrupt() {
  if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
  if (change_cancelled.load(std::memory_order_relaxed)) return fail(ErrorCode::cancelled, "cancelled");
  return {};
}

}  // namespace askbase::base
