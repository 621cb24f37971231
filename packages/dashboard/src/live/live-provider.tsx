// Keeps the pages below current: follows the changes of the tenant and reads again what they make old.

import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { keysOfChanges } from '../api/keys.ts'
import { useSession } from '../api/session.tsx'
import { browserDeps } from './browser-deps.ts'
import { createGatherer } from './gather-changes.ts'
import { type Changed, connectLive, type LiveConnection } from './live-connection.ts'
import { initialState, isStale, type LiveState } from './live-state.ts'

export interface Live {
  readonly state: LiveState
  /** True if the shown data may be old: numbers are dimmed, and changes are closed. */
  readonly stale: boolean
}

const LiveContext = createContext<Live>({ state: initialState(0), stale: false })
export const useLive = (): Live => use(LiveContext)

const TICK_MS = 500
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const { client, tenant } = useSession()
  const queries = useQueryClient()
  const [live, setLive] = useState<Live>({ state: initialState(Date.now()), stale: false })
  useEffect(() => {
    const gatherer = createGatherer({ flush: (changed) => readAgain(queries, tenant, changed), wait })
    const show = (state: LiveState): void => setLive({ state, stale: isStale(state, Date.now()) })
    const connection = connectLive(tenant, browserDeps(client), { onState: show, onChanged: gatherer.add })
    const leave = watchPage(connection, gatherer.pause)
    const timer = setInterval(() => {
      connection.tick()
      const state = connection.state()
      setLive((shown) => {
        const stale = isStale(state, Date.now())
        return shown.state === state && shown.stale === stale ? shown : { state, stale }
      })
    }, TICK_MS)
    return () => {
      clearInterval(timer)
      leave()
      connection.close()
    }
  }, [client, tenant, queries])
  return <LiveContext value={live}>{children}</LiveContext>
}

/** Reports the network to the connection, and pauses reading while no person sees the tab. */
function watchPage(connection: LiveConnection, pause: (paused: boolean) => void): () => void {
  const leave = new AbortController()
  const { signal } = leave
  addEventListener('online', () => connection.network(true), { signal })
  addEventListener('offline', () => connection.network(false), { signal })
  document.addEventListener('visibilitychange', () => pause(document.hidden), { signal })
  pause(document.hidden)
  if (!navigator.onLine) connection.network(false)
  return () => leave.abort()
}

async function readAgain(queries: QueryClient, tenant: string, changed: Changed): Promise<void> {
  const prefixes = changed.kind === 'all' ? [[tenant]] : keysOfChanges(tenant, changed.items)
  await Promise.all(prefixes.map((queryKey) => queries.invalidateQueries({ queryKey })))
}
