// The volumes of a node in a separate process, composed as the agent composes them, with a real pool and a real peer port.
// The test acts as the server and as the fencer.

import { fork } from 'node:child_process'
import { createPrivateKey, randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import {
  type AskedVolume,
  asNodeId,
  type Configuration,
  type ConfigureRequest,
  type DesiredCopy,
  type NodeId,
  type ObservedCopy,
  type Peer,
  type PromiseAnswer,
  ulid,
  type VolumeId,
} from '@holdfast/contract'
import { freePort } from '@holdfast/testkit/free-port'
import pino from 'pino'
import { openBtrfsPool } from '../adapters/btrfs/open-pool.ts'
import { MIB, startPool, type TestPool } from '../adapters/btrfs/pool.fixture.ts'
import { createServerLink } from '../session/server-link.ts'
import { type NodeVolumes, startVolumes } from '../start-volumes.ts'
import { generateNodeKeys, publicKeyText } from '../state/node-state.ts'
import { countStart } from '../state/start-count.ts'

const POOL = 256 * MIB
const FAST = 1024 ** 3

interface Place {
  readonly id: NodeId
  readonly key: string
  readonly port: number
  readonly folder: string
  readonly file: string
  readonly leaseMs: number
}

type Method = 'promises' | 'prepare'

/** Messages of the test to the process. `answer`: the configurations for a request of the process. */
type Sent =
  | { readonly kind: 'apply'; readonly copies: readonly DesiredCopy[]; readonly peers: readonly Peer[] }
  | { readonly kind: 'ask'; readonly id: number; readonly method: Method; readonly asked: AskedVolume[] }
  | { readonly kind: 'end'; readonly id: number; readonly volume: VolumeId }
  | { readonly kind: 'answer'; readonly id: number; readonly configurations: readonly Configuration[] }

/** Messages of the process to the test. */
type Emitted =
  | { readonly kind: 'started' }
  | { readonly kind: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'report'; readonly copies: readonly ObservedCopy[] }
  | { readonly kind: 'log'; readonly line: string }
  | { readonly kind: 'configure'; readonly id: number; readonly requests: readonly ConfigureRequest[] }

export interface PromisingNode {
  readonly id: NodeId
  readonly peer: Peer
  readonly key: string
  readonly home: TestPool
  readonly reports: ObservedCopy[]
  readonly logged: string[]
  start(): Promise<void>
  kill(): Promise<void>
  apply(copies: readonly DesiredCopy[], peers: readonly Peer[]): void
  ask(method: Method, asked: AskedVolume): Promise<PromiseAnswer | undefined>
  /** The end of the lease; null: infinite. */
  endMs(volume: VolumeId): Promise<number | null>
  remove(): Promise<void>
}

export async function createPromisingNode(
  leaseMs: number,
  configure: (requests: readonly ConfigureRequest[]) => readonly Configuration[],
): Promise<PromisingNode> {
  const home = await startPool(POOL)
  const { identityKey } = generateNodeKeys()
  const id = asNodeId(`node_${ulid(Date.now(), randomBytes(10))}`)
  const port = await freePort()
  const key = identityKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const place: Place = { id, key, port, folder: home.folder, file: home.file, leaseMs }
  const reports: ObservedCopy[] = []
  const logged: string[] = []
  const waiting = new Map<number, (value: unknown) => void>()
  let child: ReturnType<typeof fork> | undefined
  let calls = 0
  let onStarted = (): void => {}

  const send = (sent: Sent): void => void (child?.connected && child.send(sent))
  const call = <T>(make: (id: number) => Sent): Promise<T> => {
    calls += 1
    const number = calls
    return new Promise<unknown>((resolve) => {
      waiting.set(number, resolve)
      send(make(number))
    }) as Promise<T>
  }
  function receive(message: Emitted): void {
    if (message.kind === 'started') onStarted()
    else if (message.kind === 'reply') waiting.get(message.id)?.(message.value)
    else if (message.kind === 'report') reports.push(...message.copies)
    else if (message.kind === 'log') logged.push(message.line)
    else send({ kind: 'answer', id: message.id, configurations: configure(message.requests) })
  }
  const kill = async (): Promise<void> => {
    const ending = child
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
    const gone = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill('SIGKILL')
    await gone
  }
  return {
    id,
    key,
    home,
    reports,
    logged,
    peer: { nodeId: id, address: `127.0.0.1:${port}`, publicKeys: [publicKeyText(identityKey)] },
    async start() {
      child = fork(fileURLToPath(import.meta.url), [JSON.stringify(place)])
      child.on('error', () => {})
      child.on('message', (message: Emitted) => receive(message))
      await new Promise<void>((resolve, reject) => {
        onStarted = resolve
        child?.once('exit', () => reject(new Error(`The process ended: ${logged.slice(-5).join('\n')}`)))
      })
    },
    kill,
    apply: (copies, peers) => send({ kind: 'apply', copies, peers }),
    ask: async (method, asked) =>
      (await call<PromiseAnswer[]>((number) => ({ kind: 'ask', id: number, method, asked: [asked] })))[0],
    endMs: (volume) => call<number | null>((number) => ({ kind: 'end', id: number, volume })),
    async remove() {
      await kill()
      home.remove()
    },
  }
}

/** Runs the node; called in the child process. */
async function run({ id, key, port, folder, file, leaseMs }: Place): Promise<void> {
  const emit = (message: Emitted): void => void process.send?.(message)
  const log = pino({ level: 'info' }, { write: (line: string) => emit({ kind: 'log', line }) })
  const waiting = new Map<number, (configurations: readonly Configuration[]) => void>()
  let calls = 0
  const server = createServerLink()
  server.attach({
    report() {},
    reportOrphans() {},
    reportCopies: (copies) => emit({ kind: 'report', copies }),
    reportPool() {},
    reportNetworks() {},
    reportDisks() {},
    reportAuthorities() {},
    registryCredential: async () => undefined,
    containerEnvironment: async () => ({ kind: 'unresolved', about: '' }),
    configure: (requests) => {
      calls += 1
      const number = calls
      return new Promise((resolve) => {
        waiting.set(number, resolve)
        emit({ kind: 'configure', id: number, requests })
      })
    },
    close() {},
  })
  const volumes: NodeVolumes = await startVolumes(
    {
      state: { identityKey: createPrivateKey(key), nodeId: id },
      folder,
      engine: { listLabelled: async () => [] },
      openPool: () => openBtrfsPool({ path: file, sizeBytes: POOL }, folder),
      peers: { address: '', host: '127.0.0.1', port, bytesPerSecond: FAST, allowLocal: true },
      promiseLeaseMs: leaseMs,
      // A fencer watches as soon as the end of a lease is finite.
      fences: { isWatched: async (volume) => Number.isFinite(volumes.promises.endMs(volume)) },
      log,
    },
    {
      server,
      desired: new Map(),
      start: await countStart(folder, log),
      monotonicMs: () => performance.now(),
    },
  )
  const endOf = (volume: VolumeId): number | null => {
    const end = volumes.promises.endMs(volume)
    // JSON has no infinity.
    return end === Number.POSITIVE_INFINITY ? null : Math.max(end, -1)
  }
  const base = { revision: 1, complete: true, items: [], gone: [] }
  process.on('message', async (sent: Sent) => {
    if (sent.kind === 'apply') volumes.apply({ ...base, copies: sent.copies, peers: sent.peers }, 'server')
    else if (sent.kind === 'answer') waiting.get(sent.id)?.(sent.configurations)
    else if (sent.kind === 'end') emit({ kind: 'reply', id: sent.id, value: endOf(sent.volume) })
    else emit({ kind: 'reply', id: sent.id, value: await volumes.promises.answer(sent.method, sent.asked) })
  })
  // The process exits when the test process is gone.
  process.on('disconnect', () => process.exit())
  emit({ kind: 'started' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(JSON.parse(process.argv[2] ?? ''))
