// Seeded bugs around what servers, agents and nodes trust: certificates, restored stores and removed nodes.

import { server } from '../bug.ts'
import type { TestedBug } from './tested-bug.ts'

export const TRUST_BUGS: readonly TestedBug[] = [
  {
    name: 'the last certificate of a chain is pinned, also if it is no root',
    edits: [
      server(
        'net/certificate-chain.ts',
        'return last !== undefined && isRoot(last) ? last.toString() : undefined',
        'return last?.toString()',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/net/certificate-chain.test.ts',
      test: 'finds no root where the chain ends at an intermediate',
    },
  },
]
