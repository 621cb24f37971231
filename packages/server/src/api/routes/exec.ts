// Running a command in a container: the ticket, and the socket that it opens. DECISIONS 1.

import { execRequestShape, issuedExecShape, string } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { refused } from '../../operations/caller.ts'
import { type ExecDeps, issueExec } from '../../operations/deployments/exec/issue-exec.ts'
import { type AnyEndpoint, answer, answerWith, type Endpoint, type OpenEndpoint, param } from '../endpoint.ts'
import type { FailedJoins } from '../request/failed-attempts.ts'

export function execEndpoints(deps: ExecDeps, failedTickets: FailedJoins): AnyEndpoint[] {
  const issue: Endpoint = {
    method: 'POST',
    path: '/api/v1/deployments/{name}/exec',
    action: 'exec',
    summary: 'Ask to run a command in a container; the ticket works once and for 30 seconds',
    query: [],
    headers: [],
    body: execRequestShape,
    success: { status: 201, shape: issuedExecShape },
    codes: ['deployment_not_found', 'field_unknown', 'field_type_invalid', 'list_too_long'],
    handle: async (request) =>
      answerWith(await issueExec(deps, request.caller, param(request, 'name'), request.body), (issued) =>
        answer(201, issued),
      ),
  }
  return [issue, execSocketEndpoint(failedTickets)]
}

/** What is answered to a request that does not ask for a WebSocket; those that do go to exec-upgrade.ts. */
export function execSocketEndpoint({ waitSeconds }: FailedJoins): OpenEndpoint {
  return {
    method: 'GET',
    path: '/api/v1/exec/{id}',
    credential: 'ticket',
    summary: 'Open the WebSocket of a command, subprotocol holdfast.exec.v1; the ticket is the credential',
    query: ['ticket'],
    headers: [],
    success: { status: 101, shape: string() },
    codes: ['unauthenticated'],
    waitSeconds,
    handle: async () =>
      refused(
        reject('header_invalid', 'Upgrade', undefined, { accepted: 'websocket, in a request to upgrade' }),
      ),
  }
}
