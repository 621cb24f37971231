// Parses HTTP/1.1 responses from raw bytes, strictly. The tests must notice a second response, a missing length or a
// stray byte, which a client library would hide.

export interface RawAnswer {
  readonly status: number
  /** Response headers, with names in lower case; the values of a repeated header are joined by a comma. */
  readonly headers: { readonly [name: string]: string }
  readonly text: string
  /** Headers and body of the response as received. */
  readonly raw: string
}

export interface ParsedAnswers {
  readonly answers: readonly RawAnswer[]
  /** Received bytes that belong to no complete response. */
  readonly rest: Buffer
}

/** Parses all responses. `bodiless` means that the request was a HEAD. Interim responses (1xx) are skipped. */
export function parseAnswers(bytes: Buffer, bodiless = false): ParsedAnswers {
  const answers: RawAnswer[] = []
  let rest = bytes
  for (;;) {
    const found = parseOne(rest, bodiless)
    if (found === undefined) return { answers, rest }
    if (found.answer.status >= 200) answers.push(found.answer)
    rest = rest.subarray(found.length)
  }
}

function parseOne(bytes: Buffer, bodiless: boolean): { answer: RawAnswer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN)
  if (Number.isNaN(status)) return undefined
  const headers = headersOf(lines)
  const start = end + 4
  const length = bodiless || status < 200 || status === 204 ? 0 : bodyLength(bytes.subarray(start), headers)
  if (length === undefined || bytes.length < start + length) return undefined
  const text = bytes.subarray(start, start + length).toString()
  const raw = bytes.subarray(0, start + length).toString('latin1')
  return { answer: { status, headers, text, raw }, length: start + length }
}

function headersOf(lines: readonly string[]): { [name: string]: string } {
  const headers: { [name: string]: string } = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}

/** Length of a response body on the wire in bytes, chunks included; undefined while the body is incomplete. */
function bodyLength(bytes: Buffer, headers: { readonly [name: string]: string }): number | undefined {
  if (headers['transfer-encoding'] === undefined) return Number(headers['content-length'] ?? 0)
  const end = bytes.indexOf('0\r\n\r\n')
  return end < 0 ? undefined : end + 5
}
