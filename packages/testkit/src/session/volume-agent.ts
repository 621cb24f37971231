// An agent that holds copies of volumes in memory: it reports each desired copy as present or removed, calls its replicas
// current, releases a primary that is handed over, and answers the calls `measure` and `checkpoint`. Its promises and
// votes, and its requests as a primary, are what the test scripts.

import {
  AGENT_CAPABILITIES,
  type Answer,
  type AskedVolume,
  asNodeId,
  type ConfigureRequest,
  type DesiredCopy,
  type Measurement,
  type NodeId,
  type ObservedCopy,
  type Peer,
  type PromiseAnswer,
  type ServerMessage,
  type VolumeId,
} from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { makeSimulatedKeys, type SimulatedKeys } from '../load/simulated-agents.ts'
import { makeNode } from '../nodes/enroll.ts'
import type { ApiClient } from '../platform/api-client.ts'
import { type OpenAgent, openRaw } from './raw-agent.ts'

export interface VolumeAgent {
  readonly nodeId: NodeId
  readonly agent: OpenAgent
  readonly copies: ReadonlyMap<VolumeId, DesiredCopy>
  readonly peers: () => readonly Peer[]
  /** Changes what the agent reports about every copy from now on; undefined reports nothing. */
  behave(report: (copy: DesiredCopy) => ObservedCopy | undefined): void
  /** Changes what the agent answers about every copy from now on. */
  answer(answer: AnswerAbout): void
  /** Changes what the agent answers to `promises` and `prepare` from now on; undefined: it does not answer. */
  promise(answer: AnswerPromises | undefined): void
  /** The calls `promises` and `prepare` that the agent received, oldest first. */
  readonly asked: readonly AskedCall[]
  /** Sends the call `configure` and returns the server's answer. */
  configure(requests: readonly ConfigureRequest[]): Promise<Answer>
  close(): void
}

type PromiseMethod = 'promises' | 'prepare'

interface AskedCall {
  readonly method: PromiseMethod
  readonly volumes: readonly AskedVolume[]
}

/** The answer about one volume; undefined leaves it out. */
type AnswerPromises = (
  asked: AskedVolume,
  copy: DesiredCopy,
  method: PromiseMethod,
) => PromiseAnswer | undefined

type AnswerAbout = (
  copy: DesiredCopy,
  method: 'measure' | 'checkpoint',
) => Pick<Measurement, 'checkpoint' | 'replicas'>

export interface VolumeAgentOptions {
  readonly poolBytes: number
  /** By default those of an agent of this version. */
  readonly capabilities?: readonly string[]
  readonly report?: (copy: DesiredCopy) => ObservedCopy | undefined
  readonly agentPeerAddress?: string
  /** Measures a copy for the call `measure`. */
  readonly measure?: (copy: DesiredCopy) => Measurement | Promise<Measurement>
}

/** The report of an agent that does at once what is desired. */
export function obey(copy: DesiredCopy): ObservedCopy {
  const { volume, epoch, desired, role, peers, handOverTo, sizeBytes } = copy
  if (desired === 'removed') return { volume, epoch, state: 'removed', sizeBytes: 0, reason: '' }
  const present = { volume, epoch, state: 'present' as const, sizeBytes, reason: '' }
  if (role === 'replica') return { ...present, checkpoint: { epoch, number: 1 } }
  return {
    ...present,
    replicas: peers.map((nodeId) => ({ nodeId, state: 'current' as const })),
    ...(handOverTo === undefined ? {} : { released: { to: handOverTo, checkpoint: { epoch, number: 9 } } }),
  }
}

/** The answer of an agent whose primary renews its promises: it does not vote. */
const keepPromise: AnswerPromises = ({ volume, epoch, cv }, { role }) => ({
  volume,
  epoch,
  cv,
  state: role === 'primary' ? 'primary' : 'promised',
  held: [],
})

/**
 * The answers of a copy whose promise has expired and which votes when it is asked to. It holds the checkpoint `number`,
 * taken `lagMs` before the last moment at which the primary can have written.
 */
export const vote =
  (number: number, lagMs = 1_000): AnswerPromises =>
  ({ volume, epoch, cv }, _copy, method) => ({
    volume,
    epoch,
    cv,
    state: method === 'prepare' ? 'voted' : 'expired',
    held: [{ epoch, number, takenAt: { boot: 1, ms: 10_000 } }],
    lastWriteBy: { boot: 1, ms: 10_000 + lagMs },
  })

export interface EnrolledVolumeNode extends SimulatedKeys {
  readonly nodeId: NodeId
}

export async function enrollVolumeNode(
  baseUrl: string,
  api: ApiClient,
  name: string,
): Promise<EnrolledVolumeNode> {
  const keys = makeSimulatedKeys()
  const { publicKey, encryptionKey } = keys
  return {
    ...keys,
    nodeId: asNodeId(await makeNode(baseUrl, api, name, { sent: { publicKey, encryptionKey } })),
  }
}

export async function openVolumeAgent(
  baseUrl: string,
  node: EnrolledVolumeNode,
  options: VolumeAgentOptions,
): Promise<VolumeAgent> {
  const { poolBytes, agentPeerAddress = '10.0.0.1:7844' } = options
  const { capabilities = AGENT_CAPABILITIES } = options
  const copies = new Map<VolumeId, DesiredCopy>()
  let peers: readonly Peer[] = []
  let report = options.report ?? obey
  let answer = answerAtOnce
  let promise: AnswerPromises | undefined = keepPromise
  const asked: AskedCall[] = []
  const answers = new Map<string, Answer>()
  let calls = 0
  const agent = await openRaw(
    baseUrl,
    { ...node, generation: 1 },
    { capabilities: [...capabilities], storage: { poolBytes, usedBytes: 0 }, agentPeerAddress },
  )
  const reportAll = () => {
    const observed = [...copies.values()].flatMap((copy) => report(copy) ?? [])
    agent.send({ type: 'status', session: agent.session, observations: [], copies: observed })
  }
  const answerCall = async (id: string, method: 'measure' | 'checkpoint') => {
    const measured = async (copy: DesiredCopy) => ({
      ...(await (options.measure ?? measure)(copy)),
      ...answer(copy, method),
    })
    agent.send({ type: 'answer', id, measurements: await Promise.all([...copies.values()].map(measured)) })
  }
  const answerPromises = (id: string, call: AskedCall) => {
    asked.push(call)
    const script = promise
    if (script === undefined) return
    const promises = call.volumes.flatMap((volume) => {
      const copy = copies.get(volume.volume)
      return (copy && script(volume, copy, call.method)) ?? []
    })
    agent.send({ type: 'answer', id, promises })
  }
  const hear = (message: ServerMessage): void => {
    if (message.type === 'complete' && message.copies !== undefined) copies.clear()
    if (message.type === 'complete' || message.type === 'delta') {
      for (const copy of message.copies ?? []) copies.set(copy.volume, copy)
      for (const id of message.type === 'delta' ? (message.goneCopies ?? []) : [])
        for (const volume of copies.keys()) if (volume === id) copies.delete(volume)
      peers = message.peers ?? peers
      reportAll()
    }
    if (message.type === 'call' && (message.method === 'measure' || message.method === 'checkpoint'))
      void answerCall(message.id, message.method)
    if (message.type === 'call' && (message.method === 'promises' || message.method === 'prepare'))
      answerPromises(message.id, { method: message.method, volumes: message.volumes ?? [] })
    if (message.type === 'answer') answers.set(message.id, message)
  }
  for (const message of agent.heard) hear(message)
  agent.socket.on('message', (data, isBinary) => {
    if (!isBinary) hear(JSON.parse(String(data)))
  })
  return {
    nodeId: node.nodeId,
    agent,
    copies,
    peers: () => peers,
    behave(next) {
      report = next
      reportAll()
    },
    answer(next) {
      answer = next
    },
    promise(next) {
      promise = next
    },
    asked,
    async configure(requests) {
      calls += 1
      const id = `configure-${calls}`
      agent.send({ type: 'call', id, method: 'configure', requests: [...requests] })
      return waitUntil(() => answers.get(id), { what: 'the server answers the call configure' })
    },
    close: () => agent.close(),
  }
}

const measure = ({ volume }: DesiredCopy) => ({
  volume,
  usedBytes: 4096,
  measuredAt: '2026-01-01T00:00:00.000Z',
})

/** The answer of a primary whose replicas have its newest checkpoint. */
const answerAtOnce: AnswerAbout = ({ epoch, peers }, method) => ({
  ...(method === 'checkpoint' ? { checkpoint: { epoch, number: 3 } } : {}),
  replicas: peers.map((nodeId) => ({ nodeId, checkpoint: { epoch, number: 3 }, age: 2 })),
})
