// The share of a canary in Caddy's configuration. An upstream line may have two pools, those of the deployment and of its
// canary, and the weight of the canary: `split10 <line>|<line>`. Caddy draws a pool for each request by the first digits of
// the request's random id, so the share depends on the weight only. The weight is in the file, so a canary starts and ends
// without a reload. See docs/design/routing.md#canaries

import { MAX_CANARY_WEIGHT } from '@holdfast/contract'

export const POOL_HEADER = 'Holdfast-Pool'
/** Hexadecimal digits of the request's id that are compared: the share is exact to a hundred-thousandth. */
const DIGITS = 4

const POOLS = '^split([0-9]+) ([^|]*)\\|(.*)$'

export const splitLine = (weight: number, stable: string, canary: string): string =>
  `split${weight} ${stable}|${canary}`

/** The lines of both pools; undefined for a line without a canary. */
export function readSplitLine(
  line: string,
): { readonly stable: string; readonly canary: string } | undefined {
  const [, , stable, canary] = new RegExp(POOLS).exec(line) ?? []
  return stable === undefined || canary === undefined ? undefined : { stable, canary }
}

/** A pattern for ids below the weight's share of all ids, by their first digits. */
export function drawPattern(weight: number): string {
  const first = Math.round((weight / 100) * 16 ** DIGITS)
    .toString(16)
    .padStart(DIGITS, '0')
  const below = [...first].flatMap((digit, at) => {
    const value = Number.parseInt(digit, 16)
    if (value === 0) return []
    const digits = Array.from({ length: value }, (_, each) => each.toString(16)).join('')
    return [`${first.slice(0, at)}[${digits}]`]
  })
  return `(?:${below.join('|')})`
}

/** Requests for the canary: forwarded as such, or drawn here by weight. A pool that was drawn by another router is kept. */
const DRAWN = `^(?:canary | (?:${Array.from({ length: MAX_CANARY_WEIGHT }, (_, at) => `${at + 1} ${drawPattern(at + 1)}`).join('|')}))`

/** Remembers the pool that another router has drawn. */
export const READ_POOL = { handler: 'vars', pool: `{http.request.header.${POOL_HEADER}}` }

/** Chooses a pool if the line has two. `stable` keeps the other line, in case the canary cannot be reached. */
export const DRAW_POOL = {
  match: [{ vars_regexp: { upstream: { name: 'pools', pattern: POOLS } } }],
  handle: [
    {
      handler: 'subroute',
      routes: [
        {
          handle: [{ handler: 'vars', draw: '{http.vars.pool} {http.regexp.pools.1} {http.request.uuid}' }],
        },
        {
          group: 'pool',
          match: [{ vars_regexp: { draw: { name: 'drawn', pattern: DRAWN } } }],
          handle: [
            {
              handler: 'vars',
              pool: 'canary',
              stable: '{http.regexp.pools.2}',
              upstream: '{http.regexp.pools.3}',
            },
          ],
        },
        {
          group: 'pool',
          handle: [{ handler: 'vars', pool: 'stable', upstream: '{http.regexp.pools.2}' }],
        },
      ],
    },
  ],
}

/** Tells the next router which pool was drawn, so that it does not draw again. */
export const FORWARD_POOL = ['canary', 'stable'].map((pool) => ({
  match: [{ vars: { pool: [pool] } }],
  handle: [{ handler: 'headers', request: { set: { [POOL_HEADER]: [pool] } } }],
}))

/**
 * Sends a request to the deployment's own replicas after no replica of the canary could be dialed. Nothing of the request was
 * sent, so it is not sent twice. `routes` proxy a request by its upstream line; `isUnreached` matches such an error.
 */
export function withoutCanary<T, M>(routes: readonly T[], isUnreached: M, failed: T) {
  const forget = { handler: 'headers', request: { delete: [POOL_HEADER] } }
  const other = { handler: 'vars', pool: 'stable', upstream: '{http.vars.stable}' }
  const again = { handler: 'subroute', routes: [{ handle: [forget, other] }, ...routes] }
  return {
    match: [{ vars: { pool: ['canary'] }, vars_regexp: { stable: { pattern: '.' } } }],
    handle: [
      {
        handler: 'subroute',
        routes: [{ match: [isUnreached], handle: [again] }, { handle: [failed] }],
      },
    ],
  }
}
