// Clears the store between measurements, so that each of the compared variants starts with a store of the same size.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { prefixRange } from '@holdfast/server/store/keys'
import { BARE_ROOT } from './bare-load.ts'
import { untilQuiet } from './cpu.ts'
import type { BenchPlatform } from './platform.ts'

/** Removes all keys of these tenants, then waits until the processes that watch the keys are idle. */
export async function clearStore(
  engine: KeyValueEngine,
  { etcdPids, serverPid }: BenchPlatform,
  tenants: readonly string[],
): Promise<void> {
  let revision = 0
  const ranges = [prefixRange(`${BARE_ROOT}/`), ...tenants.map((tenant) => prefixRange(`/hf/t/${tenant}/`))]
  for (const range of ranges) {
    const success = [{ kind: 'delete' as const, ...range }]
    const cleared = await engine.transact({ compares: [], success, failure: [] }, { deadlineMs: 30_000 })
    revision = cleared.revision
  }
  await engine.compact(revision, { deadlineMs: 30_000 }).catch(() => {})
  await untilQuiet([...etcdPids, serverPid])
}
