// Seeded bugs around servers that lose the store. Only the scripts of such cuts can find them.

import { type Bug, core, server } from './bug.ts'

const BUGS: readonly Omit<Bug, 'scripts'>[] = [
  {
    name: 'a gateway that is cut off from the store keeps its sessions',
    edits: [
      core(
        'liveness/judge-store-access.ts',
        `cutOffMs - awayMs ? 'waiting' : 'cut_off'`,
        `cutOffMs - awayMs ? 'waiting' : 'alone'`,
      ),
    ],
    seenBy: ['given-up-late'],
  },
  {
    name: 'a status that waited for the store is written when the store returns',
    edits: [
      server(
        'gateway/sweep.ts',
        'session.writingStatus || isStoreAway) return',
        'session.writingStatus || (isStoreAway && now < 0)) return',
      ),
    ],
    seenBy: ['given-up-late'],
  },
]

export const STORE_CUT_BUGS: readonly Bug[] = BUGS.map((bug) => ({ ...bug, scripts: 'store cuts' }))
