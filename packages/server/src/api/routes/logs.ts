// GET /api/v1/deployments/{name}/logs: sends one JSON object per log line, until the reader disconnects or the logs end.

import { Readable } from 'node:stream'
import { defined, string } from '@holdfast/contract'
import {
  type LogDeps,
  type LogQuery,
  type ReadLines,
  readLogs,
} from '../../operations/deployments/logs/read-logs.ts'
import { type ApiRequest, type Endpoint, endpoint, param, type StreamedResponse } from '../endpoint.ts'

export const NDJSON = 'application/x-ndjson'
/** Maximum number of log bytes that are buffered for a slow reader. */
const BUFFERED_BYTES = 64 * 1024

export function logEndpoints(deps: LogDeps): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/deployments/{name}/logs', {
      operation: 'getDeploymentLogs',
      action: 'logs:read',
      summary: 'Read the logs of a deployment, merged over its replicas; one JSON object per line',
      query: ['follow', 'tail', 'since', 'replica', 'canary', 'previous'],
      streams: true,
      shape: string(),
      type: NDJSON,
      codes: ['deployment_not_found'],
      handle: async (request) => {
        const lines = await readLogs(deps, request.caller, param(request, 'name'), logQuery(request))
        return lines.ok ? { ok: true, value: streamLines(lines.value) } : lines
      },
    }),
  ]
}

function logQuery({ query }: ApiRequest): LogQuery {
  const { follow, tail, since, replica, canary, previous } = query
  return { follow, tail, canary, previous, ...defined({ since, replica }) }
}

export function streamLines(read: ReadLines): StreamedResponse {
  const ending = new AbortController()
  const lines = read(ending.signal)
  const stream = new Readable({
    highWaterMark: BUFFERED_BYTES,
    read: () => void pushNext(stream, lines),
    // The reader disconnected: end the pending wait for a log line, then close the log stream.
    destroy(error, done) {
      ending.abort()
      lines.return(undefined).then(
        () => done(error),
        () => done(error),
      )
    },
  })
  return { status: 200, type: NDJSON, stream, end: () => ending.abort() }
}

async function pushNext(stream: Readable, lines: AsyncGenerator<object>): Promise<void> {
  try {
    const { done, value } = await lines.next()
    stream.push(done === true ? null : `${JSON.stringify(value)}\n`)
  } catch (error) {
    stream.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}
