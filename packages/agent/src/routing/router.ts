// Keeps the node's router at the planned backends. Changes that arrive during an update are part of the next update. A
// router that was down or restarted gets the configuration again. Without a router, containers run but are not reachable
// from outside.

import { setTimeout as pause } from 'node:timers/promises'
import { defined, type RoutedDeployment } from '@holdfast/contract'
import type { Logger } from 'pino'
import { type Backend, type RouterAdmin, RouterError, type Upstreams } from '../ports/router.ts'
import { coalesce } from './coalesce.ts'
import type { PeerRouters } from './peer-routers.ts'
import { type LocalReplica, planBackends, upstreamsOf } from './plan-backends.ts'
import { createPeerProver } from './prove-peers.ts'

const UPDATE_EVERY_MS = 1000
/** Time for which a withdrawn address is treated as in use. A request that stays in flight for longer may be cut off. */
const LATELY_MS = 30_000

export interface RouterDeps {
  readonly admin: RouterAdmin
  /**
   * The routes from the server. While they are undefined, because no server has sent any, the router is left unchanged.
   */
  table(): readonly RoutedDeployment[] | undefined
  replicas(): readonly LocalReplica[]
  /** The routers of the other nodes; absent: they are reached by plain HTTP. */
  readonly peers?: Pick<PeerRouters, 'security' | 'choose'> | undefined
  /** A monotonic clock in milliseconds. */
  monotonicMs(): number
  readonly log: Logger
}

export interface Router {
  /** Called when the planned backends may have changed; updates the router. */
  nudge(): void
  /** Resolves when the router serves the current plan, or does not answer, or at the deadline. */
  applied(atMostMs: number): Promise<void>
  /** Withdraws one run of a container; resolves when no new request reaches the container, or at the deadline. */
  withdraw(address: string, run: string, atMostMs: number): Promise<void>
  /** Whether requests to the address may be in flight: the address is, may be, or recently was an upstream. */
  routedLately(address: string): boolean
  close(): void
}

export function startRouter({ admin, table, replicas, peers, monotonicMs, log }: RouterDeps): Router {
  const upstreams = createUpstreamTable(monotonicMs)
  const withdrawn = new Map<string, string>()
  const disk = createHealth(log, 'upstream files')
  const health = createHealth(log, 'router configuration')
  const prover = createPeerProver({ probe: admin.probe, onProven: () => void update(), log })
  let backends: readonly Backend[] | undefined

  const write = coalesce(async () => {
    try {
      if (upstreams.current() === undefined) upstreams.set(await admin.readUpstreams())
      const routed = table()
      if (routed === undefined) return
      const planned = planBackends({
        table: routed,
        replicas: replicas(),
        upstreams: upstreams.current() ?? new Map(),
        withdrawn,
        ...defined({ choose: peers && ((given: readonly string[]) => peers.choose(given, prover.isProven)) }),
      })
      upstreams.expect(planned)
      await admin.writeUpstreams(planned)
      backends = planned
      upstreams.set(upstreamsOf(planned))
      disk.succeeded()
    } catch (error) {
      disk.failed(error)
    }
  })
  const load = coalesce(async () => {
    try {
      if (backends === undefined) return
      const security = peers?.security()
      await admin.load(backends, security)
      // A line with secure peers needs a configuration that knows them, so they are proven only after the load.
      if (security !== undefined) prover.prove(security)
      health.succeeded()
    } catch (error) {
      health.failed(error)
    }
  })
  const update = (): Promise<void> => write().then(load)
  const timer = setInterval(update, UPDATE_EVERY_MS).unref()
  void update()
  return {
    nudge: () => void update(),
    // Does not wait for an unavailable router: when the router starts, it reads the files that are already on its disk.
    applied: (atMostMs) =>
      withDeadline(atMostMs, health.isGood() ? update() : write().then(() => void load())),
    async withdraw(address, run, atMostMs) {
      withdrawn.set(address, run)
      await withDeadline(atMostMs, write())
    },
    routedLately: upstreams.routedLately,
    close() {
      clearInterval(timer)
      prover.close()
    },
  }
}

const withDeadline = (ms: number, work: Promise<void>): Promise<void> =>
  Promise.race([work, pause(ms, undefined, { ref: false })])

/** Logs a failure of the router once when it begins or changes, and once when it is over. */
function createHealth(log: Logger, part: string) {
  let last = ''
  return {
    isGood: () => last === '',
    succeeded() {
      if (last !== '') log.info({ part }, 'router update succeeded again')
      last = ''
    },
    failed(error: unknown) {
      const message = String(error)
      const fault = error instanceof RouterError ? error.fault : 'unwritten'
      if (fault === 'unwritten' && message !== last) log.error({ message, part }, 'router file write failed')
      if (fault === 'refused' && message !== last) log.error({ message }, 'router rejected its configuration')
      if (fault === 'unavailable' && last === '')
        log.warn({ message }, 'router does not answer, this node serves no routes')
      last = message
    },
  }
}

interface UpstreamTable {
  /** The current upstreams; undefined until they were read from the router's disk. */
  current(): Upstreams | undefined
  /** Records that a write of these backends begins. Until it ends, the old and the new upstreams may be in effect. */
  expect(backends: readonly Backend[]): void
  set(upstreams: Upstreams): void
  routedLately(address: string): boolean
}

function createUpstreamTable(monotonicMs: () => number): UpstreamTable {
  let current: Upstreams | undefined
  let routed: ReadonlySet<string> = new Set()
  const removedMs = new Map<string, number>()
  const isOld = (ms: number): boolean => monotonicMs() - ms >= LATELY_MS
  return {
    current: () => current,
    expect(backends) {
      routed = new Set([...routed, ...[...upstreamsOf(backends).values()].flat()])
    },
    set(now) {
      const after = new Set([...now.values()].flat())
      for (const [address, ms] of removedMs) if (isOld(ms)) removedMs.delete(address)
      for (const address of routed) if (!after.has(address)) removedMs.set(address, monotonicMs())
      current = now
      routed = after
    },
    // Until the upstream files are read, any address may be an upstream.
    routedLately: (address) =>
      current === undefined ||
      routed.has(address) ||
      !isOld(removedMs.get(address) ?? Number.NEGATIVE_INFINITY),
  }
}
