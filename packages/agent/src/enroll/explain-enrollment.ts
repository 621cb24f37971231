// Explains a failed enrollment to the operator at the machine: what the server rejected and what it accepts, or what to
// check if no server answers.

import { isJsonObject, type Json, type JsonObject, parseStrictJson } from '@holdfast/contract'

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

/** Lists each rejection with its details. The text quotes no token, because the server redacts the values it received. */
export function explainRejections(server: string, { status, text }: HttpAnswer): string {
  const rejections = readRejections(text)
  if (rejections.length === 0)
    return `${server} answered with status ${status}, but not like a Holdfast server. Check the address, the port, and http:// or https://.`
  return rejections.map((rejection) => explainRejection(status, rejection)).join('\n')
}

function readRejections(text: string): JsonObject[] {
  const parsed = parseStrictJson(Buffer.from(text))
  if (!parsed.ok || !isJsonObject(parsed.value) || parsed.value.code === undefined) return []
  const { rejections } = parsed.value
  const all = Array.isArray(rejections) ? rejections.filter(isJsonObject) : []
  return all.length > 0 ? all : [parsed.value]
}

function explainRejection(status: number, { code, why, field, received, expected }: JsonObject): string {
  const summary = `The server rejected the enrollment (${status}): ${printable(code)}: ${printable(why ?? 'no reason given')}`
  const details = Object.entries({ field, received, expected }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`  ${name}: ${printable(value)}`],
  )
  return [summary, ...details].join('\n')
}

/** Replaces control characters: the answer may come from any server and is printed to a terminal. */
const printable = (value: Json | undefined): string => String(value).replace(/[^\x20-\x7e]/g, '?')

const UNTRUSTED = /CERT|SIGNATURE|ALTNAME/
/** Error codes that occur if only one of client and server uses TLS. */
const NOT_TLS = /^EPROTO$|^ERR_SSL/
const CUT_OFF = /^ECONNRESET$|^HPE_/

export function explainNoAnswer(server: string, error: unknown): string {
  const { protocol, host } = new URL(server)
  if (protocol !== 'http:' && protocol !== 'https:')
    return `The server's address must begin with http:// or https://; received: ${printable(server)}`
  const code = codeOf(error)
  if (UNTRUSTED.test(code))
    return `The certificate of ${host} is not trusted (${code}). Pass the authority that signed it with --ca FILE, or the --ca-pin of a new join token, and use a host name that the certificate covers.`
  if (NOT_TLS.test(code) && protocol === 'https:')
    return `${host} did not answer with valid TLS (${code}). If the server does not use TLS, its address begins with http://.`
  if (CUT_OFF.test(code) && protocol === 'http:')
    return `${host} did not answer with HTTP (${code}). If the server uses TLS, its address begins with https://.`
  return `${server} does not answer (${code}). Check the address, the port and http or https, that the server is running, and that this machine can reach it.`
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError') return 'no answer in time'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

export interface PresentedCertificate {
  readonly subject: string
  readonly pin: string
}

/** Explains a wrong CA pin: the certificate was renewed, or a proxy or an attacker answers instead of the server. */
export function explainPinMismatch(
  host: string,
  expected: string,
  received: readonly PresentedCertificate[],
): string {
  return [
    `${host} is not the server that issued the join token: it presents no certificate with the pinned hash. The token was not sent.`,
    `  expected: ${expected}`,
    ...received.map(
      ({ subject, pin }) => `  received: ${pin} (${printable(subject.replaceAll('\n', ', '))})`,
    ),
    'If the certificate was renewed, request a new join token. If a proxy with its own certificate is in front of the server, pass that authority with --ca FILE instead.',
  ].join('\n')
}
