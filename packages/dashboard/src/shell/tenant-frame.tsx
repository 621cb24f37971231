// The frame of all pages: reads who is signed in, then shows the shell.

import { Link, Navigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { explainFailure, isSignedOut } from '../api/failure.ts'
import { createBrowserClient, SessionProvider } from '../api/session.tsx'
import { useMe } from '../api/use-me.ts'
import { LiveProvider, useLiveState } from '../live/live-provider.tsx'
import { Failed } from '../parts/failed.tsx'
import { Loading } from '../parts/loading.tsx'
import { texts } from '../texts/en.ts'
import shell from './shell.module.css'
import { Shell } from './shell.tsx'
import styles from './tenant-frame.module.css'

export function TenantFrame() {
  const { tenant } = useParams({ from: '/t/$tenant' })
  return <Frame tenant={tenant} />
}

/** The pages of the platform act in the tenant of the token. */
export const PlatformFrame = () => <Frame />

function Frame({ tenant }: { readonly tenant?: string }) {
  const { data: me, error, refetch } = useMe(tenant)
  const client = useMemo(() => createBrowserClient(tenant), [tenant])
  if (me === undefined)
    return error === null || isSignedOut(error) ? (
      <Opening />
    ) : (
      <main className={styles.alone}>
        <Failed {...explainFailure(error)} onRetry={() => void refetch()} />
        <Link to="/">{texts.pages.toOverview}</Link>
      </main>
    )
  const { id } = me.tenant
  return (
    <SessionProvider key={id} value={{ tenant: id, client, me }}>
      <LiveProvider>
        <WhileSignedIn>
          <Shell />
        </WhileSignedIn>
      </LiveProvider>
    </SessionProvider>
  )
}

/** The frame without content, while the server is asked who is signed in. */
function Opening() {
  return (
    <>
      <header className={shell.header} />
      <main className={styles.opening} aria-busy="true">
        <h1>{texts.product}</h1>
        <Loading lines={6} />
      </main>
    </>
  )
}

/** Leads to the sign-in page when the server ends the sign-in, for example because the token was revoked. */
function WhileSignedIn({ children }: { readonly children: ReactNode }) {
  const { kind } = useLiveState()
  if (kind === 'signed-out') return <Navigate to="/login" search={{ next: location.pathname }} />
  return children
}
