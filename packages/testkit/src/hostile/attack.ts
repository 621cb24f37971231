// Sends a series of hostile requests to one server and checks its responses: no 5xx, no hang, one response per request,
// and every rejection has code, field and doc. See docs/design/threats.md#threats

import { codesOf, refusalFault } from './check-refusal.ts'
import { type HostileOptions, type HostileRequest, hostileRequest, type Targets } from './hostile-requests.ts'
import { inParallel } from './in-parallel.ts'
import type { AcceptedWrite } from './key-revisions.ts'
import { createRandom } from './random.ts'
import { type Exchange, openRawConnection, type RawConnection } from './raw-connection.ts'

export interface AttackOptions extends HostileOptions {
  readonly port: number
  readonly baseUrl: string
  readonly seed: number
  readonly from: number
  readonly count: number
}

export interface AttackReport {
  readonly faults: string[]
  readonly accepted: AcceptedWrite[]
  /** Number of responses by error code, or by status for a successful response. */
  readonly outcomes: Map<string, number>
}

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const WORKERS = 4

export async function attack(targets: Targets, options: AttackOptions): Promise<AttackReport> {
  const report: AttackReport = { faults: [], accepted: [], outcomes: new Map() }
  const indexes = Array.from({ length: options.count }, (_, at) => options.from + at)
  const one = async (index: number, connection: RawConnection) => {
    // Each request has its own seed, so that one request can be repeated without the earlier requests.
    const request = hostileRequest(createRandom(options.seed + index), targets, index, options)
    const exchange = await deliver(request, options.port, connection)
    judge(request, exchange, index, options, report)
  }
  await inParallel(options.port, indexes, one, WORKERS)
  return report
}

async function deliver(
  { alone, half, method, bytes }: HostileRequest,
  port: number,
  shared: RawConnection,
): Promise<Exchange> {
  const connection = alone ? openRawConnection(port) : shared
  const exchange = await connection.exchange(bytes, { half, bodiless: method === 'HEAD' })
  if (alone) connection.close()
  return exchange
}

function judge(
  request: HostileRequest,
  exchange: Exchange,
  index: number,
  { seed, baseUrl }: AttackOptions,
  report: AttackReport,
): void {
  const fault = exchangeFault(request, exchange, baseUrl)
  if (fault !== undefined) {
    const shown = JSON.stringify(request.bytes.subarray(0, 400).toString('latin1'))
    report.faults.push(`seed ${seed} index ${index} ${request.kind}: ${fault}\n  ${shown}`)
  }
  const [answer] = exchange.answers
  const outcomes = request.method === 'HEAD' ? [`HEAD ${answer?.status}`] : codesOf(answer)
  for (const outcome of new Set(outcomes))
    report.outcomes.set(outcome, (report.outcomes.get(outcome) ?? 0) + 1)
  if (answer !== undefined && answer.status < 300 && WRITES.has(request.method)) {
    const body: { deployment?: { name?: string }; plan?: unknown } = JSON.parse(answer.text)
    const name = body.deployment?.name
    const created = answer.status === 201
    if (body.plan === undefined)
      report.accepted.push({ created, ...(name === undefined ? {} : { deployment: name }) })
  }
}

function exchangeFault(request: HostileRequest, exchange: Exchange, baseUrl: string): string | undefined {
  const { answers, hung, closed, stray } = exchange
  if (hung) return 'neither a response nor an end'
  const [answer] = answers
  // A missing response is correct in two cases: Node closes a CONNECT silently, and a client that closes first gets none.
  // The third case is a weakness of the server: it closes the connection before it has read all of a huge body, and the
  // reset can reach the client before the response.
  const mayLackAnswer = request.method === 'CONNECT' || request.half || request.kind === 'huge'
  if (answer === undefined) return mayLackAnswer ? undefined : `closed ${closed}`
  if (answers.length > 1) return `${answers.length} responses to one request`
  if (stray !== '') return `stray bytes ${JSON.stringify(stray.slice(0, 200))}`
  if (answer.status >= 500) return `status ${answer.status}: ${answer.text.slice(0, 200)}`
  if (answer.status >= 300 && request.method !== 'HEAD') return refusalFault(answer, baseUrl)
  return undefined
}
