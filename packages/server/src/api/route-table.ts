// From a raw path to an endpoint, or to the right "no": there is no such path, or not with this method.

import { describeReceived, reject } from '@holdfast/core'
import type { Refusal } from './reply.ts'

/** `/api/v1/deployments/{name}` as the router writes it. */
export const routeUrl = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Where a path is sent that no client of ours would write; nothing is routed there. */
const UNROUTABLE = '/-'
const PLAIN_PATH = /^(?:\/(?:[A-Za-z0-9._~:@!$'()*,=+-]|%3[Aa])+)*\/?$/
const SECRET_PATH = /^\/api\/v1\/secrets\/[^/%]+\/[^/]+$/

/**
 * Paths are matched as they came: no percent sign is decoded, no doubled slash folded (SAFETY 2, row 18). Whatever is not
 * written plainly is no path of ours; but for the colon, which most clients encode in the `host:port` of a registry, and
 * for the slash in the label of a secret, which is refused with a code of its own (DECISIONS 3).
 */
export function routablePath(url: string): string {
  const mark = url.search(/[?#]/)
  const sent = mark < 0 ? url : url.slice(0, mark)
  const path = SECRET_PATH.test(sent) ? sent.replaceAll(/%2[Ff]/g, '-') : sent
  if (!PLAIN_PATH.test(path) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return UNROUTABLE
  return url
}

export function rawQuery(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

interface Routed {
  readonly method: string
  readonly path: string
}

/** `endpoints` are all that this server answers, its open pages among them. */
export function unknownPath(endpoints: readonly Routed[], method: string, url: string): Refusal {
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

/** The path as it came, unless a credential shows once its percent signs are decoded. */
function describePath(path: string): string {
  const asSent = describeReceived('path', path)
  let decoded = path
  for (let layer = 0; layer < MAX_ENCODINGS; layer += 1) {
    decoded = decoded.replaceAll(/%([0-7][0-9A-Fa-f])/g, (_whole, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (isRedacted(describeReceived('path', decoded))) return REDACTED_PATH
  }
  return asSent
}

const REDACTED_PATH = '<redacted path>'
const isRedacted = (text: string): boolean => text.startsWith('<redacted ')

function methodsOf(endpoints: readonly Routed[], path: string): string[] {
  return endpoints.filter((endpoint) => matches(endpoint.path, path)).map(({ method }) => method)
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith('{') ? given[index] !== '' : part === given[index]))
  )
}
