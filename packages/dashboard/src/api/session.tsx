// The signed-in person and the tenant of the page, for every component below. The tenant comes from the address, so that a
// link works for members of the tenant and for administrators alike.

import { type Client, createClient } from '@holdfast/client'
import type { Me } from '@holdfast/contract'
import { createContext, use } from 'react'
import { texts } from '../texts/en.ts'

export interface Session {
  /** The id of the tenant in the address; sent with every request. */
  readonly tenant: string
  readonly client: Client
  readonly me: Me
}

/** A client of the server that this page came from. The browser adds the cookie; no token is in reach of scripts. */
export const createBrowserClient = (tenant?: string): Client =>
  createClient({ baseUrl: location.origin, ...(tenant === undefined ? {} : { tenant }) })

const SessionContext = createContext<Session | undefined>(undefined)
export const SessionProvider = SessionContext.Provider

export function useSession(): Session {
  const session = use(SessionContext)
  if (session === undefined) throw new Error('this component is used outside of a tenant page')
  return session
}

/** True if the server lists the action, such as `nodes:write`, among those of the person's role. */
export const mayDo = ({ actions }: Pick<Me, 'actions'>, action: string): boolean => actions.includes(action)

/** Why an action is closed: to the person's role, or to everyone while the shown data may be old. Undefined if it is open. */
export function whyClosed(me: Me, action: string, stale: boolean): string | undefined {
  if (!mayDo(me, action)) return texts.roles.needs(action, me.token.role)
  return stale ? texts.live.closed : undefined
}
