// Sends one POST with one Idempotency-Key to one server after another until a server returns 201, like a client that does
// not know the outcome of its request.

export interface MakeRequest {
  readonly servers: readonly string[]
  readonly token: string
  readonly key: string
  readonly path: string
  readonly body: { readonly name: string }
  /** Time until a request is abandoned and sent again; the time grows with each attempt. */
  readonly patienceMs?: number
}

export interface Outcome {
  readonly name: string
  readonly sent: number
  /** Unexpected responses: those other than "created" and "retry later". */
  readonly refused: readonly string[]
}

const MOST = 50

export async function sendUntilMade(request: MakeRequest): Promise<Outcome> {
  const { servers, body, key, patienceMs } = request
  const first = Number.parseInt(key, 10)
  const refused: string[] = []
  for (let sent = 1; sent <= MOST; sent += 1) {
    const server = servers[(first + sent) % servers.length] ?? ''
    const answer = await send(request, server, patienceMs && patienceMs * sent)
    if (answer?.status === 201) return { name: body.name, sent, refused }
    if (answer !== undefined && answer.status !== 503) refused.push(`${body.name}: ${answer.text}`)
  }
  throw new Error(`${body.name} was not created: ${refused.join()}`)
}

/** Sends the request once. Returns undefined if the request was abandoned. */
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
