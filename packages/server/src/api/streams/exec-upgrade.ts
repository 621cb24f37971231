// GET /api/v1/exec/{id}?ticket= with a WebSocket upgrade: first the checks of every request, then the check of the
// ticket, then the upgrade. Rejections are sent before the upgrade, as ordinary HTTP responses.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { defined, EXEC_SUBPROTOCOL, entryOf, STREAM_PAYLOAD_BYTES, type TokenId } from '@holdfast/contract'
import { reject, storeUnavailable } from '@holdfast/core'
import { WebSocketServer } from 'ws'
import { createKeyLimit, type KeyLimit } from '../../lib/key-limit.ts'
import type { ClientAddress } from '../../net/client-address.ts'
import { answerUpgrade, type HandleUpgrade } from '../../net/upgrade.ts'
import { isTokenValid, type OpenedExec, openExec } from '../../operations/deployments/exec/open-exec.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OpenNodeStream } from '../../ports/node-streams.ts'
import { type Store, StoreUnavailableError } from '../../store/store.ts'
import { type RejectedResponse, rejectionBody, rejectionHeaders } from '../reply.ts'
import { admitOpenRequest } from '../request/admit-request.ts'
import { type FailedAttempts, limitFailure } from '../request/failed-attempts.ts'
import { readQuery } from '../request/query-parameters.ts'
import { rawQuery } from '../route-table.ts'
import { EXEC_SOCKET } from '../routes/exec.ts'
import { type ExecTimes, serveExec } from './exec-socket.ts'

export interface ExecUpgradeDeps {
  readonly store: Store
  readonly clock: Clock
  readonly openStream: OpenNodeStream
  readonly failedTickets: FailedAttempts
  readonly clientAddress: ClientAddress
  readonly publicUrl: string
  readonly log: { info(facts: object, text: string): void }
  readonly times?: Partial<ExecTimes>
  newRequestId(): string
}

export interface ExecUpgrades {
  readonly take: HandleUpgrade
  /** Ends all running commands. */
  close(): void
}

/** Maximum number of running commands for each token on each server replica. */
const COMMANDS_PER_TOKEN = 16
const CREDENTIAL = { code: 'unauthenticated', field: 'ticket' }
const PATH = /^\/api\/v1\/exec\/([^/?]{1,64})(?:\?|$)/
/** Maximum size of a message from the client; the message is split into frames for the node. */
const MAX_MESSAGE_BYTES = 4 * STREAM_PAYLOAD_BYTES

interface ExecContext extends ExecUpgradeDeps {
  readonly sockets: WebSocketServer
  /** Limits the commands of a token that run or are about to start. */
  readonly limit: KeyLimit<TokenId>
  readonly ending: AbortController
}

export function createExecUpgrades(deps: ExecUpgradeDeps): ExecUpgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: () => EXEC_SUBPROTOCOL,
  })
  const limit = createKeyLimit<TokenId>(COMMANDS_PER_TOKEN)
  const context: ExecContext = { ...deps, sockets, limit, ending: new AbortController() }
  return {
    take(request, socket, head) {
      const [, id] = PATH.exec(request.url ?? '') ?? []
      if (id === undefined) return false
      // The `close` event of the socket follows every error and releases the reserved command, so errors are ignored.
      socket.on('error', () => {})
      upgrade(context, id, { request, socket, head }).catch((error: unknown) => {
        if (error instanceof StoreUnavailableError)
          sendRejected(context, socket, '', { rejections: [storeUnavailable()] })
        else answerUpgrade(socket, 500, {}, JSON.stringify({ error: 'internal' }))
      })
      return true
    },
    close: () => context.ending.abort(),
  }
}

interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

async function upgrade(context: ExecContext, id: string, { request, socket, head }: Upgrade): Promise<void> {
  const requestId = context.newRequestId()
  const admitted = admit(request, requestId)
  if (typeof admitted !== 'string') {
    sendRejected(context, socket, requestId, admitted)
    return
  }
  let release: (() => void) | undefined
  try {
    // The store may call this function again after a write conflict, so only the first call reserves the command.
    const opened = await openExec(context, { id, ticket: admitted, requestId }, (token) => {
      release ??= context.limit.reserve(token)
      return release !== undefined
    })
    const address = context.clientAddress(request)
    const outcome = limitFailure(context.failedTickets, address, opened, CREDENTIAL)
    if (outcome.ok) start(context, outcome.value, { request, socket, head })
    else sendRejected(context, socket, requestId, outcome)
  } finally {
    // The command's reservation ends when the socket closes, or now if the socket is destroyed and emits no `close`.
    if (release !== undefined && !socket.destroyed) socket.once('close', release)
    else release?.()
  }
}

/** Returns the ticket only if all other checks pass, because the first use of a ticket consumes it. */
function admit(request: IncomingMessage, requestId: string): string | RejectedResponse {
  const { headers, url = '' } = request
  const head = { headers, params: {}, rawQuery: rawQuery(url), requestId }
  const admission = admitOpenRequest(EXEC_SOCKET, head)
  if (!admission.ok) return admission.rejected
  const offered = String(headers['sec-websocket-protocol'] ?? '')
  if (!offered.split(',').some((name) => name.trim() === EXEC_SUBPROTOCOL))
    return invalid('Sec-WebSocket-Protocol', offered, EXEC_SUBPROTOCOL)
  if (headers.upgrade?.toLowerCase() !== 'websocket')
    return invalid('Upgrade', headers.upgrade ?? '', 'websocket')
  const query = readQuery(head.rawQuery, EXEC_SOCKET.query)
  const ticket = query.ok ? query.query.ticket : undefined
  return ticket ?? { rejections: [reject('unauthenticated', 'ticket', undefined)] }
}

const invalid = (name: string, received: string, accepted: string): RejectedResponse => ({
  rejections: [reject('header_invalid', name, received, { accepted })],
})

function start(
  context: ExecContext,
  { caller, order }: OpenedExec,
  { request, socket, head }: Upgrade,
): void {
  const { sockets, openStream, ending, times, log, clientAddress } = context
  const { tenant, requestId } = caller
  log.info(
    { requestId, tenant, replica: order.replica, address: clientAddress(request) },
    'exec session opened',
  )
  sockets.handleUpgrade(request, socket, head, (client) =>
    serveExec(client, {
      openStream,
      tenant,
      order,
      ending: ending.signal,
      ...defined({ times }),
      isTokenValid: () => isTokenValid(context, caller),
    }),
  )
}

function sendRejected(
  { publicUrl }: ExecContext,
  socket: Duplex,
  requestId: string,
  rejected: RejectedResponse,
): void {
  const [first] = rejected.rejections
  const status = first === undefined ? 400 : entryOf(first.code).status
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    ...rejectionHeaders(rejected),
  }
  answerUpgrade(socket, status, headers, JSON.stringify(rejectionBody(rejected.rejections, publicUrl)))
}
