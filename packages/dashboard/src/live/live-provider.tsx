// Keeps the pages below current: follows the changes of the tenant and reads again what they make old.

import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { keysOfChanges } from '../api/keys.ts'
import { useSession } from '../api/session.tsx'
import { browserDeps } from './browser-deps.ts'
import { createGatherer } from './gather-changes.ts'
import { type Changed, connectLive, type LiveConnection } from './live-connection.ts'
import { initialState, isStale, type LiveState } from './live-state.ts'

const StateContext = createContext<LiveState>(initialState(0))
const StaleContext = createContext(false)

export const useLiveState = (): LiveState => use(StateContext)

/**
 * True if the shown data may be old: numbers are dimmed, and changes are closed. Apart from the state, which changes with
 * every message.
 */
export const useStale = (): boolean => use(StaleContext)

const TICK_MS = 250
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const { client, tenant } = useSession()
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>(() => initialState(Date.now()))
  const [stale, setStale] = useState(false)
  useEffect(() => {
    const gatherer = createGatherer({ flush: (changed) => readAgain(queries, tenant, changed), wait })
    const show = (next: LiveState): void => {
      setState(next)
      setStale(isStale(next, Date.now()))
    }
    const connection = connectLive(tenant, browserDeps(client), { onState: show, onChanged: gatherer.add })
    const leave = watchPage(connection, gatherer.pause)
    const timer = setInterval(() => {
      connection.tick()
      setStale(isStale(connection.state(), Date.now()))
    }, TICK_MS)
    return () => {
      clearInterval(timer)
      leave()
      connection.close()
    }
  }, [client, tenant, queries])
  return (
    <StateContext value={state}>
      <StaleContext value={stale}>{children}</StaleContext>
    </StateContext>
  )
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
