// Copies of volumes in a session: all are reported after a complete set with copies, none to a server that sends no copies,
// and the calls `measure`, `checkpoint`, `promises` and `prepare` are answered.

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { asNodeId, asVolumeId, CALL_VOLUMES, type ObservedCopy } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { afterEach, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { newTenant } from '../fixtures/agent.fixture.ts'
import type { DesiredChange, Session } from '../ports/session.ts'
import { machineFacts, THIS_BUILD } from '../state/machine.ts'
import { startSession } from './start-session.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const COPY: ObservedCopy = { volume: VOLUME, epoch: 1, state: 'present', sizeBytes: 7, reason: '' }
const CHECKPOINT = { epoch: 1, number: 2 }
const MEASURED = { volume: VOLUME, usedBytes: 5, measuredAt: '2026-11-17T10:00:00.000Z' }
const CHECKED = { ...MEASURED, checkpoint: CHECKPOINT }
const SET = { session: 1, revision: 9, items: [], templates: {} }

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

interface Opened {
  readonly socket: WebSocket
  readonly session: Session
  readonly received: { readonly type: string }[]
  readonly changes: DesiredChange[]
  send(message: object): void
}

/** A session with a server that has sent its welcome. */
async function openSession(): Promise<Opened> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const changes: DesiredChange[] = []
  const session = startSession({
    state: {
      server: `http://127.0.0.1:${Object(server.address()).port}`,
      nodeId: asNodeId('node_01JCPZ0000000000000000000A'),
      nodeName: 'n1',
      tenant: newTenant(),
      generation: 1,
      labels: {},
      engine: 'unix:///run/docker.sock',
      engineVersion: { version: '', apiVersion: '' },
      identityKey: generateKeyPairSync('ed25519').privateKey,
      encryptionKey: generateKeyPairSync('x25519').privateKey,
    },
    machine: () => machineFacts({ labels: {} }, { version: '', apiVersion: '' }, THIS_BUILD),
    onDesired: (change) => changes.push(change),
    containers: async () => [],
    copies: () => [COPY],
    measure: () => [MEASURED],
    checkpoint: async () => [CHECKED],
    async promises(method, asked) {
      if (asked.some(({ epoch }) => epoch === 0)) throw new Error('no pool')
      return asked.map(({ volume, epoch, cv }) => ({
        ...{ volume, epoch, cv, held: [] },
        state: method === 'prepare' ? 'voted' : 'expired',
      }))
    },
    log: pino({ level: 'silent' }),
  })
  const [socket]: WebSocket[] = await once(server, 'connection')
  if (socket === undefined) throw new Error('no connection')
  ends.push(() => {
    session.close()
    server.close()
  })
  const received: { readonly type: string }[] = []
  socket.on('message', (data) => received.push(JSON.parse(String(data))))
  const send = (message: object): void => socket.send(JSON.stringify(message))
  send({ type: 'welcome', session: 1, tenant: 't', heartbeatMs: 60_000 })
  return { socket, session, received, changes, send }
}

/** Waits until the agent has handled all messages so far, and returns its reports. */
async function reportsOf({ received, send }: Opened): Promise<object[]> {
  const id = `call-${received.length}`
  send({ type: 'call', id, method: 'measure' })
  const answered = () => received.some((message) => 'id' in message && message.id === id)
  await waitUntil(answered, { what: 'the agent answers' })
  return received.filter(({ type }) => type === 'status')
}

test('reports all copies after each complete set with copies, and changed ones at once', async () => {
  const opened = await openSession()
  opened.send({ type: 'complete', ...SET, copies: [], peers: [] })
  const report = { type: 'status', session: 1, observations: [], copies: [COPY] }
  expect(await reportsOf(opened)).toEqual([report])
  expect(opened.changes).toMatchObject([{ complete: true, copies: [], peers: [] }])
  opened.session.reportCopies([{ ...COPY, sizeBytes: 8 }])
  expect(await reportsOf(opened)).toHaveLength(2)
  opened.send({ type: 'delta', ...SET, gone: [], goneCopies: [VOLUME] })
  expect(await reportsOf(opened)).toHaveLength(2)
  expect(opened.changes.at(-1)).toMatchObject({ complete: false, goneCopies: [VOLUME] })
  opened.send({ type: 'complete', ...SET, copies: [] })
  expect((await reportsOf(opened)).at(-1)).toEqual(report)
})

test('reports no copies to a server that sends none, and answers what it measured', async () => {
  const opened = await openSession()
  opened.send({ type: 'complete', ...SET })
  opened.session.reportCopies([COPY])
  expect(await reportsOf(opened)).toEqual([])
  expect(opened.changes[0]).not.toHaveProperty('copies')
  expect(opened.received.at(-1)).toMatchObject({ type: 'answer', measurements: [MEASURED] })
  opened.send({ type: 'call', id: 'last', method: 'checkpoint' })
  await waitUntil(() => opened.received.some((message) => 'id' in message && message.id === 'last'), {
    what: 'the agent answers',
  })
  expect(opened.received.at(-1)).toMatchObject({ type: 'answer', measurements: [CHECKED] })
})

test('answers about promises and votes, for as many volumes as a call may have', async () => {
  const opened = await openSession()
  const asked = { volume: VOLUME, epoch: 1, cv: 3 }
  const answerTo = async (method: string, volumes: object[]): Promise<object | undefined> => {
    const id = `${method}-${volumes.length}-${opened.received.length}`
    opened.send({ type: 'call', id, method, volumes })
    return waitUntil(() => opened.received.find((message) => 'id' in message && message.id === id), {
      what: 'the agent answers',
    })
  }
  const answer = { ...asked, held: [] }
  expect(await answerTo('promises', [asked])).toMatchObject({ promises: [{ ...answer, state: 'expired' }] })
  expect(await answerTo('prepare', [asked])).toMatchObject({ promises: [{ ...answer, state: 'voted' }] })
  expect(await answerTo('prepare', [{ ...asked, epoch: 0 }])).toHaveProperty('error')
  const many = Array.from({ length: CALL_VOLUMES + 1 }, () => asked)
  expect(await answerTo('prepare', many)).toHaveProperty('error')
})
