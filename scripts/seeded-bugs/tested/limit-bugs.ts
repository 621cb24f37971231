// Seeded bugs around what one tenant or a stranger can use up.

import { server } from '../bug.ts'
import type { TestedBug } from './tested-bug.ts'

export const LIMIT_BUGS: readonly TestedBug[] = [
  {
    name: 'a tenant issues API tokens without limit',
    edits: [
      server(
        'operations/tenants/tokens.ts',
        `checkQuotas([{ kind: 'tokens', used, requested: 1, limit }])`,
        `checkQuotas([{ kind: 'tokens', used: Math.min(used, 0), requested: 1, limit }])`,
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/operations/tenants/tokens.test.ts',
      test: 'two server replicas together issue no more tokens than the quota allows',
    },
  },
  {
    name: 'each further token brings its tenant further requests',
    edits: [
      server(
        'api/request/rate-limit.ts',
        'Math.max(ofTokens.waitSeconds(own), ofTenants.waitSeconds(shared))',
        'ofTokens.waitSeconds(own)',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/api/request/rate-limit.test.ts',
      test: 'many tokens of a tenant share the rate of the tenant, and other tenants keep theirs',
    },
  },
  {
    name: 'failures of one client lock out a valid credential from the same address',
    edits: [
      server(
        'api/request/failed-attempts.ts',
        'outcome.ok || !outcome.rejections.some((rejection) => rejection.code === code)',
        '!outcome.ok && !outcome.rejections.some((rejection) => rejection.code === code)',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/api/request/failed-attempts.test.ts',
      test: 'a valid credential is accepted from an address that failed any number of times',
    },
  },
  {
    name: 'a large body is read before its sender has proven anything',
    edits: [
      server(
        'api/internal-calls.ts',
        `return verdict === 'unproven' && bytes > UNPROVEN_BYTES ? 413 : undefined`,
        'return undefined',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/api/unproven-bodies.test.ts',
      test: 'a large body is refused before it is read, unless its head is proven',
    },
  },
  {
    name: 'accesses push entries of writes out of the audit trail',
    edits: [
      server(
        'operations/record-write.ts',
        'ACCESSES.has(write.action) ? accessAudit : audit',
        'ACCESSES.has(write.action) && write.action === "" ? accessAudit : audit',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/operations/events/reading-log.test.ts',
      test: 'five thousand log reads write nothing while they are answered, and push out no write',
    },
  },
]
