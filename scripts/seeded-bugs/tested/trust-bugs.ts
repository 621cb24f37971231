// Seeded bugs around what servers, agents and nodes trust: certificates, restored stores and secret ids.

import { core, server } from '../bug.ts'
import { agent, type TestedBug } from './tested-bug.ts'

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
  {
    name: 'a server starts on a restored store with a raised revision',
    edits: [
      core(
        'restore/judge-known-store.ts',
        '(known.heartbeats ?? 0) > (found.heartbeats ?? 0)',
        '(known.heartbeats ?? 0) < 0',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/lifecycle/recognise-store.test.ts',
      test: 'a server refuses to start on a store that lacks its last heartbeat, even with a higher revision',
    },
  },
  {
    name: 'a restart of the agent is consent to a restored store',
    edits: [
      agent(
        'state/store-guard.ts',
        'if (saved === undefined) return undefined',
        'if (saved?.held !== undefined || saved === undefined) return undefined',
      ),
    ],
    caughtBy: {
      file: 'packages/agent/src/state/store-guard.test.ts',
      test: 'a hold outlasts restarts of the agent and ends with the confirmed epoch',
    },
  },
  {
    name: 'an intent of a restored backup destroys a version that was pinned later',
    edits: [
      server(
        'operations/restore/declare-restored.ts',
        'intents: await voidGlobal(store, intents)',
        'intents: 0',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/operations/restore/declare-restored.test.ts',
      test: 'deletes what must not be used twice, and replaces the epoch last',
    },
  },
  {
    name: 'a restored secrets store hands out another document under a pinned number',
    edits: [
      server(
        'broker/read-documents.ts',
        'request.storedAt === undefined || read.storedAt === undefined || request.storedAt === read.storedAt',
        'request.storedAt === undefined || read.storedAt !== undefined',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/broker/read-documents.test.ts',
      test: 'a version of which the store has another document is not read',
    },
  },
  {
    name: 'a secret id that several processes use is destroyed by the first that renews it',
    edits: [
      server(
        'lifecycle/secret-ids/plan-renewal.ts',
        "found === 'absent' || found.owner === 'operator'",
        "found === 'absent'",
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/lifecycle/secret-ids/renew-secret-id.test.ts',
      test: 'is not destroyed if an operator may have given it to other processes',
    },
  },
  {
    name: 'a secret id is not renewed before it ends',
    edits: [
      server(
        'lifecycle/secret-ids/plan-renewal.ts',
        '(expiresAtMs - createdAtMs) / 2',
        '(expiresAtMs - createdAtMs)',
      ),
    ],
    caughtBy: {
      file: 'packages/server/src/lifecycle/secret-ids/renew-secret-id.test.ts',
      test: 'logs in for a year by renewing itself',
    },
  },
]
