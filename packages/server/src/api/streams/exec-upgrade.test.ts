// Behind a proxy, all clients share one address: wrong exec tickets of one of them must not keep another one out.

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AssignmentId, EXEC_SUBPROTOCOL, type NodeId, ownerOf, type TenantId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  clock,
  openOver,
  putTenant,
  uidOf,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { createClientAddress } from '../../net/client-address.ts'
import { serveUpgrades } from '../../net/upgrade.ts'
import { mintExecTicket } from '../../operations/deployments/exec/exec-ticket.ts'
import { mintToken } from '../../operations/tenants/tokens.ts'
import { someTenant } from '../../store/records.fixture.ts'
import { execTickets, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { realIds as ids } from '../../system-clock.ts'
import { createFailedAttempts } from '../request/failed-attempts.ts'
import { createExecUpgrades } from './exec-upgrade.ts'

interface Ticket {
  readonly id: string
  readonly ticket: string
}

async function putTicket(store: Store, tenant: TenantId): Promise<Ticket> {
  const now = clock.now()
  const [createdAt = '', expiresAt = ''] = [now, now + 60_000].map((at) => new Date(at).toISOString())
  const { record } = mintToken(ids, createdAt, tenant, { name: 'mine', role: 'developer', expiresAt })
  const order = { assignmentId: 'rep_1' as AssignmentId, nodeId: 'node_1' as NodeId, replica: 1 }
  const { text, secretHash, sealed } = mintExecTicket(ids, { ...order, command: ['sh'], tty: false })
  const id = ids.ulid()
  await write(store, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, record.id), record)
    transaction.put(globally(execTickets, id), {
      ...{ v: 1, tenant, token: record.id, role: record.role, onBehalf: false },
      ...{ owner: ownerOf('deployment', uidOf('web')), name: 'web', secretHash, sealed, expiresAt },
    })
  })
  return { id: `exec_${id}`, ticket: text }
}

async function openServer(store: Store, trustedProxies: readonly string[]): Promise<number> {
  const execs = createExecUpgrades({
    store,
    clock,
    openStream: () => ({ credit: () => {}, room: 0, send: () => {}, close: () => {} }),
    failedTickets: createFailedAttempts(5, clock),
    clientAddress: createClientAddress(trustedProxies),
    publicUrl: 'http://127.0.0.1',
    log: { info: () => {} },
    newRequestId: () => 'req_1',
  })
  const server = createServer()
  serveUpgrades(server, [execs.take])
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    execs.close()
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** The status of the response to an upgrade request of a client behind a proxy. */
function open(port: number, { id, ticket }: Ticket, client: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({
      ...{ host: '127.0.0.1', port, path: `/api/v1/exec/${id}?ticket=${ticket}` },
      headers: {
        'x-forwarded-for': client,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
        'sec-websocket-protocol': EXEC_SUBPROTOCOL,
      },
    })
    sent.on('response', (response) => resolve(response.resume().statusCode ?? 0))
    sent.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end()
  })
}

const WRONG: Ticket = { id: `exec_${'0'.repeat(26)}`, ticket: 'A'.repeat(43) }

async function statusesOf(trustedProxies: readonly string[]) {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const good = await putTicket(store, someTenant())
  const port = await openServer(store, trustedProxies)
  const wrong: number[] = []
  for (let sent = 0; sent < 8; sent += 1) wrong.push(await open(port, WRONG, '203.0.113.5'))
  const other = await open(port, WRONG, '203.0.113.6')
  return { wrong, other, good: await open(port, good, '203.0.113.6') }
}

const LIMITED = [401, 401, 401, 401, 401, 429, 429, 429]

test('behind an unknown proxy, wrong tickets of one client do not lock out the valid ticket of another', async () => {
  expect(await statusesOf([])).toEqual({ wrong: LIMITED, other: 429, good: 101 })
})

test('behind a trusted proxy, wrong tickets are limited for each client', async () => {
  expect(await statusesOf(['127.0.0.0/8'])).toEqual({ wrong: LIMITED, other: 401, good: 101 })
})
