// SPDX-License-Identifier: Apache-2.0
// The only program of the test image: what the true nodes run, without any registry.
//   pod pause   the sandbox's process: reaps, ends on a signal
//   pod         TEST_RUN_SECONDS (10) long, then TEST_EXIT_CODE (0); on SIGTERM it ends with 143,
//               TEST_TERM_SECONDS (0) later; a negative value ignores SIGTERM
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double number(const char *name, double otherwise)
{
  const char *text = getenv(name);
  return text && *text ? atof(text) : otherwise;
}

static double now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

// The first of SIGNALS within SECONDS, or 0.
static int wait_signal(const sigset_t *signals, double seconds)
{
  struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  const int got = sigtimedwait(signals, NULL, &left);
  return got > 0 ? got : 0;
}

static int run(const sigset_t *signals)
{
  const double end = now() + number("TEST_RUN_SECONDS", 10);
  const double term = number("TEST_TERM_SECONDS", 0);
  printf("pid %d runs\n", (int)getpid());
  fflush(stdout);
  for (double left; (left = end - now()) > 0;) {
    if (!wait_signal(signals, left))
      continue;
    printf("signal\n");
    fflush(stdout);
    if (term < 0)
      continue;
    wait_signal(signals, term);
    return 143;
  }
  return (int)number("TEST_EXIT_CODE", 0);
}

int main(int count, char **arguments)
{
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  if (count < 2 || strcmp(arguments[1], "pause") != 0)
    return run(&signals);
  signal(SIGCHLD, SIG_IGN);  // orphans go by themselves
  while (!wait_signal(&signals, 3600))
    continue;
  return 0;
}
