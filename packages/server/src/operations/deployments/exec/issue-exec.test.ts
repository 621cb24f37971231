// Which replica a command runs in, if a canary runs beside the deployment.

import { type AssignmentId, type Json, ownerOf, type TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  clock,
  nodeId,
  openOver,
  putTenant,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { aDeployment, someTenant } from '../../../store/records.fixture.ts'
import { deployments, execTickets, observations, tokens } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, inTenant, placementAt } from '../../../store/transaction.ts'
import { realIds as ids } from '../../../system-clock.ts'
import { openExecTicket } from './exec-ticket.ts'
import { issueExec } from './issue-exec.ts'

const TIME = '2026-01-01T00:00:00.000Z'
const TOKEN = 'tok_1' as TokenId
const tenant = someTenant()
const web = aDeployment('web')
const owner = ownerOf('deployment', web.uid)
let store: Store | undefined
afterEach(() => store?.close())

const assignment = (id: string, over: object = {}) => ({
  ...{ id: id as AssignmentId, replica: 1, nodeId, revision: 1, templateHash: 'a' },
  ...{ desired: 'running' as const, assignedAt: TIME },
  ...over,
})

/** The replica that runs the command, of a canary whose replicas are ready and a deployment whose replica starts. */
async function chosen(asked: { [name: string]: Json }): Promise<string> {
  const opened = await openOver(createMemoryKeyspace())
  store = opened
  await write(opened, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, TOKEN), {
      ...{ v: 1, id: TOKEN, name: 't', role: 'developer', expiresAt: '', createdAt: '', tenant },
      secretHash: '',
    })
    transaction.put(inTenant(tenant, deployments, 'web'), web)
    transaction.put(placementAt(tenant, owner), {
      ...{ v: 1, owner, name: 'web', revision: 1, everAssigned: true, reportedRefusals: '' },
      ...{ reportedPhase: '', templates: {} },
      assignments: [
        assignment('rep_1'),
        assignment('can_1', { canary: true }),
        assignment('can_2', { canary: true, replica: 2 }),
      ],
    })
    for (const [id, state] of [
      ['rep_1', 'running'],
      ['can_1', 'ready'],
      ['can_2', 'ready'],
    ] as const)
      transaction.put(inTenant(tenant, observations, id), {
        ...{ v: 1, assignmentId: id as AssignmentId, generation: 1, seq: 1, state, containerId: 'c' },
        ...{ reason: '', startedAt: TIME, exitCode: null, restarts: 0, gone: false, owner, nodeId, at: TIME },
      })
  })
  const caller = { tenant, token: TOKEN, role: 'developer' as const, onBehalf: false, requestId: 'r' }
  const issued = await issueExec({ store: opened, clock, ids }, caller, 'web', { command: ['ls'], ...asked })
  if (!issued.ok) return issued.rejections.map(({ code, field }) => `${code} ${field}`).join()
  await opened.fresh()
  const kept = opened.list(execTickets).map(({ record }) => openExecTicket(issued.value.ticket, record))
  return String(kept[0]?.assignmentId)
}

test.each<[string, { [name: string]: Json }, string]>([
  ['a replica of the deployment itself', {}, 'rep_1'],
  ['the replica of the deployment with the number', { replica: 1 }, 'rep_1'],
  ['a replica of the canary if asked', { canary: true }, 'can_1'],
  ['the replica of the canary with the number', { canary: true, replica: 2 }, 'can_2'],
  ['no replica of the canary unless asked', { replica: 2 }, 'field_type_invalid replica'],
])('a command runs in %s', async (_where, asked, expected) => {
  expect(await chosen(asked)).toBe(expected)
})
