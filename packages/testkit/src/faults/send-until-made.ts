// One POST with one Idempotency-Key, sent to one server after another until it is answered 201: as a client does that knows
// nothing of what became of its request.

export interface MakeRequest {
  readonly servers: readonly string[]
  readonly token: string
  readonly key: string
  readonly path: string
  readonly body: { readonly name: string }
  /** Gives up waiting after so long, and sends again; each time it waits longer. */
  readonly patienceMs?: number
}

export interface Outcome {
  readonly name: string
  readonly sent: number
  /** Of the answers that were waited for. */
  readonly slowestMs: number
  /** Anything but "made" and "not now". */
  readonly refused: readonly string[]
}

const MOST = 50

export async function sendUntilMade(request: MakeRequest): Promise<Outcome> {
  const { servers, body, key, patienceMs } = request
  const first = Number.parseInt(key, 10)
  const refused: string[] = []
  let slowestMs = 0
  for (let sent = 1; sent <= MOST; sent += 1) {
    const since = performance.now()
    const server = servers[(first + sent) % servers.length] ?? ''
    const answer = await send(request, server, patienceMs && patienceMs * sent)
    if (patienceMs === undefined) slowestMs = Math.max(slowestMs, performance.now() - since)
    if (answer?.status === 201) return { name: body.name, sent, slowestMs, refused }
    if (answer !== undefined && answer.status !== 503) refused.push(`${body.name}: ${answer.text}`)
  }
  throw new Error(`${body.name} was not made: ${refused.join()}`)
}

/** Undefined where it was not waited for. */
async function send(
  { token, key, path, body }: MakeRequest,
  server: string,
  patienceMs: number | undefined,
): Promise<{ status: number; text: string } | undefined> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  }
  const options = { method: 'POST', headers, body: JSON.stringify(body) }
  const signal = patienceMs === undefined ? undefined : AbortSignal.timeout(patienceMs)
  try {
    const answer = await fetch(`${server}${path}`, { ...options, ...(signal && { signal }) })
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    if (signal?.aborted) return undefined
    throw error
  }
}
