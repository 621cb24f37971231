// A gateway on a listening socket, with its own store on the shared etcd: the part of one server replica that serves
// agent sessions.

import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { GatewayDeps } from '@holdfast/server/gateway/deps'
import { createGateway, type Gateway } from '@holdfast/server/gateway/gateway'
import { DEFAULT_TIMES } from '@holdfast/server/gateway/timings'
import {
  createFailureDetector,
  type FailureDetector,
  logHolds,
} from '@holdfast/server/liveness/failure-detector'
import { serveUpgrades } from '@holdfast/server/net/upgrade'
import { secret } from '@holdfast/server/ports/secret'
import { serverReplicas } from '@holdfast/server/store/records'
import { globally } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { openTestStore, type TestStore, type TestStoreOptions } from '../store/open-test-store.ts'
import { write } from './session-records.ts'

export interface TestGateway {
  readonly gateway: Gateway
  readonly store: TestStore['store']
  readonly engine: TestStore['engine']
  readonly url: string
  readonly detector: FailureDetector
  readonly logged: string[]
  /** Response status of each call that other server replicas have made to this gateway. */
  readonly internalCalls: number[]
  stop(): Promise<void>
}

export interface TestGatewayOptions extends Partial<Omit<GatewayDeps, 'store'>> {
  readonly endpoints: readonly string[]
  readonly root: string
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Wraps the key-value client through which the gateway's store calls etcd. */
  readonly wrap?: NonNullable<TestStoreOptions['wrap']>
  /** Wraps the gateway's store, for example to delay or fail its operations. */
  readonly wrapStore?: (store: TestStore['store']) => TestStore['store']
  /** Deadline of the store's operations, in milliseconds. */
  readonly deadlineMs?: number
}

export async function startTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const {
    endpoints,
    root,
    tls,
    wrap,
    wrapStore = (store) => store,
    deadlineMs = 10_000,
    ...overrides
  } = options
  const opened = await openTestStore({
    endpoints,
    root,
    deadlineMs,
    ...(wrap === undefined ? {} : { wrap }),
  })
  const logged: string[] = []
  const log = (_facts: object, line: string) => logged.push(line)
  const replica = overrides.replica ?? 'server-1'
  const store = wrapStore(opened.store)
  // By default a node may reconnect at once in tests.
  const times = { ...DEFAULT_TIMES, reopenMs: 0, ...overrides.times }
  const onHold = logHolds({ info: log, warn: log })
  const detector = createFailureDetector({ store, self: replica, times, checkMs: times.sweepMs, onHold })
  const gateway = createGateway({
    store,
    clock,
    ids,
    clusterKey: secret('one cluster'),
    detector,
    log: { info: log, warn: log },
    broker: {
      sealEnvironment: async () => ({ error: 'broker_unavailable' }),
      sealCredential: async () => ({}),
    },
    residency: { enforcement: true, regions: {} },
    ...overrides,
    times,
    replica,
  })
  const server: Server = tls === undefined ? createServer() : createTlsServer(tls)
  serveUpgrades(server, [gateway.handleUpgrade])
  const internalCalls: number[] = []
  server.on('request', async (request, response) => {
    const body = await text(request)
    const answer = await gateway.internalCallHandler({
      headers: request.headers,
      path: request.url ?? '',
      body,
    })
    internalCalls.push(answer.status)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  await write(opened.store, (transaction) =>
    transaction.put(globally(serverReplicas, replica), {
      v: 1,
      url,
      startedAt: '',
      heartbeat: 0,
      leads: false,
    }),
  )
  return {
    gateway,
    detector,
    store: opened.store,
    engine: opened.engine,
    url,
    logged,
    internalCalls,
    async stop() {
      await gateway.close()
      detector.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      opened.close()
    },
  }
}
