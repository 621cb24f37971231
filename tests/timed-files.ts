// The tests that run while nothing else does, as patterns for vitest. Only they may measure durations: a wire, a kernel or an
// engine decides their result, as the first comment of each says. See docs/design/ci.md#no-wall-clock

export const TIMED: string[] = [
  'tests/real/api/{hostile,races}.test.ts',
  'tests/real/cli/start-up.test.ts',
  'tests/real/dashboard/live.test.ts',
  'tests/real/faults/one-way.test.ts',
  'packages/server/src/adapters/etcd/failover.real.test.ts',
  'packages/agent/src/adapters/caddy/closed-by-router.real.test.ts',
  'packages/agent/src/fencer/late-writers.real.test.ts',
  'packages/agent/src/{leases,observe/inspect-count,routing/routing,routing/routing-faults}.real.test.ts',
]
