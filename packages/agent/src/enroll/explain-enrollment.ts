// Why did an enrollment fail, in words for whoever stands at the machine: what the server refused and what it takes instead,
// or what to look at when no server is to be heard.

import { isJsonObject, type Json, type JsonObject, parseStrictJson } from '@holdfast/contract'

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

/** Each rejection with all that it says; it quotes no token, since the server redacts what it received. */
export function explainRefusal(server: string, { status, text }: HttpAnswer): string {
  const rejections = readRejections(text)
  if (rejections.length === 0)
    return `${server} answers ${status}, and not as a Holdfast server does. Check the address, the port, and whether it is http:// or https://.`
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
  const first = `The server refuses (${status}): ${printable(code)}: ${printable(why ?? 'no reason given')}`
  const rest = Object.entries({ field, received, expected }).flatMap(([name, said]) =>
    said === undefined || said === '' ? [] : [`  ${name}: ${printable(said)}`],
  )
  return [first, ...rest].join('\n')
}

/** It goes to a terminal, whoever answered. SAFETY 2 row 16. */
const printable = (said: Json | undefined): string => String(said).replace(/[^\x20-\x7e]/g, '?')

const UNTRUSTED = /CERT|SIGNATURE|ALTNAME/
/** What a client hears when it asks for TLS and is answered in plain text, and the other way round. */
const NOT_TLS = /^EPROTO$|^ERR_SSL/
const CUT_OFF = /^ECONNRESET$|^HPE_/

export function explainSilence(server: string, error: unknown): string {
  const { protocol, host } = new URL(server)
  if (protocol !== 'http:' && protocol !== 'https:')
    return `The server's address begins with http:// or https://; received: ${printable(server)}`
  const code = codeOf(error)
  if (UNTRUSTED.test(code))
    return `The certificate of ${host} is not trusted (${code}). Give the authority that signed it with --ca FILE, or the --ca-pin of a new join token, and use the name that the certificate is made for.`
  if (NOT_TLS.test(code) && protocol === 'https:')
    return `${host} does not speak TLS as it should (${code}). If the server is without TLS, its address begins with http://.`
  if (CUT_OFF.test(code) && protocol === 'http:')
    return `${host} gave no answer in HTTP (${code}). If the server is behind TLS, its address begins with https://.`
  return `${server} does not answer (${code}). Check the address, the port and http or https, that the server runs, and that this machine may reach it.`
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError') return 'no answer in time'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

export interface ShownCertificate {
  readonly subject: string
  readonly pin: string
}

/** Another certificate than the token's maker saw: one was renewed, something answers in between, or somebody does. */
export function explainPin(host: string, expected: string, came: readonly ShownCertificate[]): string {
  return [
    `${host} is not the server that the join token was made by: no certificate that it shows is the pinned one. The token was not sent.`,
    `  expected: ${expected}`,
    ...came.map(({ subject, pin }) => `  received: ${pin} (${printable(subject.replaceAll('\n', ', '))})`),
    'Ask for a new join token if the certificate was renewed. If a proxy with a certificate of its own stands in front of the server, give the authority of that with --ca FILE instead.',
  ].join('\n')
}
