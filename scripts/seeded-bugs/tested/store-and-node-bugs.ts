// Seeded bugs around the bytes of the store and what agents and nodes do for containers.

import { server } from '../bug.ts'
import { agent, type TestedBug } from './tested-bug.ts'

export const STORE_AND_NODE_BUGS: readonly TestedBug[] = [
  {
    name: 'kept responses outlive their time, because each minute deletes a hundred',
    edits: [server('loops/retention.ts', 'const MOST_STEPS = 50', 'const MOST_STEPS = 1')],
    caughtBy: {
      file: 'packages/server/src/loops/retention.test.ts',
      test: 'all expired responses are dropped at once, after the configured hours and not before',
    },
  },
  {
    name: 'the bytes in use stand for the size of the file of etcd',
    edits: [
      server(
        'loops/store-pressure.ts',
        '(size?.fileBytes ?? 0) / quotaBytes',
        '(size?.inUseBytes ?? 0) / quotaBytes',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/loops/store-pressure.test.ts',
      test: 'measures the file of a member, because etcd raises NOSPACE on its size, and keeps the bytes in use beside it',
    },
  },
  {
    name: 'a process outside of the container is killed',
    edits: [
      agent(
        'adapters/docker/kill-in-container.ts',
        `.includes(containerId)) return`,
        `.includes(containerId) && pid < 0) return`,
      ),
    ],
    caughtBy: {
      file: 'packages/agent/src/adapters/docker/kill-in-container.test.ts',
      test: 'a process outside the container is not killed',
    },
  },
  {
    name: 'headers with underscores pass the router',
    edits: [
      agent(
        'adapters/caddy/header-spellings.ts',
        '(known, part) => known.flatMap(',
        `(known, part) => known.map((each) => each + '-' + part) ?? known.flatMap(`,
      ),
    ],
    caughtBy: {
      file: 'packages/agent/src/adapters/caddy/header-spellings.test.ts',
      test: 'a header X-Forwarded-For has every spelling with underscores',
    },
  },
  {
    name: 'a node that was removed during the read gets the credential of a registry',
    edits: [
      server(
        'broker/create-broker.ts',
        'await store.fresh()\n  const node = findPuller(store, ask)',
        'const node = was',
      ),
      server(
        'broker/create-broker.ts',
        `if (findPuller(store, ask) === undefined) return { error: 'not_assigned' }`,
        `const was = findPuller(store, ask)\n  if (was === undefined) return { error: 'not_assigned' }`,
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/broker/create-broker.test.ts',
      test: 'a node that is removed while the credential is read gets none',
    },
  },
]
