// GET /api/v1/deployments/{name}/logs: one JSON object on each line, for as long as somebody reads. DECISIONS 1.

import { Readable } from 'node:stream'
import { string } from '@holdfast/contract'
import {
  type LogDeps,
  type LogQuery,
  type ReadLines,
  readLogs,
} from '../../operations/deployments/logs/read-logs.ts'
import { type ApiRequest, type Endpoint, param, type StreamedAnswer } from '../endpoint.ts'

const NDJSON = 'application/x-ndjson'
/** What waits here for a slow reader. */
const BUFFERED_BYTES = 64 * 1024

export function logEndpoints(deps: LogDeps): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/deployments/{name}/logs',
      action: 'logs:read',
      summary:
        'Read what the containers of a deployment wrote, merged over its replicas; one JSON object a line',
      query: ['follow', 'tail', 'since', 'replica'],
      headers: [],
      streams: true,
      success: { status: 200, shape: string(), type: NDJSON },
      codes: ['deployment_not_found'],
      handle: async (request) => {
        const lines = await readLogs(deps, request.caller, param(request, 'name'), logQuery(request))
        return lines.ok ? { ok: true, value: answerLines(lines.value) } : lines
      },
    },
  ]
}

function logQuery({ query: { follow, tail, since, replica } }: ApiRequest): LogQuery {
  return {
    ...{ follow, tail },
    ...(since === undefined ? {} : { since }),
    ...(replica === undefined ? {} : { replica }),
  }
}

function answerLines(read: ReadLines): StreamedAnswer {
  const ending = new AbortController()
  const lines = read(ending.signal)
  const stream = new Readable({
    highWaterMark: BUFFERED_BYTES,
    read: () => void pushNext(stream, lines),
    // Whoever waits for a line must not go on waiting when nobody reads it any more: it ends, and then the stream closes.
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
