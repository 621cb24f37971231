// Finds the endpoint of a raw path, or the right rejection: unknown path, or method not allowed.

import { describeReceived, reject } from '@holdfast/core'
import type { RejectedResponse } from './reply.ts'

/** Translates a path with parameters, such as `/api/v1/deployments/{name}`, into the router's syntax. */
export const routeUrl = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** A path without a route; malformed paths are rewritten to this path. */
const UNROUTABLE = '/-'
/** A path below /ui that is not an asset: the dashboard itself reads the path that the browser shows. */
const ANY_UI_PAGE = '/ui/-'
const PLAIN_PATH = /^(?:\/(?:[A-Za-z0-9._~:@!$'()*,=+-]|%3[Aa])+)*\/?$/
const SECRET_PATH = /^\/api\/v1\/secrets\/[^/%]+\/[^/]+$/

/**
 * Paths are matched as sent: percent signs are not decoded and double slashes not merged, so a path has one spelling. There
 * are two exceptions: an encoded colon, which many clients send in the `host:port` of a registry, and an encoded slash in
 * the label of a secret, which a rule rejects with its own code.
 */
export function routablePath(url: string): string {
  const mark = url.search(/[?#]/)
  const sent = mark < 0 ? url : url.slice(0, mark)
  const path = SECRET_PATH.test(sent) ? sent.replaceAll(/%2[Ff]/g, '-') : sent
  if (!PLAIN_PATH.test(path) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(path))
    return sent.startsWith('/ui/') ? ANY_UI_PAGE : UNROUTABLE
  return url
}

export function rawQuery(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

interface KnownRoute {
  readonly method: string
  readonly path: string
}

/** Builds the rejection of an unknown path. `endpoints` are all routes of this server, including public pages. */
export function unknownPath(endpoints: readonly KnownRoute[], method: string, url: string): RejectedResponse {
  const path = url.split(/[?#]/)[0] ?? ''
  const known = routablePath(path) === UNROUTABLE ? [] : methodsOf(endpoints, path)
  if (known.length === 0) return { rejections: [reject('not_found', 'path', path, {}, describePath(path))] }
  const accepted = known.join(', ')
  return {
    rejections: [reject('method_not_allowed', 'method', method, { accepted })],
    headers: { allow: accepted },
  }
}

const MAX_ENCODINGS = 3

/** Returns the path as sent, or a placeholder if it contains a credential, possibly percent-encoded several times. */
function describePath(path: string): string {
  const asSent = describeReceived('path', path)
  let decoded = path
  for (let layer = 0; layer < MAX_ENCODINGS; layer += 1) {
    decoded = decoded.replaceAll(/%([0-7][0-9A-Fa-f])/g, (_match, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (isRedacted(describeReceived('path', decoded))) return REDACTED_PATH
  }
  return asSent
}

const REDACTED_PATH = '<redacted path>'
const isRedacted = (text: string): boolean => text.startsWith('<redacted ')

function methodsOf(endpoints: readonly KnownRoute[], path: string): string[] {
  return endpoints.filter((endpoint) => matches(endpoint.path, path)).map(({ method }) => method)
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const sent = path.split('/')
  return (
    expected.length === sent.length &&
    expected.every((part, index) => (part.startsWith('{') ? sent[index] !== '' : part === sent[index]))
  )
}
