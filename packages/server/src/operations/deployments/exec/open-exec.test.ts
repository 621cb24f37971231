// A ticket opens a session once, and only on a server that knows the kind of its owner.

import { asDeploymentUid, asOwner, type Owner, ownerOf, type TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  clock,
  nodeId,
  openOver,
  putTenant,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { someTenant } from '../../../store/records.fixture.ts'
import { execTickets, tokens } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally } from '../../../store/transaction.ts'
import { realIds as ids } from '../../../system-clock.ts'
import { mintExecTicket } from './exec-ticket.ts'
import { openExec } from './open-exec.ts'

const tenant = someTenant()
const token = 'tok_1' as TokenId
const createdAt = new Date(clock.now()).toISOString()
const expiresAt = new Date(clock.now() + 60_000).toISOString()
let store: Store | undefined
afterEach(() => store?.close())

async function openWith(owner: Owner) {
  const opened = await openOver(createMemoryKeyspace())
  store = opened
  const order = { assignmentId: 'rep_1' as never, nodeId, replica: 1, tty: false, command: ['true'] }
  const { text, secretHash, sealed } = mintExecTicket(ids, order)
  const id = ids.ulid()
  const role = 'developer' as const
  await write(opened, (transaction) => {
    putTenant(transaction, tenant)
    const common = { v: 1, tenant, role, secretHash, expiresAt }
    const named = { id: token, name: 't', createdAt }
    transaction.put(globally(tokens, token), { ...common, ...named })
    transaction.put(globally(execTickets, id), {
      ...common,
      token,
      onBehalf: false,
      owner,
      name: 'web',
      sealed,
    })
  })
  await opened.fresh()
  const ticket = { id: `exec_${id}`, ticket: text, requestId: 'r' }
  const isOpened = async () => (await openExec({ store: opened, clock }, ticket, () => true)).ok
  return { isOpened, isKept: () => opened.get(globally(execTickets, id)) !== undefined }
}

test('opens with the ticket of a deployment, once', async () => {
  const { isOpened } = await openWith(ownerOf('deployment', asDeploymentUid('dep_1')))
  expect([await isOpened(), await isOpened()]).toEqual([true, false])
})

test('neither opens nor consumes the ticket of an owner of an unknown kind', async () => {
  const { isOpened, isKept } = await openWith(asOwner('cron/cron_1'))
  expect([await isOpened(), isKept()]).toEqual([false, true])
})
