// etcd as the key-value engine of the store: implements ports/key-value.ts with a thin gRPC client. Needs etcd 3.5.8 or
// later: in older versions the response to a progress request could overtake events.

import type { CurrentTls } from '../../ports/client-tls.ts'
import { EngineError, type KeyValueEngine, type Watch } from '../../ports/key-value.ts'
import type { Secret } from '../../ports/secret.ts'
import { type Authenticator, anonymous, makeAuthenticator } from './authenticator.ts'
import { type CallDeps, type CallRequest, callWithFailover } from './call-with-failover.ts'
import { makeCredentials, openChannel, parseAddress } from './channel.ts'
import {
  decodeAuthenticateResponse,
  decodeRangeResponse,
  decodeTransactionResponse,
} from './codec/decode-responses.ts'
import {
  encodeAuthenticateRequest,
  encodeCompactionRequest,
  encodeRangeRequest,
  encodeTransactionRequest,
} from './codec/encode-requests.ts'
import { makeEndpoint, makeEndpointPool } from './endpoint-pool.ts'
import { gatherStatus } from './gather-status.ts'
import { startWatch, type WatchDeps, type WatchMember } from './watch.ts'
import type { WatchPulseTimes } from './watch-pulse.ts'

/** The methods of a pino logger that the etcd client uses. */
export interface EtcdLog {
  warn(fields: object, message: string): void
}

export interface EtcdClientOptions {
  /** Addresses of the etcd members: `http://host:port`, `https://host:port` or `host:port`, one for each member. */
  readonly endpoints: readonly string[]
  /** Read for each connection; connections with earlier certificates are replaced before their next use. */
  readonly tls?: CurrentTls
  readonly username?: string
  /** Read at each login, so that the password may change. */
  readonly password?: Secret
  /** Default deadline of calls to etcd, for calls without their own deadline. */
  readonly deadlineMs?: number
  readonly log?: EtcdLog
  /** Called each time a watch is resumed, so that the caller can count resumed watches. */
  readonly onWatchResumed?: () => void
  readonly watchPulse?: WatchPulseTimes
}

interface Member {
  readonly name: string
  open(): WatchMember['client']
}

const DEADLINE_MS = 5_000
/** A dead watch is detected within 2 s: writes wait until the watch delivers them, and must recover within 5 s. */
const WATCH_PULSE: WatchPulseTimes = { quietMs: 500, answerMs: 1_500 }

/** Connects lazily: if etcd is unreachable, calls fail, not the creation. `close` ends every watch and connection. */
export function createEtcdClient(options: EtcdClientOptions): KeyValueEngine {
  const members = membersOf(options)
  const deps = openCalls(options, members)
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS
  const watches = new Set<Watch>()
  const watchDeps = watchDepsFor(options, members, deps.authenticator, watches)
  return {
    ...unaryCalls(deps, deadlineMs),
    watch(request) {
      const watch = startWatch(watchDeps, request)
      watches.add(watch)
      return watch
    },
    status: (call) => gatherStatus(deps, call?.deadlineMs ?? deadlineMs),
    close() {
      for (const watch of watches) watch.close()
      deps.pool.close()
    },
  }
}

/** The connections and the login that all calls of one client share. The caller closes the pool. */
export function openCalls(options: EtcdClientOptions, members = membersOf(options)): CallDeps {
  const pool = makeEndpointPool(
    members.map(({ name, open }) => makeEndpoint(name, open, () => options.tls?.())),
  )
  return { pool, authenticator: authenticatorFor(options, { pool, authenticator: anonymous }) }
}

function membersOf(options: EtcdClientOptions): readonly Member[] {
  if (options.endpoints.length === 0) throw new TypeError('etcd: no endpoint is configured')
  return options.endpoints.map((endpoint) => {
    const address = parseAddress(endpoint, options.tls?.())
    return { name: endpoint, open: () => openChannel(address, makeCredentials(address, options.tls?.())) }
  })
}

type UnaryCalls = Pick<KeyValueEngine, 'range' | 'transact' | 'compact'>

function unaryCalls(deps: CallDeps, defaultMs: number): UnaryCalls {
  return {
    range: async (request, { deadlineMs = defaultMs } = {}) =>
      callWithFailover(deps, {
        method: '/etcdserverpb.KV/Range',
        bytes: requireEncodable(() => encodeRangeRequest(request)),
        decode: decodeRangeResponse,
        deadlineMs,
        repeatable: true,
        needsLeader: request.serializable !== true,
      }),
    transact: async (request, { deadlineMs = defaultMs } = {}) =>
      callWithFailover(deps, {
        method: '/etcdserverpb.KV/Txn',
        bytes: requireEncodable(() => encodeTransactionRequest(request)),
        decode: decodeTransactionResponse,
        deadlineMs,
        repeatable: false,
        needsLeader: true,
      }),
    compact: async (revision, { deadlineMs = defaultMs, physical = false } = {}) =>
      callWithFailover(deps, compaction(revision, physical, deadlineMs)),
  }
}

function compaction(revision: number, physical: boolean, deadlineMs: number): CallRequest<void> {
  return {
    method: '/etcdserverpb.KV/Compact',
    bytes: requireEncodable(() => encodeCompactionRequest(revision, physical)),
    decode: () => {},
    deadlineMs,
    repeatable: false,
    needsLeader: true,
  }
}

function requireEncodable(encode: () => Buffer): Buffer {
  try {
    return encode()
  } catch (error) {
    throw new EngineError('invalid', 'no', String(error))
  }
}

function authenticatorFor(
  { username, password, ...options }: EtcdClientOptions,
  deps: CallDeps,
): Authenticator {
  if (username === undefined) return anonymous
  return makeAuthenticator(() =>
    callWithFailover(deps, {
      method: '/etcdserverpb.Auth/Authenticate',
      bytes: encodeAuthenticateRequest(username, password?.reveal() ?? ''),
      decode: decodeAuthenticateResponse,
      deadlineMs: options.deadlineMs ?? DEADLINE_MS,
      repeatable: true,
      needsLeader: true,
    }),
  )
}

function watchDepsFor(
  options: EtcdClientOptions,
  members: readonly Member[],
  authenticator: Authenticator,
  watches: Set<Watch>,
): WatchDeps {
  return {
    openMember(turn) {
      const member = members[turn % members.length]
      if (!member) throw new TypeError('etcd: no endpoint is configured')
      return { name: member.name, client: member.open() }
    },
    authenticator,
    pulse: options.watchPulse ?? WATCH_PULSE,
    onResume(endpoint, reason) {
      options.log?.warn({ endpoint, reason }, 'etcd watch lost its stream, resuming')
      options.onWatchResumed?.()
    },
    onClosed: (watch) => watches.delete(watch),
  }
}
