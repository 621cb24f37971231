// The endpoints /api/v1/sign-in: a page of this server exchanges a token for a cookie, and gives the cookie up.

import { newSignInShape, signInShape, signOutShape } from '@holdfast/contract'
import { closeSignIn, openSignIn, type SignInDeps } from '../../operations/sign-ins/sign-in.ts'
import { type AnyEndpoint, endpoint, type OpenEndpoint, type OpenRequest, respondWith } from '../endpoint.ts'
import { type FailedAttempts, limitFailure } from '../request/failed-attempts.ts'
import { clearCookie, setCookie } from './cookie.ts'

const PATH = '/api/v1/sign-in'

export type SignInEndpointDeps = SignInDeps & { readonly failedSignIns: FailedAttempts }

export function signInEndpoints(deps: SignInEndpointDeps): AnyEndpoint[] {
  return [
    openEndpoint(deps),
    endpoint('DELETE', PATH, {
      operation: 'signOut',
      action: 'tenants:read',
      summary: 'Sign this browser out; its cookie becomes invalid at once',
      shape: signOutShape,
      codes: ['not_found'],
      handle: async ({ caller }) =>
        respondWith(await closeSignIn(deps, caller), (body) => withCookie(200, body, clearCookie())),
    }),
  ]
}

function openEndpoint(deps: SignInEndpointDeps): OpenEndpoint {
  return {
    method: 'POST',
    path: PATH,
    operation: 'signIn',
    credential: 'token',
    sameOrigin: true,
    summary:
      'Sign a browser in with a token; the cookie is valid for 12 hours, for one hour without a request, and as long as the token. Only a page of this server may call it; scripts send the token itself',
    query: [],
    headers: ['Sec-Fetch-Site'],
    body: newSignInShape,
    success: { status: 201, shape: signInShape },
    codes: ['field_unknown', 'field_type_invalid', 'unauthenticated', 'tenant_not_found'],
    handle: (request) => open(deps, request),
  }
}

async function open(deps: SignInEndpointDeps, { body, address, requestId }: OpenRequest) {
  const opened = await openSignIn(deps, body, requestId)
  const credential = { code: 'unauthenticated', field: 'token' }
  const outcome = limitFailure(deps.failedSignIns, address, opened, credential)
  return respondWith(outcome, ({ secret, shown }) => withCookie(201, shown, setCookie(secret)))
}

const withCookie = (status: number, body: object, cookie: string) => ({
  ok: true as const,
  value: { status, body, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } },
})
