// The cookie of a browser that has signed in. The prefix __Host- makes browsers refuse it from any other host and path,
// and without HTTPS. See docs/adr/0095-sign-in-cookie.md.

import { SIGN_IN_MS } from '../../operations/sign-ins/sign-in-record.ts'

export const SIGN_IN_COOKIE = '__Host-holdfast'

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

export const setCookie = (secret: string): string =>
  `${SIGN_IN_COOKIE}=${secret}; ${ATTRIBUTES}; Max-Age=${SIGN_IN_MS / 1000}`

export const clearCookie = (): string => `${SIGN_IN_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`

/** The value of the cookie in a Cookie header; undefined if it is missing or sent twice, because one may be foreign. */
export function readCookie(header: string | undefined): string | undefined {
  const values = (header ?? '').split(';').flatMap((part) => {
    const [name, ...value] = part.trim().split('=')
    return name === SIGN_IN_COOKIE ? [value.join('=')] : []
  })
  return values.length === 1 ? values[0] : undefined
}
