// GET /api/v1/exec/{id}?ticket= with a request to upgrade: the checks of every request, then the ticket, then the socket.
// What is refused is refused as everywhere, before the upgrade. DECISIONS 1 and 2.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { EXEC_SUBPROTOCOL, entryOf, STREAM_PAYLOAD_BYTES } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { WebSocketServer } from 'ws'
import { answerUpgrade, type TakeUpgrade } from '../../net/upgrade.ts'
import { type OpenedExec, openExec, stillCounts } from '../../operations/deployments/exec/open-exec.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OpenNodeStream } from '../../ports/node-streams.ts'
import { type Store, StoreUnavailableError } from '../../store/store.ts'
import { type Refusal, refusalBody, refusalHeaders } from '../reply.ts'
import { admitOpenRequest } from '../request/admit-request.ts'
import type { FailedJoins } from '../request/failed-attempts.ts'
import { readQuery } from '../request/query-parameters.ts'
import { rawQuery } from '../route-table.ts'
import { execSocketEndpoint } from '../routes/exec.ts'
import { type ExecTimes, serveExec } from './exec-socket.ts'
import { createTokenPlaces, type TokenPlaces } from './token-limit.ts'

export interface ExecUpgradeDeps {
  readonly store: Store
  readonly clock: Clock
  readonly openStream: OpenNodeStream
  readonly failedTickets: FailedJoins
  readonly publicUrl: string
  readonly log: { info(facts: object, text: string): void }
  readonly times?: Partial<ExecTimes>
  newRequestId(): string
}

export interface ExecUpgrades {
  readonly take: TakeUpgrade
  /** The commands that run are ended. */
  close(): void
}

/** For each token and server replica. */
const COMMANDS_PER_TOKEN = 16
const PATH = /^\/api\/v1\/exec\/([^/?]{1,64})(?:\?|$)/
/** The longest that a client may send at once; it is cut into frames. */
const MAX_MESSAGE_BYTES = 4 * STREAM_PAYLOAD_BYTES

interface Serving extends ExecUpgradeDeps {
  readonly sockets: WebSocketServer
  /** For commands that run, or are about to. */
  readonly places: TokenPlaces
  readonly ending: AbortController
}

export function createExecUpgrades(deps: ExecUpgradeDeps): ExecUpgrades {
  const sockets = new WebSocketServer({
    ...{ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES },
    handleProtocols: () => EXEC_SUBPROTOCOL,
  })
  const places = createTokenPlaces(COMMANDS_PER_TOKEN)
  const serving: Serving = { ...deps, sockets, places, ending: new AbortController() }
  return {
    take(request, socket, head) {
      const [, id] = PATH.exec(request.url ?? '') ?? []
      if (id === undefined) return false
      socket.on('error', () => {})
      upgrade(serving, id, { request, socket, head }).catch((error: unknown) => {
        const away = error instanceof StoreUnavailableError
        if (away)
          refuse(serving, socket, '', { rejections: [reject('store_unavailable', 'store', undefined)] })
        else answerUpgrade(socket, 500, {}, JSON.stringify({ error: 'internal' }))
      })
      return true
    },
    close: () => serving.ending.abort(),
  }
}

interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

async function upgrade(serving: Serving, id: string, { request, socket, head }: Upgrade): Promise<void> {
  const requestId = serving.newRequestId()
  const address = request.socket.remoteAddress ?? ''
  const admitted = admit(serving, request, address, requestId)
  if (typeof admitted !== 'string') {
    refuse(serving, socket, requestId, admitted)
    return
  }
  let release: (() => void) | undefined
  try {
    // Decided again on a conflict: the place that was taken at first is kept.
    const opened = await openExec(serving, { id, ticket: admitted, requestId }, (token) => {
      release ??= serving.places.take(token)
      return release !== undefined
    })
    if (opened.ok) start(serving, opened.value, { request, socket, head })
    else refuseTicket(serving, opened, { socket, address, requestId })
  } finally {
    // The place is the socket's; one that was refused, or has gone meanwhile, closes no more.
    if (release !== undefined && !socket.destroyed) socket.once('close', release)
    else release?.()
  }
}

function refuseTicket(
  serving: Serving,
  refusal: Refusal,
  { socket, address, requestId }: { socket: Duplex; address: string; requestId: string },
): void {
  if (refusal.rejections[0]?.code === 'unauthenticated') serving.failedTickets.note(address)
  refuse(serving, socket, requestId, refusal)
}

/** The ticket, where nothing else is wrong: it is used up by the first who shows it. */
function admit(
  serving: Serving,
  request: IncomingMessage,
  address: string,
  requestId: string,
): string | Refusal {
  const { headers, url = '' } = request
  const endpoint = execSocketEndpoint(serving.failedTickets)
  const head = { headers, params: {}, rawQuery: rawQuery(url), requestId }
  const passage = admitOpenRequest(endpoint, head, address)
  if (!passage.ok) return passage.refusal
  const offered = String(headers['sec-websocket-protocol'] ?? '')
  if (!offered.split(',').some((name) => name.trim() === EXEC_SUBPROTOCOL))
    return invalid('Sec-WebSocket-Protocol', offered, EXEC_SUBPROTOCOL)
  if (headers.upgrade?.toLowerCase() !== 'websocket')
    return invalid('Upgrade', headers.upgrade ?? '', 'websocket')
  const query = readQuery(head.rawQuery, endpoint.query)
  const ticket = query.ok ? query.query.ticket : undefined
  return ticket ?? { rejections: [reject('unauthenticated', 'ticket', undefined)] }
}

const invalid = (name: string, received: string, accepted: string): Refusal => ({
  rejections: [reject('header_invalid', name, received, { accepted })],
})

function start(serving: Serving, { caller, order }: OpenedExec, { request, socket, head }: Upgrade): void {
  const { sockets, openStream, ending, times, log } = serving
  const { tenant, requestId } = caller
  log.info({ requestId, tenant, replica: order.replica }, 'a command is opened')
  sockets.handleUpgrade(request, socket, head, (client) =>
    serveExec(client, {
      ...{ openStream, tenant, order, ending: ending.signal },
      ...(times === undefined ? {} : { times }),
      stillCounts: () => stillCounts(serving, caller),
    }),
  )
}

function refuse({ publicUrl }: Serving, socket: Duplex, requestId: string, refusal: Refusal): void {
  const [first] = refusal.rejections
  const status = first === undefined ? 400 : entryOf(first.code).status
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    ...refusalHeaders(refusal),
  }
  answerUpgrade(socket, status, headers, JSON.stringify(refusalBody(refusal.rejections, publicUrl)))
}
