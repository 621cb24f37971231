// Keeps the node's router at what is to be served: what came while it is being told goes with the next time. The router may
// be away, be killed, or come back with what it had: that is noticed, and it is told again. Without a router nothing is
// served from outside, and containers run all the same.

import { setTimeout as pause } from 'node:timers/promises'
import type { RoutedDeployment } from '@holdfast/contract'
import type { Logger } from 'pino'
import { type Backend, type RouterAdmin, RouterError, type Upstreams } from '../ports/router.ts'
import { coalesce } from './coalesce.ts'
import { type LocalReplica, planBackends } from './plan-backends.ts'

const LOOK_EVERY_MS = 1000
/** What is in flight for longer is not waited for. */
const LATELY_MS = 30_000

export interface RouterDeps {
  readonly admin: RouterAdmin
  /** Undefined while nobody has said what is routed: then the router keeps what it has. */
  table(): readonly RoutedDeployment[] | undefined
  replicas(): readonly LocalReplica[]
  /** Milliseconds of a clock that never goes back. */
  monotonicMs(): number
  readonly log: Logger
}

export interface Router {
  /** What is to be served may have changed. */
  nudge(): void
  /** What is to be served now is served, or no router answers, or so many milliseconds have passed. */
  applied(atMostMs: number): Promise<void>
  /** No request that comes after it is led to this run of a container, or so many milliseconds have passed. */
  withdraw(address: string, run: string, atMostMs: number): Promise<void>
  /** Is the address led to, or may it be, or was it a short while ago: something may be in flight. */
  ledLately(address: string): boolean
  close(): void
}

export function startRouter({ admin, table, replicas, monotonicMs, log }: RouterDeps): Router {
  const book = createUpstreamTable(monotonicMs)
  const withdrawn = new Map<string, string>()
  const disk = createHealth(log, 'where requests are led')
  const health = createHealth(log, 'what the router starts with')
  let backends: readonly Backend[] | undefined

  const lead = coalesce(async () => {
    try {
      if (book.current() === undefined) book.set(await admin.readUpstreams())
      const routed = table()
      if (routed === undefined) return
      const leads = book.current() ?? new Map()
      const planned = planBackends({ table: routed, replicas: replicas(), leads, withdrawn })
      book.mayLead(planned)
      await admin.lead(planned)
      backends = planned
      book.set(new Map(planned.map(({ name, local }) => [name, local])))
      disk.answered()
    } catch (error) {
      disk.failed(error)
    }
  })
  const load = coalesce(async () => {
    try {
      if (backends === undefined) return
      await admin.load(backends)
      health.answered()
    } catch (error) {
      health.failed(error)
    }
  })
  const tell = (): Promise<void> => lead().then(load)
  const timer = setInterval(tell, LOOK_EVERY_MS).unref()
  void tell()
  return {
    nudge: () => void tell(),
    // One that is known to be away is not waited for: it begins with what is on its disk by then.
    applied: (atMostMs) => withDeadline(atMostMs, health.isWell() ? tell() : lead().then(() => void load())),
    async withdraw(address, run, atMostMs) {
      withdrawn.set(address, run)
      await withDeadline(atMostMs, lead())
    },
    ledLately: book.ledLately,
    close: () => clearInterval(timer),
  }
}

const withDeadline = (ms: number, work: Promise<void>): Promise<void> =>
  Promise.race([work, pause(ms, undefined, { ref: false })])

/** Says once what is wrong, and once that it is well again. `file`: what is written beside what the router is told. */
function createHealth(log: Logger, file: string) {
  let last = ''
  return {
    isWell: () => last === '',
    answered() {
      if (last !== '') log.info({ file }, 'the router is told again')
      last = ''
    },
    failed(error: unknown) {
      const message = String(error)
      const fault = error instanceof RouterError ? error.fault : 'unwritten'
      if (fault === 'unwritten' && message !== last) log.error({ message, file }, 'cannot be written')
      if (fault === 'refused' && message !== last)
        log.error({ message }, 'the router refuses what it was told')
      if (fault === 'unavailable' && last === '')
        log.warn({ message }, 'no router answers: nothing is served from outside by this node')
      last = message
    },
  }
}

interface UpstreamTable {
  /** Undefined until it was read from the router's disk. */
  current(): Upstreams | undefined
  /** They are going to be written: whether they are is not known before it is done. */
  mayLead(backends: readonly Backend[]): void
  set(leads: Upstreams): void
  ledLately(address: string): boolean
}

function createUpstreamTable(monotonicMs: () => number): UpstreamTable {
  let leads: Upstreams | undefined
  let led: ReadonlySet<string> = new Set()
  const leftMs = new Map<string, number>()
  const isLate = (ms: number): boolean => monotonicMs() - ms >= LATELY_MS
  return {
    current: () => leads,
    mayLead(backends) {
      led = new Set([...led, ...backends.flatMap(({ local }) => local)])
    },
    set(now) {
      const after = new Set([...now.values()].flat())
      for (const [address, ms] of leftMs) if (isLate(ms)) leftMs.delete(address)
      for (const address of led) if (!after.has(address)) leftMs.set(address, monotonicMs())
      leads = now
      led = after
    },
    // What was not read yet may lead anywhere.
    ledLately: (address) =>
      leads === undefined || led.has(address) || !isLate(leftMs.get(address) ?? Number.NEGATIVE_INFINITY),
  }
}
