// Endpoints that run a command in a container: one issues a ticket, and the other opens a WebSocket with the ticket.

import { execRequestShape, issuedExecShape, string } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { refused } from '../../operations/caller.ts'
import { type ExecDeps, issueExec } from '../../operations/deployments/exec/issue-exec.ts'
import { type AnyEndpoint, endpoint, type OpenEndpoint, param } from '../endpoint.ts'

export function execEndpoints(deps: ExecDeps): AnyEndpoint[] {
  const issue = endpoint('POST', '/api/v1/deployments/{name}/exec', {
    operation: 'createExecTicket',
    action: 'exec',
    summary: 'Issue a ticket to run a command in a container; it is valid once and for 30 seconds',
    body: execRequestShape,
    status: 201,
    shape: issuedExecShape,
    codes: ['deployment_not_found', 'field_unknown', 'field_type_invalid', 'list_too_long'],
    run: (request) => issueExec(deps, request.caller, param(request, 'name'), request.body),
  })
  return [issue, EXEC_SOCKET]
}

/** Endpoint that rejects exec requests without a WebSocket upgrade; streams/exec-upgrade.ts handles upgrade requests. */
export const EXEC_SOCKET: OpenEndpoint = {
  method: 'GET',
  path: '/api/v1/exec/{id}',
  operation: 'openExec',
  credential: 'ticket',
  summary: 'Open the WebSocket of a command, subprotocol holdfast.exec.v1; the ticket is the credential',
  query: ['ticket'],
  headers: [],
  success: { status: 101, shape: string() },
  codes: ['unauthenticated'],
  handle: async () =>
    refused(reject('header_invalid', 'Upgrade', undefined, { accepted: 'websocket, in an upgrade request' })),
}
