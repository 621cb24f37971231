// The registry credentials for which the gateway asks the broker: of images that the node pulls, and of no others.

import { asNodeId, asTenantId, asVolumeId, type DesiredCopy } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { CredentialAsk } from '../../ports/broker.ts'
import type { GatewayContext } from '../deps.ts'
import type { DesiredIndex } from '../desired/desired-index.ts'
import { answerAgent } from './answer-agent.ts'
import type { Session } from './session.ts'

const tenant = asTenantId('00000000-0000-4000-8000-000000000001')
const nodeId = asNodeId('node_01JCPZ0000000000000000000B')
const volume = asVolumeId('vol_01JCPZ0000000000000000000A')

async function ask(host: string, copies: readonly Partial<DesiredCopy>[]) {
  const asked: CredentialAsk[] = []
  const sent: string[] = []
  const broker = {
    async sealCredential(one: CredentialAsk) {
      asked.push(one)
      return { sealed: 'sealed' }
    },
  }
  const index = { assignmentsOf: () => [], copies: { copiesOf: () => copies } }
  const socket = { readyState: 1, OPEN: 1, bufferedAmount: 0, send: (text: string) => sent.push(text) }
  await answerAgent(
    { broker } as unknown as GatewayContext,
    index as unknown as DesiredIndex,
    { tenant, nodeId, agentCalls: 0, socket } as unknown as Session,
    { type: 'call', id: 'c1', method: 'registry', host },
  )
  return { asked, answer: JSON.parse(sent[0] ?? '{}') }
}

const COPY = { volume, images: ['registry.example/db@sha256:1'] }

test('a node without containers gets the credential for the writers of its promotable copy', async () => {
  const { asked, answer } = await ask('registry.example', [{ volume }, COPY])
  expect(asked).toEqual([{ tenant, nodeId, volume, host: 'registry.example' }])
  expect(answer).toMatchObject({ id: 'c1', sealed: 'sealed' })
})

test.each([
  ['another registry', 'other.example', COPY],
  ['a registry whose name begins the same', 'registry', COPY],
  ['a copy that is not promotable', 'registry.example', { volume }],
])('a node gets no credential for %s', async (_, host, copy) => {
  const { asked, answer } = await ask(host, [copy])
  expect(asked).toEqual([])
  expect(answer).toMatchObject({ error: 'host_not_in_use' })
})
