// A server replica that only takes part in leader election, in its own process, so that a signal can stop and continue
// it. It writes fenced records as fast as possible while it leads or believes that it leads.

import { argv } from 'node:process'
import type { TenantId } from '@holdfast/contract'
import { startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import { realClock as clock } from '@holdfast/server/system-clock'
import { openTestStore } from '../store/open-test-store.ts'
import { scaledTimings } from './timings.ts'
import { writeWitness } from './witness.ts'

const [, , endpoint = '', root = '', replica = '', tenant = '', factor = '0.1'] = argv
const owned = tenant as TenantId
const { store } = await openTestStore({ endpoints: [endpoint], root })
const leadership = startLeadership({
  store,
  clock,
  replica,
  url: `http://${replica}`,
  timings: scaledTimings(Number(factor)),
  onError: () => {},
})
for (;;) {
  if (leadership.owns(owned)) await writeWitness(store, leadership, owned, replica).catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 10))
}
