// Commands of networks against scripted API responses.

import { asNetworkId, asNodeId, type Network } from '@holdfast/contract'
import { expect, test } from 'vitest'
import {
  anEvent,
  invocation,
  scriptClient,
  scriptTerminal,
} from '../../terminal/scripted-terminal.fixture.ts'
import { describe as describeCommand } from '../describe.ts'
import { networkCreate } from './network-create.ts'
import { networkDelete } from './network-delete.ts'
import { networkDescribe } from './network-describe.ts'
import { networkList } from './network-list.ts'

const aNetwork = (parts: Partial<Network> = {}): Network => ({
  id: asNetworkId('net_01JD7QAF7T1B3V9W5Y8Z2A4C6D'),
  name: 'backend',
  driver: 'bridge',
  labels: { team: 'shop' },
  internal: true,
  nodeId: asNodeId('node_01JD7Q4ZJ8V5T2M0K3X9R6B1CA'),
  nodeName: 'n1',
  phase: 'Ready',
  reason: null,
  attached: ['web'],
  createdAt: '2026-01-31T11:00:00.000Z',
  revision: 1,
  ...parts,
})

const clientWith = (network: Network, answers: { [call: string]: unknown } = {}) =>
  scriptClient({
    'GET /networks?limit=500': { items: [network], nextCursor: null },
    [`GET /networks/${network.id}`]: network,
    'GET /events?subject=backend&limit=10': { items: [], nextCursor: 'x' },
    ...answers,
  })

test('network describe shows phase, node, options and the deployments on it', async () => {
  const terminal = scriptTerminal()
  expect(await networkDescribe.run(invocation(terminal, ['backend']), clientWith(aNetwork()))).toBe(0)
  const { out } = terminal.printed
  expect(out).toMatch(/^Phase: +Ready$/m)
  expect(out).toMatch(/^Node: +n1$/m)
  expect(out).toMatch(/^Internal: +yes, it has no way out$/m)
  expect(out).toMatch(/^Labels: +team=shop$/m)
  expect(out).toMatch(/^Attached: +web$/m)
})

test('describe network explains why a network failed', async () => {
  const terminal = scriptTerminal()
  const failed = aNetwork({ phase: 'Failed', reason: 'name_in_use', attached: [] })
  expect(await describeCommand.run(invocation(terminal, ['network', 'backend']), clientWith(failed))).toBe(0)
  expect(terminal.printed.out).toMatch(/^Phase: +Failed \(name_in_use\)$/m)
  expect(terminal.printed.out).toContain('Rename or remove that network')
  expect(terminal.printed.out).toMatch(/^Attached: +nothing$/m)
})

test('network describe shows how long ago each event was', async () => {
  const terminal = scriptTerminal()
  const subject = { kind: 'Network', name: 'backend', uid: aNetwork().id }
  const event = anEvent({ type: 'network.ready', message: 'Network backend is ready.', subject })
  const client = clientWith(aNetwork(), {
    'GET /events?subject=backend&limit=10': { items: [event], nextCursor: 'x' },
  })
  expect(await networkDescribe.run(invocation(terminal, ['backend']), client)).toBe(0)
  expect(terminal.printed.out).toMatch(/^Events:\n {2}2m ago +network\.ready +Network backend is ready\.$/m)
})

test('network list prints a table', async () => {
  const terminal = scriptTerminal()
  expect(await networkList.run(invocation(terminal, []), clientWith(aNetwork()))).toBe(0)
  expect(terminal.printed.out).toMatch(/^NAME +PHASE +NODE +INTERNAL +ATTACHED/m)
  expect(terminal.printed.out).toMatch(/^backend +Ready +n1 +yes +web/m)
})

test('network create and network delete print one line each', async () => {
  const terminal = scriptTerminal()
  const network = aNetwork({ phase: 'Pending', attached: [] })
  const client = clientWith(network, {
    'POST /networks': { network, alterations: [], warnings: [] },
    [`DELETE /networks/${network.id}`]: { ...network, phase: 'Deleting' },
  })
  expect(await networkCreate.run(invocation(terminal, ['backend']), client)).toBe(0)
  expect(await networkDelete.run(invocation(terminal, ['network/backend']), client)).toBe(0)
  expect(terminal.printed.out).toBe('network/backend created\nnetwork/backend deleting\n')
})
